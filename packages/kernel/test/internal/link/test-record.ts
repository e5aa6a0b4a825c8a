/**
 * A record as tests submit it, and what became of it.
 *
 * Owns the journal of its callbacks; `fault` tells whether they kept the contract of outbound records and requests.
 */
import type { PayloadSink } from '../../../src/codec/index.ts';
import type { ZLinkError } from '../../../src/errors/index.ts';
import type { InboundRecord, Link, OutboundRequest } from '../../../src/internal/transport/index.ts';
import { NameIndex, type OutboundName, RecordKind } from '../../../src/internal/wire/index.ts';

export interface RecordOptions {
  readonly payload?: Uint8Array;
  readonly name?: OutboundName | undefined;
  readonly correlation?: number;
  readonly errorNumber?: number;
  readonly deadlineAtMs?: number;
}

const names = new NameIndex();
/** A name that every test may use: links introduce it once each. */
export const NAME = names.get('', 'a/b', 'packet');

const EMPTY = new Uint8Array(0);

export class TestRecord implements OutboundRequest {
  readonly kind: RecordKind;
  readonly payload: Uint8Array;
  readonly name: OutboundName | undefined;
  readonly errorNumber: number;
  readonly deadlineAtMs: number;
  readonly metadata = undefined;
  readonly trace = undefined;
  correlation: number;
  costBytes = 0;

  readonly journal: ('admitted' | 'refused' | 'replied' | 'failed')[] = [];
  error: ZLinkError | undefined;
  reply: Uint8Array | undefined;
  /** Called by the callbacks, after they were noted. */
  onCallback: ((what: 'admitted' | 'refused' | 'replied' | 'failed') => void) | undefined;
  #outcome: 'new' | 'written' | 'waiting' | 'thrown' | 'withdrawn' = 'new';
  #abandoned = false;

  constructor(kind: RecordKind, options: RecordOptions = {}) {
    this.kind = kind;
    this.payload = options.payload ?? EMPTY;
    this.name = 'name' in options ? options.name : kind === RecordKind.error ? undefined : NAME;
    this.correlation = options.correlation ?? 0;
    this.errorNumber = options.errorNumber ?? 0;
    this.deadlineAtMs = options.deadlineAtMs ?? 0;
  }

  static send(options?: RecordOptions): TestRecord {
    return new TestRecord(RecordKind.send, options);
  }

  static request(options?: RecordOptions): TestRecord {
    return new TestRecord(RecordKind.request, options);
  }

  static reply(correlation: number, options?: RecordOptions): TestRecord {
    return new TestRecord(RecordKind.reply, { ...options, correlation });
  }

  /** @throws what the link throws */
  submit(link: Link): this {
    this.#outcome = 'thrown';
    this.#outcome = link.submit(this) ? 'written' : 'waiting';
    return this;
  }

  withdraw(link: Link): boolean {
    const wasWaiting = link.withdraw(this);
    if (wasWaiting) this.#outcome = 'withdrawn';
    return wasWaiting;
  }

  abandon(link: Link, notify = false): void {
    this.#abandoned = true; // first: the abandoning may end the link
    link.abandon(this, notify);
  }

  get isWritten(): boolean {
    return this.#outcome === 'written' || this.journal.includes('admitted');
  }

  get isWaiting(): boolean {
    return this.#outcome === 'waiting' && this.journal.length === 0;
  }

  /** Written, neither abandoned nor answered. */
  get isPending(): boolean {
    const isOver = this.journal.includes('replied') || this.journal.includes('failed');
    return this.kind === RecordKind.request && this.isWritten && !this.#abandoned && !isOver;
  }

  /** Whether every callback that was due came once, and no other; asked when the link has ended. */
  get fault(): string | undefined {
    const expected: Record<(typeof this.journal)[number], readonly number[]> = {
      admitted: this.#outcome === 'waiting' ? [0, 1] : [0],
      refused: this.#outcome === 'waiting' ? [0, 1] : [0],
      replied: this.kind === RecordKind.request && this.isWritten ? [0, 1] : [0],
      failed: this.kind === RecordKind.request && this.isWritten ? [0, 1] : [0],
    };
    const times = (what: (typeof this.journal)[number]): number =>
      this.journal.filter((entry) => entry === what).length;
    const wrong = Object.entries(expected).find(([what, counts]) => !counts.includes(times(what as 'admitted')));
    if (wrong !== undefined) return this.#describe();
    if (this.#outcome === 'waiting' && times('admitted') + times('refused') !== 1) return this.#describe();
    const results = times('replied') + times('failed');
    if (this.kind !== RecordKind.request || !this.isWritten) return undefined;
    return results === 1 || (this.#abandoned && results === 0) ? undefined : this.#describe();
  }

  encode(sink: PayloadSink): void {
    sink.writeBytes(this.payload);
  }

  onAdmitted(): void {
    this.#note('admitted');
  }

  onRefused(error: ZLinkError): void {
    this.error = error;
    this.#note('refused');
  }

  onReply(record: InboundRecord): void {
    this.reply = Uint8Array.from(record.payload.subarray(record.payloadStart, record.payloadEnd));
    this.#note('replied');
  }

  onFailed(error: ZLinkError): void {
    this.error = error;
    this.#note('failed');
  }

  #note(what: (typeof this.journal)[number]): void {
    this.journal.push(what);
    this.onCallback?.(what);
  }

  #describe(): string {
    return `record of kind ${this.kind}: ${this.#outcome}${this.#abandoned ? ', abandoned' : ''}, [${this.journal.join(', ')}]`;
  }
}

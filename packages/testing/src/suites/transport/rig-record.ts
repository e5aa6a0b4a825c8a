/**
 * A record as the suite submits it, and what became of it.
 *
 * Owns the journal of callbacks. `#fault` tells whether they kept the contract of `OutboundRecord`:
 * exactly one of `onAdmitted` and `onRefused` after `submit` returned false, none otherwise; exactly one of `onReply` and
 * `onFailed` for a written request, none for another.
 */
import type { ZLinkError } from '@zlink/kernel/errors';
import type { InboundRecord, Link, OutboundRequest } from '@zlink/kernel/internal/transport';
import { type OutboundName, RecordKind } from '@zlink/kernel/internal/wire';
import { keepRecord, type KeptRecord } from './kept-record.ts';

export interface RecordOptions {
  readonly name: OutboundName | undefined;
  readonly payload?: Uint8Array | string;
  readonly correlation?: number;
  readonly errorNumber?: number;
  readonly deadlineAtMs?: number;
  readonly metadata?: Uint8Array;
  readonly trace?: Uint8Array;
}

type SubmitOutcome = 'written' | 'waiting' | 'thrown';

/** What an encoder writes into; the codec's name for it is not needed here. */
type Sink = Parameters<OutboundRequest['encode']>[0];

export class RigRecord implements OutboundRequest {
  readonly kind: RecordKind;
  readonly name: OutboundName | undefined;
  readonly errorNumber: number;
  readonly deadlineAtMs: number;
  readonly metadata: Uint8Array | undefined;
  readonly trace: OutboundRequest['trace'];
  readonly payload: Uint8Array | string;
  correlation: number;
  costBytes = 0;

  /** Callbacks in the order of their coming. */
  readonly journal: ('admitted' | 'refused' | 'replied' | 'failed')[] = [];
  reply: KeptRecord | undefined;
  error: ZLinkError | undefined;
  #outcome: SubmitOutcome | undefined;
  /** Taken back by its sender: no callback may follow. */
  #withdrawn = false;
  #abandoned = false;
  #encodings = 0;

  constructor(kind: RecordKind, options: RecordOptions) {
    this.kind = kind;
    this.name = options.name;
    this.payload = options.payload ?? '';
    this.correlation = options.correlation ?? 0;
    this.errorNumber = options.errorNumber ?? 0;
    this.deadlineAtMs = options.deadlineAtMs ?? 0;
    this.metadata = options.metadata;
    this.trace = options.trace === undefined ? undefined : traceOf(options.trace);
  }

  submit(link: Link): boolean {
    this.#outcome = 'thrown';
    const written = link.submit(this);
    this.#outcome = written ? 'written' : 'waiting';
    return written;
  }

  withdraw(link: Link): boolean {
    const taken = link.withdraw(this);
    if (taken) this.#withdrawn = true;
    return taken;
  }

  abandon(link: Link, notify: boolean): void {
    link.abandon(this, notify);
    this.#abandoned = true;
  }

  /** Written into a batch, at once or later. */
  get isWritten(): boolean {
    return this.#outcome === 'written' || this.journal.includes('admitted');
  }

  get isOver(): boolean {
    if (this.#withdrawn || this.#outcome === 'thrown' || this.journal.includes('refused')) return true;
    if (!this.isWritten) return false;
    return this.kind !== RecordKind.request || this.#abandoned || this.reply !== undefined || this.error !== undefined;
  }

  /** How the contract was broken; undefined: it was kept. */
  get fault(): string | undefined {
    const count = (entry: (typeof this.journal)[number]) => this.journal.filter((other) => other === entry).length;
    const waits = this.#outcome === 'waiting' && !this.#withdrawn ? 1 : 0;
    const answers = this.kind === RecordKind.request && this.isWritten && !this.#abandoned ? 1 : 0;
    if (count('admitted') + count('refused') !== waits)
      return `${this.#describe()}: expected ${waits} admission results`;
    if (count('replied') + count('failed') !== answers)
      return `${this.#describe()}: expected ${answers} request results`;
    if (this.#encodings === 0 && this.isWritten) return `${this.#describe()}: written without being encoded`;
    return undefined;
  }

  encode(sink: Sink): void {
    this.#encodings++;
    if (typeof this.payload === 'string') sink.writeText(this.payload);
    else sink.writeBytes(this.payload);
  }

  onAdmitted(): void {
    this.journal.push('admitted');
  }

  onRefused(error: ZLinkError): void {
    this.journal.push('refused');
    this.error = error;
  }

  onReply(record: InboundRecord): void {
    this.journal.push('replied');
    this.reply = keepRecord(record, undefined);
  }

  onFailed(error: ZLinkError): void {
    this.journal.push('failed');
    this.error = error;
  }

  #describe(): string {
    return `record of kind ${this.kind}, ${this.#outcome ?? 'not submitted'}, then [${this.journal.join(', ')}]`;
  }
}

/** A link carries these bytes unseen. */
function traceOf(bytes: Uint8Array): OutboundRequest['trace'] {
  return { byteLength: bytes.length, writeInto: (target, at) => target.set(bytes, at) };
}

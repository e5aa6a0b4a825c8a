/**
 * An endpoint that speaks the link protocol but says what no endpoint of ours would say.
 *
 * Owns a transport of its own, what came over its links, and the records that it says. Leaves the protocol itself (hello,
 * batches, credit) to the real link, and to the tests of each topic as what it shows itself: they extend this class, because
 * their peers are this one with a few more methods, and forwarding would repeat it.
 */
import { ErrorKind, type ErrorKindName } from '@zlink/kernel/errors';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import type {
  DuplicatePolicy,
  InboundRecord,
  Link,
  LinkGroup,
  LinkSink,
  Listener,
  ListenOptions,
  OutboundRequest,
  PipeEngine,
  Transport,
} from '@zlink/kernel/internal/transport';
import { type Descriptor, NameIndex, RecordKind } from '@zlink/kernel/internal/wire';
import type { ManualClock } from '../manual-clock.ts';
import { seededRandom } from '../seeded-random.ts';

type Sink = Parameters<OutboundRequest['encode']>[0];

export interface RawRecordOptions {
  readonly scope?: string;
  /** An error has no name. */
  readonly packetName?: string;
  readonly contentType?: string;
  readonly payload?: string | Uint8Array;
  readonly correlation?: number;
  readonly errorKind?: ErrorKindName;
  readonly metadata?: Uint8Array;
  readonly deadlineAtMs?: number;
}

/** A record that was received, kept beyond its turn. */
export interface ReceivedRecord {
  readonly kind: RecordKind;
  readonly correlation: number;
  readonly packetName: string | undefined;
  readonly payload: string;
  readonly remainingMs: number;
  readonly errorKind: ErrorKindName | undefined;
  readonly metadata: Uint8Array | undefined;
  readonly link: Link;
}

/** A record that was said, and what came of it. */
export interface SaidRecord {
  readonly reply: ReceivedRecord | undefined;
  readonly failure: Error | undefined;
}

class RawRecord implements OutboundRequest, SaidRecord {
  readonly kind: RecordKind;
  readonly name: OutboundRequest['name'];
  readonly errorNumber: number;
  readonly deadlineAtMs: number;
  readonly metadata: Uint8Array | undefined;
  readonly trace = undefined;
  correlation: number;
  costBytes = 0;
  reply: ReceivedRecord | undefined;
  failure: Error | undefined;
  readonly #payload: string | Uint8Array;
  readonly #link: Link;

  constructor(kind: RecordKind, name: OutboundRequest['name'], options: RawRecordOptions, link: Link) {
    this.kind = kind;
    this.name = name;
    this.errorNumber = options.errorKind === undefined ? 0 : ErrorKind[options.errorKind];
    this.deadlineAtMs = options.deadlineAtMs ?? 0;
    this.metadata = options.metadata;
    this.correlation = options.correlation ?? 0;
    this.#payload = options.payload ?? 'null';
    this.#link = link;
  }

  encode(sink: Sink): void {
    if (typeof this.#payload === 'string') sink.writeText(this.#payload);
    else sink.writeBytes(this.#payload);
  }

  onAdmitted(): void {
    // Whether a record had to wait is of no interest here.
  }

  onRefused(error: Error): void {
    this.failure = error;
  }

  onReply(record: InboundRecord): void {
    this.reply = keep(record, this.#link);
  }

  onFailed(error: Error): void {
    this.failure = error;
  }
}

export class RawEndpoint {
  readonly transport: Transport;
  readonly links: Link[] = [];
  readonly received: ReceivedRecord[] = [];
  readonly unmatched: ReceivedRecord[] = [];
  readonly cancelled: number[] = [];
  /** Answers each request as it comes. */
  answer: ((request: ReceivedRecord) => void) | undefined;
  readonly #names = new NameIndex();
  readonly #permits = new JobPermits({ max: 100_000, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  #listener: Listener | undefined;

  constructor(engine: PipeEngine, clock: ManualClock) {
    this.transport = createLinkTransport(engine, {
      clock,
      permits: this.#permits,
      budgetBytes: 67_108_864,
      maxWindowBytes: 1_048_576,
      random: seededRandom(2),
      logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    });
  }

  get endpoint(): string {
    return this.#listener?.endpoint ?? '';
  }

  get link(): Link {
    const [link] = this.links;
    if (link === undefined) throw new Error('nobody is connected');
    return link;
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  /** The links of it are among `links`, and what comes over them is kept. */
  protected group(policy: DuplicatePolicy): LinkGroup {
    return { policy, open: (link) => this.#open(link) };
  }

  protected async listenAt(options: ListenOptions): Promise<void> {
    this.#listener = await this.transport.listen(options);
  }

  protected show(descriptor: Descriptor): void {
    this.#listener?.update(descriptor);
  }

  protected say(kind: RecordKind, options: RawRecordOptions, link = this.link): SaidRecord {
    const { scope = '', contentType = 'application/json', packetName = '' } = options;
    const name = kind === RecordKind.error ? undefined : this.#names.get(scope, contentType, packetName);
    const record = new RawRecord(kind, name, options, link);
    link.submit(record);
    return record;
  }

  #open(link: Link): LinkSink {
    this.links.push(link);
    return {
      onRecord: (record) => {
        const received = keep(record, link);
        this.received.push(received);
        this.#permits.release();
        if (record.kind === RecordKind.request) this.answer?.(received);
      },
      onUnmatched: (record) => this.unmatched.push(keep(record, link)),
      onCancel: (correlation) => this.cancelled.push(correlation),
      onUpdate: () => undefined,
      onFinishing: () => undefined,
      onClosed: () => this.links.splice(this.links.indexOf(link), 1),
    };
  }
}

function keep(record: InboundRecord, link: Link): ReceivedRecord {
  const { kind, correlation, remainingMs, errorKind, metadata } = record;
  const payload = new TextDecoder().decode(record.payload.subarray(record.payloadStart, record.payloadEnd));
  return { kind, correlation, packetName: record.name?.packetName, payload, remainingMs, errorKind, metadata, link };
}

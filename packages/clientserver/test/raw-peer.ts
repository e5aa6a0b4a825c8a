/**
 * A peer that speaks the link protocol but says what no server or client of ours would say.
 *
 * Owns a transport of its own. Leaves the protocol itself (hello, batches, credit) to the real link.
 */
import { newGeneration } from '@zlink/kernel/identity';
import { JobPermits } from '@zlink/kernel/internal/execution';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import type {
  InboundRecord,
  Intent,
  Link,
  LinkSink,
  Listener,
  OutboundRequest,
  PipeEngine,
  Transport,
} from '@zlink/kernel/internal/transport';
import {
  type Descriptor,
  DescriptorState,
  EndpointKind,
  NameIndex,
  ObjectRole,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import { ErrorKind, type ErrorKindName } from '@zlink/kernel/errors';
import { createMemoryEngine, seededRandom } from '@zlink/testing';
import type { Cluster } from './cluster.ts';

type Sink = Parameters<OutboundRequest['encode']>[0];

export interface RawRecordOptions {
  readonly packetName?: string;
  readonly contentType?: string;
  readonly payload?: string | Uint8Array;
  readonly correlation?: number;
  readonly errorKind?: ErrorKindName;
  readonly metadata?: Uint8Array;
  readonly deadlineAtMs?: number;
}

/** A record that was received, kept beyond its turn. */
export interface Received {
  readonly kind: RecordKind;
  readonly correlation: number;
  readonly packetName: string | undefined;
  readonly payload: string;
  readonly remainingMs: number;
  readonly errorKind: ErrorKindName | undefined;
  readonly metadata: Uint8Array | undefined;
  readonly link: Link;
}

class RawRecord implements OutboundRequest {
  readonly kind: RecordKind;
  readonly name: OutboundRequest['name'];
  readonly errorNumber: number;
  readonly deadlineAtMs: number;
  readonly metadata: Uint8Array | undefined;
  readonly trace = undefined;
  correlation: number;
  costBytes = 0;
  reply: Received | undefined;
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

export interface RawServerOptions {
  readonly rid?: string;
  readonly generation?: bigint;
  readonly weight?: number;
  readonly state?: DescriptorState;
  readonly kind?: EndpointKind;
  readonly address?: string;
  readonly revision?: bigint;
}

export class RawPeer {
  readonly transport: Transport;
  readonly links: Link[] = [];
  readonly received: Received[] = [];
  readonly unmatched: Received[] = [];
  readonly cancelled: number[] = [];
  /** Answers each request as it comes. */
  answer: ((request: Received) => void) | undefined;
  readonly #names = new NameIndex();
  readonly #permits = new JobPermits({ max: 100_000, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  readonly #channelName: string;
  #listener: Listener | undefined;

  /** @param engine - how it connects; one of its own by default */
  constructor(cluster: Cluster, channelName: string, engine: PipeEngine = rawEngine(cluster)) {
    this.#channelName = channelName;
    this.transport = createLinkTransport(engine, {
      clock: cluster.clock,
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

  async listen(options: RawServerOptions = {}): Promise<this> {
    this.#listener = await this.transport.listen({
      kind: options.kind ?? EndpointKind.channelServer,
      accepts: EndpointKind.channelClient,
      scope: this.#channelName,
      identity: { rid: options.rid ?? 'raw-1', generation: options.generation ?? newGeneration() },
      bindAddress: options.address ?? 'tcp://127.0.0.1:0',
      maxMessageBytes: 0,
      descriptor: this.describe(options.revision ?? 1n, options.state, options.weight),
      group: { policy: 'every', open: (link) => this.#open(link) },
    });
    return this;
  }

  dial(address: string, kind: EndpointKind = EndpointKind.channelClient): Intent {
    return this.transport.dial({
      kind,
      expects: EndpointKind.channelServer,
      scope: this.#channelName,
      identity: { rid: 'raw-client', generation: newGeneration() },
      descriptor: { revision: 1n, state: DescriptorState.serving, objectRole: ObjectRole.none, channels: [] },
      address,
      group: { policy: 'firstAdmitted', open: (link) => this.#open(link) },
      onState: () => undefined,
    });
  }

  describe(revision: bigint, state: DescriptorState = DescriptorState.serving, weight = 100): Descriptor {
    return { revision, state, objectRole: ObjectRole.none, channels: [{ name: this.#channelName, weight }] };
  }

  update(revision: bigint, state?: DescriptorState, weight?: number): void {
    this.#listener?.update(this.describe(revision, state, weight));
  }

  submit(kind: RecordKind, options: RawRecordOptions = {}, link = this.link): RawRecord {
    const { contentType = 'application/json', packetName = 'billing.ask' } = options;
    const name = kind === RecordKind.error ? undefined : this.#names.get('', contentType, packetName);
    const record = new RawRecord(kind, name, options, link);
    link.submit(record);
    return record;
  }

  reply(to: Received, options: RawRecordOptions = {}): void {
    this.submit(RecordKind.reply, { ...options, correlation: to.correlation }, to.link);
  }

  close(): Promise<void> {
    return this.transport.close();
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

function rawEngine(cluster: Cluster): PipeEngine {
  return createMemoryEngine(cluster.network, { name: 'raw peer' });
}

/** Where an admit record says how large a message may be: a header of 16 bytes, then 23 bytes of other facts. */
const SIZE_LIMIT_AT = 39;

/** An engine whose user never learns of a server's size limit, and so ignores it. */
export function engineWithoutLimits(cluster: Cluster): PipeEngine {
  const engine = rawEngine(cluster);
  return {
    security: undefined,
    listen: (options, accept) => engine.listen(options, accept),
    close: () => engine.close(),
    connect: (options, sink) => {
      let admitted = false;
      return engine.connect(options, {
        onPipeOpen: () => sink.onPipeOpen(),
        onPipeClosed: (reason) => sink.onPipeClosed(reason),
        onPipeMessage: (parts, first) => {
          if (admitted) return sink.onPipeMessage(parts, first);
          admitted = true;
          const admit = Uint8Array.from(parts[first] ?? []).fill(0, SIZE_LIMIT_AT, SIZE_LIMIT_AT + 8);
          sink.onPipeMessage([admit], 0);
        },
      });
    },
  };
}

function keep(record: InboundRecord, link: Link): Received {
  const { kind, correlation, remainingMs, errorKind, metadata } = record;
  const payload = new TextDecoder().decode(record.payload.subarray(record.payloadStart, record.payloadEnd));
  return { kind, correlation, packetName: record.name?.packetName, payload, remainingMs, errorKind, metadata, link };
}

/**
 * A node that speaks the link protocol but says what no node of ours would say.
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
  LinkGroup,
  LinkSink,
  Listener,
  OutboundRequest,
  Transport,
} from '@zlink/kernel/internal/transport';
import {
  type ChannelMembership,
  type Descriptor,
  DescriptorState,
  EndpointKind,
  NameIndex,
  ObjectRole,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import type { ErrorKindName } from '@zlink/kernel/errors';
import { createMemoryEngine, seededRandom } from '@zlink/testing';
import type { Cluster } from './cluster.ts';

type Sink = Parameters<OutboundRequest['encode']>[0];

export interface RawNodeOptions {
  readonly rid: string;
  readonly objectRole?: keyof typeof ObjectRole;
  readonly channels?: readonly ChannelMembership[];
  readonly generation?: bigint;
}

/** A record that was received, kept beyond its turn. */
export interface Received {
  readonly kind: RecordKind;
  readonly correlation: number;
  readonly packetName: string | undefined;
  readonly payload: string;
  readonly errorKind: ErrorKindName | undefined;
  readonly link: Link;
}

class RawRecord implements OutboundRequest {
  readonly kind: RecordKind;
  readonly name: OutboundRequest['name'];
  readonly errorNumber = 0;
  readonly deadlineAtMs = 0;
  readonly metadata = undefined;
  readonly trace = undefined;
  correlation: number;
  costBytes = 0;
  reply: Received | undefined;
  failure: Error | undefined;
  readonly #payload: string;
  readonly #link: Link;

  constructor(kind: RecordKind, name: OutboundRequest['name'], correlation: number, payload: string, link: Link) {
    this.kind = kind;
    this.name = name;
    this.correlation = correlation;
    this.#payload = payload;
    this.#link = link;
  }

  encode(sink: Sink): void {
    sink.writeText(this.#payload);
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

export class RawNode {
  readonly transport: Transport;
  readonly links: Link[] = [];
  readonly received: Received[] = [];
  /** Answers each request as it comes. */
  answer: ((request: Received) => void) | undefined;
  readonly #options: RawNodeOptions;
  readonly #meshName: string;
  readonly #generation: bigint;
  readonly #names = new NameIndex();
  readonly #permits = new JobPermits({ max: 100_000, pauseThresholdPercent: 80, resumeThresholdPercent: 60 });
  readonly #group: LinkGroup = { policy: 'smallerRid', open: (link) => this.#open(link) };
  #listener: Listener | undefined;

  constructor(cluster: Cluster, meshName: string, options: RawNodeOptions) {
    this.#meshName = meshName;
    this.#options = options;
    this.#generation = options.generation ?? newGeneration();
    this.transport = createLinkTransport(createMemoryEngine(cluster.network, { name: options.rid }), {
      clock: cluster.clock,
      permits: this.#permits,
      budgetBytes: 67_108_864,
      maxWindowBytes: 1_048_576,
      random: seededRandom(2),
      logger: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    });
  }

  get link(): Link {
    const [link] = this.links;
    if (link === undefined) throw new Error('nobody is connected');
    return link;
  }

  get endpoint(): string {
    return this.#listener?.endpoint ?? '';
  }

  async listen(address = 'tcp://127.0.0.1:0'): Promise<this> {
    this.#listener = await this.transport.listen({
      kind: EndpointKind.meshNode,
      accepts: EndpointKind.meshNode,
      scope: this.#meshName,
      identity: { rid: this.#options.rid, generation: this.#generation },
      bindAddress: address,
      maxMessageBytes: 0,
      descriptor: this.describe(1n),
      group: this.#group,
    });
    return this;
  }

  dial(address: string): Intent {
    return this.transport.dial({
      kind: EndpointKind.meshNode,
      expects: EndpointKind.meshNode,
      scope: this.#meshName,
      identity: { rid: this.#options.rid, generation: this.#generation },
      descriptor: this.describe(1n),
      address,
      group: this.#group,
      onState: () => undefined,
    });
  }

  describe(revision: bigint, state: DescriptorState = DescriptorState.serving): Descriptor {
    const { objectRole = 'none', channels = [] } = this.#options;
    return { revision, state, objectRole: ObjectRole[objectRole], channels };
  }

  update(revision: bigint, state?: DescriptorState): void {
    this.#listener?.update(this.describe(revision, state));
  }

  submit(kind: RecordKind, scope: string, payload = '1', correlation = 0): RawRecord {
    const packetName = kind === RecordKind.send ? 'system.notice' : 'match.ask';
    const record = new RawRecord(
      kind,
      this.#names.get(scope, 'application/json', packetName),
      correlation,
      payload,
      this.link,
    );
    this.link.submit(record);
    return record;
  }

  reply(to: Received, payload: string): void {
    this.submit(RecordKind.reply, '', payload, to.correlation);
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
      onUnmatched: () => undefined,
      onCancel: () => undefined,
      onUpdate: () => undefined,
      onFinishing: () => undefined,
      onClosed: () => this.links.splice(this.links.indexOf(link), 1),
    };
  }
}

function keep(record: InboundRecord, link: Link): Received {
  const { kind, correlation, errorKind } = record;
  const payload = new TextDecoder().decode(record.payload.subarray(record.payloadStart, record.payloadEnd));
  return { kind, correlation, packetName: record.name?.packetName, payload, errorKind, link };
}

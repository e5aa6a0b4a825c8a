/**
 * A peer that speaks the link protocol but says what no server or client of ours would say.
 *
 * Owns what it shows itself as. Leaves records and links to the raw endpoint.
 */
import { newGeneration } from '@zlink/kernel/identity';
import type { Intent, PipeEngine } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState, EndpointKind, ObjectRole, RecordKind } from '@zlink/kernel/internal/wire';
import { createMemoryEngine } from '@zlink/testing';
import { RawEndpoint, type RawRecordOptions, type ReceivedRecord, type SaidRecord } from '@zlink/testing/internal';
import type { Cluster } from './cluster.ts';
import { Ask } from './packets.ts';

export interface RawServerOptions {
  readonly rid?: string;
  readonly generation?: bigint;
  readonly weight?: number;
  readonly state?: DescriptorState;
  readonly kind?: EndpointKind;
  readonly address?: string;
  readonly revision?: bigint;
}

export class RawPeer extends RawEndpoint {
  readonly #channelName: string;

  /** @param engine - how it connects; one of its own by default */
  constructor(cluster: Cluster, channelName: string, engine: PipeEngine = rawEngine(cluster)) {
    super(engine, cluster.clock);
    this.#channelName = channelName;
  }

  async listen(options: RawServerOptions = {}): Promise<this> {
    await this.listenAt({
      kind: options.kind ?? EndpointKind.channelServer,
      accepts: EndpointKind.channelClient,
      scope: this.#channelName,
      identity: { rid: options.rid ?? 'raw-1', generation: options.generation ?? newGeneration() },
      bindAddress: options.address ?? 'tcp://127.0.0.1:0',
      maxMessageBytes: 0,
      descriptor: this.describe(options.revision ?? 1n, options.state, options.weight),
      group: this.group('every'),
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
      group: this.group('firstAdmitted'),
      onState: () => undefined,
    });
  }

  describe(revision: bigint, state: DescriptorState = DescriptorState.serving, weight = 100): Descriptor {
    return { revision, state, objectRole: ObjectRole.none, channels: [{ name: this.#channelName, weight }] };
  }

  update(revision: bigint, state?: DescriptorState, weight?: number): void {
    this.show(this.describe(revision, state, weight));
  }

  submit(kind: RecordKind, options: RawRecordOptions = {}, link = this.link): SaidRecord {
    return this.say(kind, { packetName: Ask.packetName, ...options }, link);
  }

  reply(to: ReceivedRecord, options: RawRecordOptions = {}): void {
    this.submit(RecordKind.reply, { ...options, correlation: to.correlation }, to.link);
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

/**
 * A node that speaks the link protocol but says what no node of ours would say.
 *
 * Owns what it shows itself as. Leaves records and links to the raw endpoint.
 */
import { newGeneration } from '@zlink/kernel/identity';
import type { Intent } from '@zlink/kernel/internal/transport';
import {
  type ChannelMembership,
  type Descriptor,
  DescriptorState,
  EndpointKind,
  ObjectRole,
  RecordKind,
} from '@zlink/kernel/internal/wire';
import { createMemoryEngine } from '@zlink/testing';
import { RawEndpoint, type ReceivedRecord, type SaidRecord } from '@zlink/testing/internal';
import type { Cluster } from './cluster.ts';
import { Ask, Notice } from './packets.ts';

export interface RawNodeOptions {
  readonly rid: string;
  readonly objectRole?: keyof typeof ObjectRole;
  readonly channels?: readonly ChannelMembership[];
  readonly generation?: bigint;
}

export class RawNode extends RawEndpoint {
  readonly #options: RawNodeOptions;
  readonly #meshName: string;
  readonly #generation: bigint;
  readonly #group = this.group('smallerRid');

  constructor(cluster: Cluster, meshName: string, options: RawNodeOptions) {
    super(createMemoryEngine(cluster.network, { name: options.rid }), cluster.clock);
    this.#meshName = meshName;
    this.#options = options;
    this.#generation = options.generation ?? newGeneration();
  }

  async listen(address = 'tcp://127.0.0.1:0'): Promise<this> {
    await this.listenAt({
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
    this.show(this.describe(revision, state));
  }

  submit(kind: RecordKind, scope: string, payload = '1'): SaidRecord {
    const { packetName } = kind === RecordKind.send ? Notice : Ask;
    return this.say(kind, { scope, packetName, payload });
  }

  reply({ correlation }: ReceivedRecord, payload: string): void {
    this.say(RecordKind.reply, { packetName: Ask.packetName, payload, correlation });
  }
}

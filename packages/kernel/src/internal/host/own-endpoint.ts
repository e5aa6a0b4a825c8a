/**
 * What an endpoint of this host (a node, a channel server) says about itself: to its links, and to the Location Store if the
 * host has one.
 *
 * Owns the order of the two. Leaves values and revision to the descriptor, sending to the listener, and writing to discovery.
 *
 * 1. Links are told first and the store afterwards, with one revision for both: the store never knows more of a connected
 *    endpoint than its links do (LOC-062, CS-005).
 */
import type { NodeIdentity } from '../../identity/index.ts';
import type { Discovery, OwnFacts, Publication, PublicationSource, TopologyKind } from '../discovery/index.ts';
import type { Listener } from '../transport/index.ts';
import { type ChannelMembership, type Descriptor, DescriptorState } from '../wire/index.ts';
import { OwnDescriptor } from './own-descriptor.ts';

type CommonFacts = Pick<
  OwnFacts<TopologyKind>,
  'name' | 'rid' | 'lifecycleGeneration' | 'revision' | 'endpoint' | 'state'
>;

interface OwnEndpointOptions<K extends TopologyKind> {
  readonly kind: K;
  /** MeshName or ChannelName. */
  readonly name: string;
  readonly identity: NodeIdentity;
  /** Of every channel that it serves. */
  readonly weights: ReadonlyMap<string, number>;
  /** Asked once the endpoint is bound. */
  listener(): Pick<Listener, 'endpoint' | 'update'>;
  /** What only endpoints of this kind publish. */
  describe(channels: readonly ChannelMembership[]): Omit<OwnFacts<K>, keyof CommonFacts>;
}

const STATE_NAMES = {
  [DescriptorState.starting]: 'starting',
  [DescriptorState.serving]: 'serving',
  [DescriptorState.draining]: 'draining',
  [DescriptorState.relocating]: 'relocating',
  [DescriptorState.relocated]: 'relocated',
} as const satisfies Record<DescriptorState, CommonFacts['state']>;

export class OwnEndpoint<K extends TopologyKind> implements PublicationSource<K> {
  readonly #options: OwnEndpointOptions<K>;
  readonly #descriptor: OwnDescriptor;
  #publication: Publication | undefined;

  constructor(options: OwnEndpointOptions<K>) {
    this.#options = options;
    this.#descriptor = new OwnDescriptor(options.weights);
  }

  get kind(): K {
    return this.#options.kind;
  }

  get identity(): NodeIdentity {
    return this.#options.identity;
  }

  get rid(): string {
    return this.identity.rid;
  }

  get current(): Descriptor {
    return this.#descriptor.current;
  }

  /** Undefined for a channel that is not served here. */
  weightOf(channelName: string): number | undefined {
    return this.#descriptor.weightOf(channelName);
  }

  setWeight(channelName: string, weight: number): void {
    this.#tell(this.#descriptor.setWeight(channelName, weight));
  }

  become(state: DescriptorState): void {
    this.#tell(this.#descriptor.become(state));
  }

  /** @throws what `Discovery.publish` rejects with */
  async publish(discovery: Pick<Discovery, 'publish'>, signal: AbortSignal): Promise<void> {
    const { revision } = this.current;
    const publication = await discovery.publish(this, signal);
    this.#publication = publication;
    if (this.current.revision !== revision) publication.changed(); // while its place was being claimed
  }

  facts(): OwnFacts<K> {
    const { name, identity } = this.#options;
    const { revision, state, channels } = this.current;
    const common: CommonFacts = {
      name,
      rid: identity.rid,
      lifecycleGeneration: identity.generation,
      revision,
      endpoint: this.#options.listener().endpoint,
      state: STATE_NAMES[state],
    };
    // The two parts are all facts of a kind.
    return { ...common, ...this.#options.describe(channels) } as OwnFacts<K>;
  }

  raise(): void {
    this.#options.listener().update(this.#descriptor.become(this.current.state)); // who publishes asks for the facts itself
  }

  #tell(descriptor: Descriptor): void {
    this.#options.listener().update(descriptor);
    this.#publication?.changed(); // 1
  }
}

/**
 * What an endpoint of ours (a node, a channel server) tells its peers about itself: state, memberships, weights.
 *
 * Owns the values and their revision. Leaves sending to the listener.
 *
 * 1. The revision rises with every change, so that a late older descriptor never wins (MESH-005, CS-005).
 * 2. The set of memberships never changes (WIRE-001).
 */
import { type Descriptor, DescriptorState, ObjectRole } from '../wire/index.ts';

export class OwnDescriptor {
  readonly #weights: Map<string, number>;
  #current: Descriptor;

  /** @param weights - of every channel that it serves */
  constructor(weights: ReadonlyMap<string, number>) {
    this.#weights = new Map(weights);
    this.#current = this.#describe(1n, DescriptorState.starting);
  }

  get current(): Descriptor {
    return this.#current;
  }

  /** Undefined for a channel that is not served here. */
  weightOf(channelName: string): number | undefined {
    return this.#weights.get(channelName);
  }

  /** @param channelName - one that is served (2) */
  setWeight(channelName: string, weight: number): Descriptor {
    this.#weights.set(channelName, weight);
    return this.#change(this.#current.state);
  }

  become(state: DescriptorState): Descriptor {
    return this.#change(state);
  }

  #change(state: DescriptorState): Descriptor {
    this.#current = this.#describe(this.#current.revision + 1n, state); // 1
    return this.#current;
  }

  #describe(revision: bigint, state: DescriptorState): Descriptor {
    const channels = [...this.#weights].map(([name, weight]) => ({ name, weight }));
    return { revision, state, objectRole: ObjectRole.none, channels };
  }
}

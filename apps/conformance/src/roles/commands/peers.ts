/** What the driver asks of a host about its mesh: the peers of the node, and the node in its channel. */
import type { Host, PeerStatus } from '@zlink/framework';
import { MESH, MESH_CHANNEL } from '../../contracts.ts';
import { caught } from '../facts.ts';
import type { ErrorFacts } from '../plan.ts';
import { waitLimitMs } from '../../wait-limit.ts';

export class PeerCommands {
  readonly #host: () => Host;

  constructor(host: () => Host) {
    this.#host = host;
  }

  ready(count: number, mesh = MESH): Promise<void> {
    return this.#host().routeMesh(mesh).whenReady(count, AbortSignal.timeout(waitLimitMs));
  }

  list(mesh = MESH): readonly PeerStatus[] {
    return this.#host().routeMesh(mesh).peers.list();
  }

  connect(endpoint: string, expectedRid?: string): ErrorFacts | undefined {
    const { peers } = this.#host().routeMesh(MESH);
    return caught(() => (expectedRid === undefined ? peers.connect(endpoint) : peers.connect(expectedRid, endpoint)));
  }

  disconnect(endpoint: string): void {
    this.#host().routeMesh(MESH).peers.disconnect(endpoint);
  }

  /** Of the node here in its channel. */
  setWeight(weight: number): ErrorFacts | undefined {
    const host = this.#host();
    return caught(() => host.routeMesh(MESH).channel(MESH_CHANNEL).setWeight(weight));
  }

  weight(): number {
    return this.#host().routeMesh(MESH).channel(MESH_CHANNEL).weight;
  }
}

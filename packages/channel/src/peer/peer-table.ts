/**
 * The links of one node by the RID they lead to, and which of them counts.
 *
 * Owns that choice. Leaves duplicates to the transport, which ends one of two links in order.
 *
 * B1 Of several links to a RID the one admitted last that still takes work is the current one: it belongs to the newest
 *    generation, and a link that finishes only ends what it has (CORE-010).
 */
import type { Peer } from './peer.ts';

export class PeerTable {
  /** In the order of admission. */
  readonly #peers = new Map<string, Peer[]>();
  readonly #current = new Map<string, Peer>();

  add(peer: Peer): void {
    const others = this.#peers.get(peer.rid);
    if (others === undefined) this.#peers.set(peer.rid, [peer]);
    else others.push(peer);
  }

  remove(peer: Peer): void {
    const left = this.#peers.get(peer.rid)?.filter((other) => other !== peer) ?? [];
    if (left.length > 0) this.#peers.set(peer.rid, left);
    else this.#peers.delete(peer.rid);
  }

  /** Decides anew which link to this RID counts. */
  refresh(rid: string): void {
    const current = this.#peers.get(rid)?.findLast((peer) => peer.isOpen); // B1
    if (current === undefined) this.#current.delete(rid);
    else this.#current.set(rid, current);
  }

  /** Whether a link to this very generation lives, also one that only ends what it has. */
  hasLink(rid: string, generation: bigint): boolean {
    return this.#peers.get(rid)?.some(({ link }) => link.peer.generation === generation) === true;
  }

  current(rid: string): Peer | undefined {
    return this.#current.get(rid);
  }

  /** Whoever of `all` advertises this endpoint. */
  at(endpoint: string): Peer | undefined {
    for (const peer of this.#current.values()) if (peer.link.peer.endpoint === endpoint) return peer;
    return undefined;
  }

  /** One per RID that a link leads to which takes work. */
  all(): Iterable<Peer> {
    return this.#current.values();
  }

  get hasReady(): boolean {
    for (const peer of this.#current.values()) if (peer.isReady) return true;
    return false;
  }

  /** Nodes that are connected and serve. */
  countReady(): number {
    let count = 0;
    for (const peer of this.#current.values()) if (peer.isReady) count++;
    return count;
  }
}

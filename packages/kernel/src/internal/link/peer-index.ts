/**
 * Which links of one group lead to which peer, and what one more link to a peer means (CORE-010).
 *
 * Owns the verdicts. Leaves carrying them out to `link-factory`.
 *
 * X1 Both ends of two links between the same two endpoints choose the same survivor.
 * X2 A generation that was replaced never comes back (CS-009), also if its last link had ended before the newer one came.
 * X3 A RouteMesh link that one side has admitted carries what was accepted on it to the end, even if it is not kept.
 * X4 A RouteMesh link that takes no new work is in nobody's way: a peer that was disconnected may be connected again while
 *    the old link still ends what it has.
 * X5 Of RouteMesh links between the same generations the side that has dialled the one that stays ends the others: it is the
 *    last to admit the one that stays, so neither side is without a link in between.
 */
import { compareUtf8 } from '../../identity/index.ts';
import type { DuplicatePolicy, PeerFacts } from '../transport/transport.ts';
import { type Rejection, RejectReason } from '../wire/hello.ts';
import type { PhysicalLink } from './physical-link.ts';

export type Verdict =
  /** Keep the new link in place of the one that it `replaces`; this side ends those in `ends`, which take no new work then. */
  | { readonly kind: 'admit'; readonly replaces: PhysicalLink | undefined; readonly ends: readonly PhysicalLink[] }
  /** Another link to the same peer stays; the new one was not admitted by the other side yet and never will be. */
  | { readonly kind: 'duplicate'; readonly of: PhysicalLink }
  /** Another link stays, but the other side has admitted this one and may have used it: `ender` lets it end in order (X3, X5). */
  | { readonly kind: 'admitBriefly'; readonly besides: PhysicalLink; readonly ender: 'self' | 'peer' }
  | { readonly kind: 'refuse'; readonly rejection: Rejection };

interface Peer {
  current: PhysicalLink | undefined;
  readonly links: Set<PhysicalLink>;
  /** Of the link that was admitted last. */
  generation: bigint;
  /** Generations that were replaced, newest last. */
  readonly replaced: bigint[];
}

/** Replaced generations remembered per RID. */
const REPLACED_LIMIT = 64;

/** Peers without a link whose generations are remembered; of more, the longest gone are forgotten. */
const DEPARTED_LIMIT = 4_096;

export class PeerIndex {
  readonly #policy: DuplicatePolicy;
  readonly #ownRid: string;
  /** Peers with links, and peers that have none any more, newest last. */
  readonly #peers = new Map<string, Peer>();
  readonly #departed = new Map<string, Peer>();

  constructor(policy: DuplicatePolicy, ownRid: string) {
    this.#policy = policy;
    this.#ownRid = ownRid;
  }

  judge(facts: PeerFacts, dialed: boolean): Verdict {
    const peer = this.#peers.get(facts.rid) ?? this.#departed.get(facts.rid);
    if (this.#policy === 'every' || peer === undefined) return ADMIT;
    if (peer.replaced.includes(facts.generation)) return replacedGeneration(facts); // X2
    const current = peer.current;
    if (current === undefined) return ADMIT;
    if (current.peer.generation !== facts.generation)
      return { kind: 'admit', replaces: current, ends: [...peer.links] };
    if (this.#policy === 'smallerRid' && current.phase !== 'open')
      return { kind: 'admit', replaces: current, ends: [] }; // X4
    if (this.#policy === 'firstAdmitted') return { kind: 'duplicate', of: current };
    return this.#judgeMesh(facts, dialed, current, peer.links);
  }

  /** A link was admitted under the verdict `admit`. */
  add(link: PhysicalLink, replaces: PhysicalLink | undefined): void {
    const { rid, generation } = link.peer;
    let peer = this.#peers.get(rid);
    if (peer === undefined) {
      peer = this.#departed.get(rid) ?? { current: undefined, links: new Set(), generation, replaced: [] };
      this.#departed.delete(rid);
      this.#peers.set(rid, peer);
    }
    peer.links.add(link);
    if (peer.generation !== generation) {
      peer.replaced.push(peer.generation);
      if (peer.replaced.length > REPLACED_LIMIT) peer.replaced.shift();
      peer.generation = generation;
    }
    if (peer.current === undefined || replaces === peer.current) peer.current = link;
  }

  remove(link: PhysicalLink): void {
    const peer = this.#peers.get(link.peer.rid);
    if (peer === undefined || !peer.links.delete(link)) return;
    if (peer.current === link) {
      peer.current = undefined;
      for (const other of peer.links) if (other.phase === 'open') peer.current = other;
    }
    if (peer.links.size === 0) this.#depart(link.peer.rid, peer);
  }

  /** An open link to this RID; only where none is known, to a peer that says it can be dialled at this address. */
  find(rid: string | undefined, address: string): PhysicalLink | undefined {
    const peers = rid === undefined ? this.#peers.values() : [this.#peers.get(rid)];
    for (const peer of peers) {
      for (const link of peer?.links ?? []) {
        if (link.phase === 'open' && (rid !== undefined || link.peer.endpoint === address)) return link;
      }
    }
    return undefined;
  }

  #depart(rid: string, peer: Peer): void {
    this.#peers.delete(rid);
    if (this.#policy === 'every') return; // generations mean nothing there
    this.#departed.set(rid, peer);
    if (this.#departed.size <= DEPARTED_LIMIT) return;
    for (const longestGone of this.#departed.keys()) {
      this.#departed.delete(longestGone);
      return;
    }
  }

  #judgeMesh(facts: PeerFacts, dialed: boolean, current: PhysicalLink, links: Iterable<PhysicalLink>): Verdict {
    const initiator = dialed ? this.#ownRid : facts.rid;
    const currentInitiator = current.dialed ? this.#ownRid : facts.rid;
    // The peer's second dial is the peer's to judge: it knows whether it lost the first link.
    if (initiator === currentInitiator && !dialed) return ADMIT;
    const newOneStays = compareUtf8(initiator, currentInitiator) < 0; // X1
    if (newOneStays) return { kind: 'admit', replaces: current, ends: dialed ? [...links] : [] }; // X5
    if (!dialed) return { kind: 'duplicate', of: current };
    return { kind: 'admitBriefly', besides: current, ender: current.dialed ? 'self' : 'peer' }; // X5
  }
}

const ADMIT: Verdict = { kind: 'admit', replaces: undefined, ends: [] };

function replacedGeneration(facts: PeerFacts): Verdict {
  const text = `generation ${facts.generation} of "${facts.rid}" was replaced by a newer one`;
  return { kind: 'refuse', rejection: { reason: RejectReason.wrongGeneration, text } };
}

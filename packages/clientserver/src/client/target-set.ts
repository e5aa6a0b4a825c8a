/**
 * The servers that one channel client is connected to, and the order in which they are chosen.
 *
 * Owns the candidate list: rebuilt when who can be chosen or a weight has changed, and only then (WRR-003). Leaves
 * connecting to intents, and saying that a target has changed to its owner.
 *
 * G1 A candidate is ready, has a positive weight, does not drain (CHAN-003) and is not left out by discovery (LOC-063); its
 *    identifier is the Server RID (WRR-001).
 * G2 A RID is one candidate: of two generations the one admitted last, which serves before it replaces one that does
 *    (CS-009, CS-013).
 */
import type { NodeIdentity } from '@zlink/kernel/identity';
import type { Clock } from '@zlink/kernel/internal/time';
import { type Candidate, WeightedSelector } from '@zlink/kernel/internal/selection';
import type { Link, PeerFacts } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState } from '@zlink/kernel/internal/wire';
import type { Target } from './target.ts';

type Candidates = ReadonlyMap<string, Candidate<Link>>;

export class TargetSet {
  readonly #selector: WeightedSelector<Link>;
  readonly #isLeftOut: (server: NodeIdentity) => boolean;
  readonly #targets = new Map<Link, Target>();
  #ready: ReadonlyMap<string, Target> = new Map();
  /** What the selector was given last, by RID. */
  #candidates: Candidates = new Map();

  /** @param isLeftOut - whether a connected server is no target for what discovery knows */
  constructor(clock: Clock, isLeftOut: (server: NodeIdentity) => boolean) {
    this.#isLeftOut = isLeftOut;
    this.#selector = new WeightedSelector(() => clock.nowMs());
  }

  /** How often the candidate list was built. */
  get rebuilds(): number {
    return this.#selector.rebuilds;
  }

  get readyCount(): number {
    return this.#ready.size;
  }

  /** Servers that can be chosen now. */
  get candidateCount(): number {
    return this.#candidates.size;
  }

  choose(): Link | undefined {
    return this.#selector.next();
  }

  find(link: Link): Target | undefined {
    return this.#targets.get(link);
  }

  add(target: Target): void {
    this.#targets.set(target.link, target);
    this.refresh();
  }

  remove(target: Target): void {
    if (this.#targets.delete(target.link)) this.refresh();
  }

  /** A target, or what discovery knows of one, has changed. */
  refresh(): void {
    this.#ready = this.#readyByRid();
    const candidates = new Map<string, Candidate<Link>>();
    for (const [id, { link, weight }] of this.#ready) {
      if (weight > 0 && !this.#isLeftOut(link.peer)) candidates.set(id, { id, weight, target: link }); // G1
    }
    if (isSame(candidates, this.#candidates)) return;
    this.#candidates = candidates;
    this.#selector.replace([...candidates.values()]);
  }

  /** Why a server is not let in, if it must not: it does not serve, and would replace a generation that does (G2). */
  objection(peer: PeerFacts, descriptor: Descriptor): string | undefined {
    if (descriptor.state === DescriptorState.serving) return undefined;
    const current = this.#ready.get(peer.rid)?.link.peer;
    if (current === undefined || current.generation === peer.generation) return undefined;
    return `"${peer.rid}" does not serve, and another generation of it does`;
  }

  /** Targets are in the order of their admission: while one generation replaces another, the later one counts (G2). */
  #readyByRid(): Map<string, Target> {
    const ready = new Map<string, Target>();
    for (const target of this.#targets.values()) if (target.ready) ready.set(target.link.peer.rid, target);
    return ready;
  }
}

/** In any order: the selector's order does not depend on it. */
function isSame(candidates: Candidates, others: Candidates): boolean {
  if (candidates.size !== others.size) return false;
  for (const [id, { weight, target }] of candidates) {
    const other = others.get(id);
    if (other === undefined || other.weight !== weight || other.target !== target) return false;
  }
  return true;
}

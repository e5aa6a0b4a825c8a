/**
 * The servers that one channel client is connected to, and the order in which they are chosen.
 *
 * Owns the candidate list: rebuilt when a server's state changes and only then (WRR-003). Leaves connecting to intents.
 *
 * G1 A candidate is ready, has a positive weight and does not drain (CHAN-003); its identifier is the Server RID (WRR-001).
 * G2 A RID is one candidate: of two generations the one admitted last, which serves before it replaces one that does
 *    (CS-009, CS-013).
 */
import type { Clock } from '@zlink/kernel/internal/time';
import { WeightedSelector } from '@zlink/kernel/internal/selection';
import type { Link, PeerFacts } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState } from '@zlink/kernel/internal/wire';
import type { Target } from './target.ts';

export class TargetSet {
  readonly #selector: WeightedSelector<Link>;
  readonly #targets = new Set<Target>();

  constructor(clock: Clock) {
    this.#selector = new WeightedSelector(() => clock.nowMs());
  }

  /** How often the candidate list was built. */
  get rebuilds(): number {
    return this.#selector.rebuilds;
  }

  get hasCandidate(): boolean {
    return this.#selector.size > 0;
  }

  get readyCount(): number {
    return this.#readyByRid().size;
  }

  choose(): Link | undefined {
    return this.#selector.next();
  }

  find(link: Link): Target | undefined {
    for (const target of this.#targets) if (target.link === link) return target;
    return undefined;
  }

  add(target: Target): void {
    this.#targets.add(target);
    this.rebuild();
  }

  remove(target: Target): void {
    if (this.#targets.delete(target)) this.rebuild();
  }

  rebuild(): void {
    const candidates = [];
    for (const [id, { link, weight }] of this.#readyByRid()) candidates.push({ id, weight, target: link });
    this.#selector.replace(candidates); // which leaves weight 0 out (G1)
  }

  /** Why a server is not let in, if it must not: it does not serve, and would replace a generation that does (G2). */
  objection(peer: PeerFacts, descriptor: Descriptor): string | undefined {
    if (descriptor.state === DescriptorState.serving) return undefined;
    const current = this.#readyByRid().get(peer.rid)?.link.peer;
    if (current === undefined || current.generation === peer.generation) return undefined;
    return `"${peer.rid}" does not serve, and another generation of it does`;
  }

  /** Targets are in the order of their admission: while one generation replaces another, the later one counts (G2). */
  #readyByRid(): Map<string, Target> {
    const ready = new Map<string, Target>();
    for (const target of this.#targets) if (target.ready) ready.set(target.link.peer.rid, target);
    return ready;
  }
}

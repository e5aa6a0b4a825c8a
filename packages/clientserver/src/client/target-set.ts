/**
 * The servers that one channel client is connected to, and the order in which they are chosen.
 *
 * Owns the candidate list: rebuilt when a server's state changes and only then (WRR-003). Leaves connecting to intents.
 *
 * G1 A candidate is ready, has a positive weight and does not drain (CHAN-003); its identifier is the Server RID (WRR-001).
 */
import type { Clock } from '@zlink/kernel/internal/time';
import { WeightedSelector } from '@zlink/kernel/internal/selection';
import type { Link } from '@zlink/kernel/internal/transport';
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
    let count = 0;
    for (const target of this.#targets) if (target.ready) count++;
    return count;
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
    for (const target of this.#targets) {
      if (!target.ready || target.weight === 0) continue; // G1
      candidates.push({ id: target.link.peer.rid, weight: target.weight, target: target.link });
    }
    this.#selector.replace(candidates);
  }
}

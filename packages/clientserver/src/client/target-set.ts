/**
 * The servers that one channel client is connected to, and the order in which they are chosen.
 *
 * Owns who is a candidate: it changes with the targets of its RID and what discovery knows of them, and only then (WRR-003).
 * Leaves connecting to intents, and saying that a target has changed to its owner.
 *
 * G1 A candidate is ready, has a positive weight, does not drain (CHAN-003) and is not left out by discovery (LOC-063); its
 *    identifier is the Server RID (WRR-001).
 * G2 A RID is one candidate: of two generations the one admitted last, which serves before it replaces one that does
 *    (CS-009, CS-013).
 * G3 A change looks at the targets of one RID, however many there are.
 */
import type { NodeIdentity } from '@zlink/kernel/identity';
import type { Clock } from '@zlink/kernel/internal/time';
import { WeightedSelector } from '@zlink/kernel/internal/selection';
import type { Link, PeerFacts } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState } from '@zlink/kernel/internal/wire';
import type { Target } from './target.ts';

export class TargetSet {
  readonly #selector: WeightedSelector<Link>;
  readonly #isLeftOut: (server: NodeIdentity) => boolean;
  readonly #targets = new Map<Link, Target>();
  /** In the order of their admission; a RID without any is not there. */
  readonly #targetsByRid = new Map<string, readonly Target[]>();
  /** The one that counts (G2). */
  readonly #readyByRid = new Map<string, Target>();

  /** @param isLeftOut - whether a connected server is no target for what discovery knows */
  constructor(clock: Clock, isLeftOut: (server: NodeIdentity) => boolean) {
    this.#isLeftOut = isLeftOut;
    this.#selector = new WeightedSelector(() => clock.nowMs());
  }

  /** How often the candidate list has changed. */
  get rebuilds(): number {
    return this.#selector.rebuilds;
  }

  get readyCount(): number {
    return this.#readyByRid.size;
  }

  /** Servers that can be chosen now. */
  get candidateCount(): number {
    return this.#selector.size;
  }

  choose(): Link | undefined {
    return this.#selector.next();
  }

  find(link: Link): Target | undefined {
    return this.#targets.get(link);
  }

  add(target: Target): void {
    const { rid } = target.link.peer;
    this.#targets.set(target.link, target);
    this.#targetsByRid.set(rid, [...this.#of(rid), target]);
    this.refresh(rid);
  }

  remove(target: Target): void {
    if (!this.#targets.delete(target.link)) return;
    const { rid } = target.link.peer;
    const others = this.#of(rid).filter((other) => other !== target);
    if (others.length > 0) this.#targetsByRid.set(rid, others);
    else this.#targetsByRid.delete(rid);
    this.refresh(rid);
  }

  /** A target of that RID has changed (G3). */
  refresh(rid: string): void {
    const ready = this.#of(rid).findLast((target) => target.ready); // G2
    if (ready === undefined) this.#readyByRid.delete(rid);
    else this.#readyByRid.set(rid, ready);
    if (ready === undefined || this.#isLeftOut(ready.link.peer)) this.#selector.remove(rid);
    else this.#selector.put({ id: rid, weight: ready.weight, target: ready.link }); // G1
  }

  /** What discovery knows has changed, of whomever. */
  refreshAll(): void {
    for (const rid of this.#targetsByRid.keys()) this.refresh(rid);
  }

  /** Why a server is not let in, if it must not: it does not serve, and would replace a generation that does (G2). */
  objection(peer: PeerFacts, descriptor: Descriptor): string | undefined {
    if (descriptor.state === DescriptorState.serving) return undefined;
    const current = this.#readyByRid.get(peer.rid)?.link.peer;
    if (current === undefined || current.generation === peer.generation) return undefined;
    return `"${peer.rid}" does not serve, and another generation of it does`;
  }

  #of(rid: string): readonly Target[] {
    return this.#targetsByRid.get(rid) ?? NONE;
  }
}

const NONE: readonly Target[] = [];

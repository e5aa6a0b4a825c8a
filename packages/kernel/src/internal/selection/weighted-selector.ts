/**
 * Chooses the target of each select-one message of one channel path (WRR-001 to WRR-005).
 *
 * Owns the candidate list, the cursor and the accumulators between lists. Leaves to the channel who is a candidate, and
 * that weights are in their range.
 *
 * 1. `next` reads one array and moves one cursor; nothing is sorted, filtered or allocated there. Only when no cycle
 *    was found does it take a step of the procedure, with the same result.
 * 2. The order follows from candidates and accumulators alone, never from the order in which candidates are given.
 * 3. A change falls between two selections: survivors keep the accumulators of the cursor, exactly.
 * 4. The order is searched once per list, by the first choice from it, and a change moves one place of the list: a
 *    thousand peers that come and go cost neither searches nor sorting.
 */

import { compareUtf8 } from '../../identity/index.ts';
import { findRepeatingOrder, type RepeatingOrder } from './repeating-order.ts';
import { RoundRobin } from './round-robin.ts';

export interface Candidate<T> {
  /** NodeRid for a mesh, Server RID for ClientServer. */
  readonly id: string;
  /** Integer 0..10_000; one of weight 0 is no candidate. */
  readonly weight: number;
  readonly target: T;
}

/** How the next choice is found: from the order computed in advance, or by the procedure; `uncharted`: not known yet. */
type Course =
  | { readonly kind: 'empty' }
  | { readonly kind: 'uncharted' }
  | { readonly kind: 'order'; readonly order: RepeatingOrder }
  | { readonly kind: 'procedure'; readonly roundRobin: RoundRobin };

export class WeightedSelector<T> {
  readonly #nowMs: () => number;
  /** In order, as are targets, weights and accumulators. */
  readonly #ids: string[] = [];
  readonly #targets: T[] = [];
  readonly #weights: number[] = [];
  /** Where the course began. */
  readonly #accumulators: number[] = [];
  #course: Course = EMPTY;
  #cursor = 0;
  #rebuilds = 0;

  /** @param nowMs - bounds the search for a cycle; never changes the order */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Candidates. */
  get size(): number {
    return this.#ids.length;
  }

  /** How often the list has changed. */
  get rebuilds(): number {
    return this.#rebuilds;
  }

  /** A new candidate, or a new weight or target of one. @returns whether that changes anything */
  put({ id, weight, target }: Candidate<T>): boolean {
    if (weight === 0) return this.remove(id);
    const at = this.#placeOf(id);
    const isKnown = this.#ids[at] === id;
    if (isKnown && this.#weights[at] === weight && this.#targets[at] === target) return false;
    this.#settle();
    const replacedCount = isKnown ? 1 : 0;
    this.#ids.splice(at, replacedCount, id);
    this.#targets.splice(at, replacedCount, target);
    this.#weights.splice(at, replacedCount, weight);
    if (!isKnown) this.#accumulators.splice(at, 0, 0);
    return true;
  }

  /** @returns whether it was a candidate */
  remove(id: string): boolean {
    const at = this.#placeOf(id);
    if (this.#ids[at] !== id) return false;
    this.#settle();
    this.#ids.splice(at, 1);
    this.#targets.splice(at, 1);
    this.#weights.splice(at, 1);
    this.#accumulators.splice(at, 1);
    return true;
  }

  next(): T | undefined {
    const course = this.#course;
    switch (course.kind) {
      case 'order': {
        const { steps, cycleStart } = course.order;
        const at = this.#cursor;
        this.#cursor = at + 1 === steps.length ? cycleStart : at + 1;
        return this.#targets[steps[at] as number]; // the cursor stays below the length
      }
      case 'procedure':
        return this.#targets[course.roundRobin.next()];
      case 'uncharted':
        this.#course = this.#chart();
        return this.next();
      case 'empty':
        return undefined;
    }
  }

  #chart(): Course {
    if (this.#ids.length === 0) return EMPTY;
    const weights = Float64Array.from(this.#weights);
    const accumulators = Float64Array.from(this.#accumulators);
    const order = findRepeatingOrder(weights, accumulators, this.#nowMs);
    if (order !== undefined) return { kind: 'order', order };
    return { kind: 'procedure', roundRobin: new RoundRobin(weights, accumulators) };
  }

  /** Ends the course: what comes begins with the accumulators of the cursor (3). */
  #settle(): void {
    const course = this.#course;
    if (course.kind === 'procedure') {
      for (const index of this.#ids.keys()) this.#accumulators[index] = course.roundRobin.accumulator(index);
    }
    if (course.kind === 'order') this.#advance(course.order);
    this.#course = UNCHARTED; // 4
    this.#cursor = 0;
    this.#rebuilds++;
  }

  /** A cursor in the cycle stands for the same state in every lap, so the first lap is counted. */
  #advance({ steps }: RepeatingOrder): void {
    const accumulators = this.#accumulators;
    const total = this.#weights.reduce((sum, weight) => sum + weight, 0);
    for (const [index, weight] of this.#weights.entries()) accumulators[index]! += this.#cursor * weight; // both are as long
    for (const chosen of steps.subarray(0, this.#cursor)) accumulators[chosen]! -= total; // an index of a candidate
  }

  /** Where the identifier stands, or would stand. */
  #placeOf(id: string): number {
    let from = 0;
    let below = this.#ids.length;
    while (from < below) {
      const middle = (from + below) >>> 1;
      if (compareUtf8(this.#ids[middle] as string, id) < 0) from = middle + 1;
      else below = middle;
    }
    return from;
  }
}

const EMPTY: Course = { kind: 'empty' };
const UNCHARTED: Course = { kind: 'uncharted' };

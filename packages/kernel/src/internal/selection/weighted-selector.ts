/**
 * Chooses the target of each select-one message of one channel path (WRR-001 to WRR-005).
 *
 * Owns the candidate list, the cursor and the accumulators between lists. Leaves to the channel who is a candidate, and
 * that ids differ and weights are in their range.
 *
 * 1. `next` reads one array and moves one cursor; nothing is sorted, filtered or allocated there. Only when no cycle
 *    was found does it take a step of the procedure, with the same result.
 * 2. The order follows from candidates and accumulators alone, never from the order in which candidates are given.
 * 3. `replace` falls between two selections: survivors keep the accumulators of the cursor, exactly.
 * 4. The order is searched once per list, by the first choice from it: lists that replace each other while a thousand
 *    peers come and go cost no search, and hardly a comparison.
 */

import { compareUtf8 } from '../../identity/index.ts';
import { findRepeatingOrder, type RepeatingOrder } from './repeating-order.ts';
import { RoundRobin } from './round-robin.ts';

export interface Candidate<T> {
  /** NodeRid for a mesh, Server RID for ClientServer; unique in a list. */
  readonly id: string;
  /** Integer 0..10_000; a candidate of weight 0 is left out. */
  readonly weight: number;
  readonly target: T;
}

/** A candidate in the list, with the accumulator that it begins with. */
interface Place<T> {
  readonly candidate: Candidate<T>;
  readonly accumulator: number;
}

/** How the next choice is found: from the order computed in advance, or by the procedure; `uncharted`: not known yet. */
type Course =
  | { readonly kind: 'empty' }
  | { readonly kind: 'uncharted' }
  | { readonly kind: 'order'; readonly order: RepeatingOrder }
  | { readonly kind: 'procedure'; readonly roundRobin: RoundRobin };

export class WeightedSelector<T> {
  readonly #nowMs: () => number;
  #ids: readonly string[] = [];
  #targets: readonly T[] = [];
  #weights = new Float64Array();
  /** Where the course began. */
  #accumulators = new Float64Array();
  #course: Course = { kind: 'empty' };
  #cursor = 0;
  #rebuilds = 0;

  /** @param nowMs - bounds the search for a cycle; never changes the order */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** How often the list was built. */
  get rebuilds(): number {
    return this.#rebuilds;
  }

  replace(candidates: readonly Candidate<T>[]): void {
    const places = this.#placesOf(candidates);
    this.#ids = places.map(({ candidate }) => candidate.id);
    this.#targets = places.map(({ candidate }) => candidate.target);
    this.#weights = Float64Array.from(places, ({ candidate }) => candidate.weight);
    this.#accumulators = Float64Array.from(places, ({ accumulator }) => accumulator);
    this.#course = places.length === 0 ? EMPTY : UNCHARTED; // 4
    this.#cursor = 0;
    this.#rebuilds++;
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
    const order = findRepeatingOrder(this.#weights, this.#accumulators, this.#nowMs);
    if (order !== undefined) return { kind: 'order', order };
    return { kind: 'procedure', roundRobin: new RoundRobin(this.#weights, this.#accumulators) };
  }

  /** In order. Survivors are already, so that one coming or going among a thousand costs few comparisons or none (4). */
  #placesOf(candidates: readonly Candidate<T>[]): Place<T>[] {
    const newcomers = new Map<string, Candidate<T>>();
    for (const candidate of candidates) if (candidate.weight > 0) newcomers.set(candidate.id, candidate);
    const accumulators = this.#accumulatorsAtCursor();
    const places: Place<T>[] = [];
    for (const [index, id] of this.#ids.entries()) {
      const candidate = newcomers.get(id);
      if (candidate === undefined) continue;
      newcomers.delete(id);
      places.push({ candidate, accumulator: accumulators[index] ?? 0 }); // 3
    }
    if (newcomers.size === 0) return places;
    for (const candidate of newcomers.values()) places.push({ candidate, accumulator: 0 });
    return places.sort((a, b) => compareUtf8(a.candidate.id, b.candidate.id));
  }

  /** 3: by index. A cursor in the cycle stands for the same state in every lap, so the first lap is counted. */
  #accumulatorsAtCursor(): Float64Array {
    const course = this.#course;
    if (course.kind === 'procedure') return this.#accumulators.map((_, index) => course.roundRobin.accumulator(index));
    const chosen = new Float64Array(this.#ids.length);
    if (course.kind === 'order') {
      for (const index of course.order.steps.subarray(0, this.#cursor)) chosen[index] = (chosen[index] ?? 0) + 1;
    }
    const total = this.#weights.reduce((sum, weight) => sum + weight, 0);
    return this.#accumulators.map(
      (began, index) => began + this.#cursor * (this.#weights[index] ?? 0) - (chosen[index] ?? 0) * total,
    );
  }
}

const EMPTY: Course = { kind: 'empty' };
const UNCHARTED: Course = { kind: 'uncharted' };

/**
 * The smooth weighted round robin itself, one step per call (WRR-001).
 *
 * Owns the accumulators while steps are taken. Knows indexes only: index order is identifier order, so the smaller
 * index wins a tie. Leaves identifiers, targets and precomputing to its users.
 *
 * 1. A step adds each weight to its accumulator, takes the largest and subtracts the total from it.
 * 2. Candidates of one weight form a group: all of it rises alike, so a heap keeps its largest on top and a step looks
 *    at one candidate per distinct weight.
 * 3. A standing is its accumulator less what the steps since the last fold added; only a chosen one changes.
 * 4. All numbers are integers below 2^53 and therefore exact: 1_000_000 candidates of weight 10_000 sum to 10^10, and
 *    between two folds a standing moves by at most 2^20 × 10_000 plus that sum.
 */

const stepsPerFold = 2 ** 20;

export class RoundRobin {
  readonly #total: number;
  readonly #weights: Float64Array;
  readonly #standings: Float64Array;
  /** Candidate indexes, group after group, each group a heap. */
  readonly #heaps: Uint32Array;
  /** Where each group begins in the heaps, and at last where all end. */
  readonly #starts: Uint32Array;
  #stepsSinceFold = 0;

  /** Copies `accumulators`, which is as long as `weights`; each weight is a positive integer. */
  constructor(weights: Float64Array, accumulators: Float64Array) {
    this.#total = weights.reduce((sum, weight) => sum + weight, 0);
    this.#weights = weights;
    this.#standings = accumulators.slice();
    // What is sorted is a heap.
    const sorted = [...weights.keys()].sort((a, b) => this.#weight(a) - this.#weight(b) || this.#compare(a, b));
    const starts = sorted.flatMap((index, at) => (weights[index] === weights[sorted[at - 1] ?? -1] ? [] : [at]));
    this.#heaps = Uint32Array.from(sorted);
    this.#starts = Uint32Array.of(...starts, weights.length);
  }

  /** Distinct weights: what one step costs. */
  get groupCount(): number {
    return this.#starts.length - 1;
  }

  /** Takes one step and returns the index of the chosen candidate. There must be one. */
  next(): number {
    if (this.#stepsSinceFold === stepsPerFold) this.#fold();
    const steps = ++this.#stepsSinceFold;
    const groupCount = this.groupCount;
    let chosen = 0;
    let chosenGroup = 0;
    let largest = -Infinity;
    for (let group = 0; group < groupCount; group++) {
      const top = this.#heapAt(this.#start(group));
      const accumulator = this.#standing(top) + steps * this.#weight(top);
      if (accumulator < largest || (accumulator === largest && top > chosen)) continue;
      largest = accumulator;
      chosen = top;
      chosenGroup = group;
    }
    this.#standings[chosen] = this.#standing(chosen) - this.#total;
    this.#sinkTop(this.#start(chosenGroup), this.#start(chosenGroup + 1));
    return chosen;
  }

  accumulator(index: number): number {
    return this.#standing(index) + this.#stepsSinceFold * this.#weight(index);
  }

  /** 4: standings move ever further from 0, accumulators do not. A group moves as a whole, so heaps stay heaps. */
  #fold(): void {
    for (const index of this.#standings.keys()) this.#standings[index] = this.accumulator(index);
    this.#stepsSinceFold = 0;
  }

  /** Moves the top of the heap in [start, end) down to its place. */
  #sinkTop(start: number, end: number): void {
    const heaps = this.#heaps;
    const sinking = this.#heapAt(start);
    let hole = start;
    for (;;) {
      let child = start + 2 * (hole - start) + 1;
      if (child >= end) break;
      if (child + 1 < end && this.#compare(this.#heapAt(child + 1), this.#heapAt(child)) < 0) child++;
      if (this.#compare(sinking, this.#heapAt(child)) < 0) break;
      heaps[hole] = this.#heapAt(child);
      hole = child;
    }
    heaps[hole] = sinking;
  }

  /** Negative if, within one group, `a` is chosen before `b`. */
  #compare(a: number, b: number): number {
    return this.#standing(b) - this.#standing(a) || a - b;
  }

  // Indexes come from the lengths of the arrays themselves, so none of these reads misses.

  #weight(index: number): number {
    return this.#weights[index] as number;
  }

  #standing(index: number): number {
    return this.#standings[index] as number;
  }

  #heapAt(at: number): number {
    return this.#heaps[at] as number;
  }

  #start(group: number): number {
    return this.#starts[group] as number;
  }
}

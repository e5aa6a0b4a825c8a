/**
 * The order of a round robin computed in advance: a prefix, then a cycle (WRR-003).
 *
 * Owns the search for a repeated state. Leaves taking the steps to round-robin.ts and the cursor to
 * weighted-selector.ts.
 *
 * 1. Two states are equal if and only if between them every candidate was chosen in exact proportion to its weight. So
 *    they lie a multiple of total ÷ gcd apart, and the search counts choices in a window of that length instead of
 *    keeping states: one addition and one removal per step, and the comparison is exact.
 * 2. Nothing is assumed about where the cycle begins: the window slides from the first step on, past any prefix. If a
 *    state repeats only after several window lengths, the search ends at its bounds and the caller goes on step by
 *    step.
 * 3. A cycle contains each candidate, so an index never exceeds the number of steps and fits in 16 bits.
 */

import { RoundRobin } from './round-robin.ts';

const maxSteps = 65_536;
const maxSearchMs = 5;
const workPerClockRead = 4_096;

export interface RepeatingOrder {
  /** Candidate indexes: the prefix, then one cycle. */
  readonly steps: Uint16Array;
  /** Where the cycle begins, and where the cursor returns to after the last step. */
  readonly cycleStart: number;
}

/** `undefined` if no state repeats within 65_536 steps and 5 ms. */
export function findRepeatingOrder(
  weights: Float64Array,
  accumulators: Float64Array,
  nowMs: () => number,
): RepeatingOrder | undefined {
  const divisor = weights.reduce(greatestCommonDivisor, 0);
  const windowLength = weights.reduce((sum, weight) => sum + weight, 0) / divisor;
  if (windowLength > maxSteps) return undefined; // 1: no two equal states lie within the bound
  const giveUpAtMs = nowMs() + maxSearchMs;
  const roundRobin = new RoundRobin(weights, accumulators);
  const stepsPerClockRead = Math.ceil(workPerClockRead / roundRobin.groupCount);
  const window = new ProportionWindow(weights, divisor);
  const steps = new Uint16Array(maxSteps);
  for (let step = 0; step < maxSteps; step++) {
    if (step % stepsPerClockRead === 0 && nowMs() >= giveUpAtMs) return undefined;
    const chosen = roundRobin.next();
    steps[step] = chosen;
    window.enter(chosen);
    if (step >= windowLength) window.leave(steps[step - windowLength] as number); // a step that was taken
    const end = step + 1;
    if (window.isProportional()) return { steps: steps.slice(0, end), cycleStart: end - windowLength };
  }
  return undefined;
}

/** Counts choices in a window and knows whether all of them are in proportion. */
class ProportionWindow {
  /** Choices that are missing for proportion; negative if there are too many. */
  readonly #missing: Float64Array;
  #uneven: number;

  constructor(weights: Float64Array, divisor: number) {
    this.#missing = weights.map((weight) => weight / divisor);
    this.#uneven = weights.length;
  }

  isProportional(): boolean {
    return this.#uneven === 0;
  }

  enter(index: number): void {
    this.#add(index, -1);
  }

  leave(index: number): void {
    this.#add(index, 1);
  }

  #add(index: number, change: number): void {
    const before = this.#missing[index] as number; // an index of a candidate
    const after = before + change;
    this.#missing[index] = after;
    if (before === 0) this.#uneven++;
    else if (after === 0) this.#uneven--;
  }
}

function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}

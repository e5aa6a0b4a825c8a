/**
 * How long to wait before the next attempt.
 *
 * Owns the growth and the jitter. Leaves the timer and what is attempted to its user.
 *
 * 1. Steps double from the first to the largest and stay there until `reset`.
 * 2. Each delay lies in [half a step, one step]: peers that failed together do not come back together.
 */

import type { RandomSource } from './clock.ts';

export class Backoff {
  readonly #random: RandomSource;
  readonly #firstMs: number;
  readonly #maxMs: number;
  #stepMs: number;

  constructor(random: RandomSource, firstMs = 100, maxMs = 5_000) {
    this.#random = random;
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#stepMs = firstMs;
  }

  /** The delay in milliseconds before the next attempt. */
  next(): number {
    const stepMs = this.#stepMs;
    this.#stepMs = Math.min(stepMs * 2, this.#maxMs);
    return stepMs * (0.5 + 0.5 * this.#random());
  }

  /** After a success the next failure starts small again. */
  reset(): void {
    this.#stepMs = this.#firstMs;
  }
}

/**
 * The way back of the job permits that one owner was given.
 *
 * Owns that permits which are returned within each other's callbacks go back one after the other, not in depth: a returned
 * permit may bring the next record, whose end returns the next permit, thousands of times. Leaves counting to the permits
 * of the host, and when a job gives its own back to the dispatcher.
 *
 * 1. Every permit goes back exactly once (JOBQ-004).
 */
import type { JobPermits } from '../internal/execution/index.ts';

export class PermitReturn {
  readonly #permits: JobPermits;
  readonly #onReturned: () => void;
  #isBusy = false;
  #owed = 0;

  /** @param onReturned - all have gone back, and what they brought is here */
  constructor(permits: JobPermits, onReturned: () => void) {
    this.#permits = permits;
    this.#onReturned = onReturned;
  }

  /** Whether a permit is going back right now: whoever asks was called by its next holder. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  giveBack(): void {
    this.#owed++;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#owed > 0) {
      this.#owed--;
      this.#permits.release();
    }
    this.#isBusy = false;
    this.#onReturned();
  }
}

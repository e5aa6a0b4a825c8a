/**
 * How long one owner may go on starting jobs before the rest of the process gets its turn (JOBQ-007).
 *
 * Owns the two limits and the hop to the next turn of the event loop. Leaves the jobs to the dispatcher.
 *
 * 1. A turn begins with its first job and ends with the hop that this job ordered: no hop while there is no work.
 * 2. The limits are looked at between jobs; a job that runs long is not interrupted.
 */

/** A batch of small messages fits into one turn: what does not must be kept and waits for a permit (measured: 20 to 40 %). */
export const jobsPerTurn = 4_096;
const turnMs = 4;

/** Calls back in a later turn of the event loop, after I/O and timers had theirs. */
export type NextTurn = (callback: () => void) => void;

export class TurnBudget {
  readonly #nextTurn: NextTurn;
  readonly #onTurn: () => void;
  #open = false;
  #startedAtMs = 0;
  #jobs = 0;

  /** @param onTurn - a new turn has begun: jobs may start again */
  constructor(nextTurn: NextTurn, onTurn: () => void) {
    this.#nextTurn = nextTurn;
    this.#onTurn = onTurn;
  }

  /** Whether another job may start in this turn. */
  allows(nowMs: number): boolean {
    return !this.#open || (this.#jobs < jobsPerTurn && nowMs - this.#startedAtMs < turnMs);
  }

  /** A job starts. */
  count(nowMs: number): void {
    if (!this.#open) {
      this.#open = true;
      this.#startedAtMs = nowMs;
      this.#jobs = 0;
      this.#nextTurn(this.#hop);
    }
    this.#jobs++;
  }

  readonly #hop = (): void => {
    this.#open = false;
    this.#onTurn();
  };
}

/**
 * Keeps the index of records free of those that have expired.
 *
 * Owns when and where it looks. Leaves the index itself to the store.
 *
 * 1. Redis drops an expired record by itself, its line in the index it cannot. Scans drop what they meet; this reaches the
 *    prefixes that nobody scans.
 * 2. It looks at four lines for each record with expiry that was written, so that dead lines stay a fraction of all.
 */

const WRITES_PER_STEP = 64;
const LINES_PER_STEP = 4 * WRITES_PER_STEP;

/** Drops what has expired among `count` lines behind `after`; the last line it looked at, or undefined at the end. */
export type SweepStep = (after: string | undefined, count: number) => Promise<string | undefined>;

export class IndexSweep {
  readonly #step: SweepStep;
  #writes = 0;
  #after: string | undefined;
  #runs = false;

  constructor(step: SweepStep) {
    this.#step = step;
  }

  /** `count` records with expiry were written. */
  note(count: number): void {
    this.#writes += count;
    if (this.#writes < WRITES_PER_STEP || this.#runs) return;
    this.#writes -= WRITES_PER_STEP;
    this.#runs = true;
    void this.#sweep();
  }

  async #sweep(): Promise<void> {
    try {
      this.#after = await this.#step(this.#after, LINES_PER_STEP);
    } catch {
      // The store is away; whoever uses it is told. The next step looks at the same lines.
    } finally {
      this.#runs = false;
    }
  }
}

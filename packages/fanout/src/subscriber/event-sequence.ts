/**
 * Which events of one publisher came, and how many did not.
 *
 * Owns the numbers. Leaves to the intent what becomes of a publisher that counts backwards.
 *
 * 1. Numbers rise by one per event within a run; what is missing between two that came was lost (FAN-004).
 * 2. What came before the first one of a run that was received is no loss, nor is anything between two runs.
 * 3. A connection keeps its order, so a number that does not rise is no event of that publisher.
 */

export class EventSequence {
  #generation = 0n;
  #first: number | undefined;
  #last = 0;
  #missed = 0;

  get missedEvents(): number {
    return this.#missed;
  }

  /** Number of the first event that came of the current run. */
  get firstEvent(): number | undefined {
    return this.#first;
  }

  /** @returns false: its number does not rise (3) */
  take(generation: bigint, sequence: number): boolean {
    if (this.#first === undefined || generation !== this.#generation) {
      this.#generation = generation; // 2
      this.#first = sequence;
    } else if (sequence <= this.#last) {
      return false;
    } else {
      const missed = this.#missed + (sequence - this.#last - 1);
      this.#missed = Math.min(missed, Number.MAX_SAFE_INTEGER); // a publisher may claim any number
    }
    this.#last = sequence;
    return true;
  }
}

/**
 * Records of one sort that wait, oldest first, each with its place among all that wait.
 *
 * 1. A step costs the same however many wait; room that became free is given back now and then.
 */

/** At most so many places before the oldest one are free. */
const FREE_LIMIT = 4_096;

export class RecordLane<T> {
  /** `[#head…]` wait. */
  #waiting: T[] = [];
  #places: number[] = [];
  #head = 0;

  get count(): number {
    return this.#waiting.length - this.#head;
  }

  /** Of the oldest; none: behind all others. */
  get firstPlace(): number {
    return this.#places[this.#head] ?? Infinity;
  }

  /** @param place - behind all before it */
  add(entry: T, place: number): void {
    this.#waiting.push(entry);
    this.#places.push(place);
  }

  /** There is one. */
  takeOldest(): T {
    const entry = this.#waiting[this.#head++]!;
    if (this.#head >= FREE_LIMIT || this.count === 0) this.#trim();
    return entry;
  }

  /** There is one. */
  removeLatest(): void {
    this.#waiting.pop();
    this.#places.pop();
  }

  clear(): void {
    this.#head = this.#waiting.length;
    this.#trim();
  }

  #trim(): void {
    this.#waiting = this.#waiting.slice(this.#head);
    this.#places = this.#places.slice(this.#head);
    this.#head = 0;
  }
}

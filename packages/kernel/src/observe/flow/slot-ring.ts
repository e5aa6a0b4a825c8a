/**
 * What waits, oldest first, in slots that are used again.
 *
 * Owns the slots and their order. Leaves what a slot holds to its class.
 *
 * 1. What waits outlives collections, each of which would copy new objects: used again, slots cost half as much (measured).
 * 2. Whatever waited, an emptied ring begins with its first slots again: who tells little uses few.
 */

interface Slot {
  /** Among all that wait, in whatever ring. */
  readonly order: number;
  /** Keeps nothing alive that was of one message alone. */
  release(): void;
}

export class SlotRing<T extends Slot> {
  readonly #limit: number;
  readonly #make: () => T;
  readonly #slots: T[] = [];
  #head = 0;
  #count = 0;

  /** @param limit - so many wait at most; at least 1 */
  constructor(limit: number, make: () => T) {
    this.#limit = limit;
    this.#make = make;
  }

  get count(): number {
    return this.#count;
  }

  /** Of the oldest; none: behind all others. */
  get firstOrder(): number {
    return this.#count === 0 ? Infinity : this.#slots[this.#head]!.order;
  }

  /** The slot behind the latest one, to be filled at once. There is room. */
  claim(): T {
    const at = this.#at(this.#count++);
    return (this.#slots[at] ??= this.#make());
  }

  /** To be released before the next one is claimed. There is one. */
  takeOldest(): T {
    const slot = this.#slots[this.#head]!;
    this.#count--;
    this.#head = this.#count === 0 ? 0 : this.#at(1); // 2
    return slot;
  }

  /** There is one. */
  removeLatest(): void {
    this.#slots[this.#at(--this.#count)]!.release();
    if (this.#count === 0) this.#head = 0; // 2
  }

  clear(): void {
    while (this.#count > 0) this.removeLatest();
  }

  #at(offset: number): number {
    const at = this.#head + offset;
    return at < this.#limit ? at : at - this.#limit;
  }
}

/**
 * Requests that wait for their reply, by correlation id (WIRE-005).
 *
 * Owns the ids of one link and the way from an id to its entry. Leaves deadlines to the deadline wheel and the outcome
 * to the entry.
 *
 * 1. Ids rise from 1 to 2^32 - 1 and begin again at 1; only ids still pending are passed over. So a late reply finds no
 *    later request before the whole range was used.
 * 2. An entry leaves exactly once: by `take`, `remove` or `drain`. It keeps its id, to be named in a record.
 * 3. Ids are given in order, so the last bits of an id choose its place in a ring. The few whose place is still taken
 *    by a request from an earlier lap go to a map; nothing else allocates but growing and draining.
 */

import { ZLinkError } from '../../errors/index.ts';

export interface PendingEntry {
  /** Written by `add`, not to be changed while the entry is pending. */
  correlation: number;
}

const firstRingLength = 128; // a power of two, as all later ones

/** The ids of a table, both ends included; more than it may hold. */
export interface CorrelationRange {
  readonly first: number;
  readonly last: number;
}

const wholeRange: CorrelationRange = Object.freeze({ first: 1, last: 0xffff_ffff });

export class PendingTable<T extends PendingEntry> {
  readonly #maxSize: number;
  readonly #range: CorrelationRange;
  readonly #displaced = new Map<number, T>();
  #ring: (T | undefined)[] = emptyRing(firstRingLength);
  #size = 0;
  #next: number;

  /** @param range - a small one lets a test come round */
  constructor(maxSize: number, range = wholeRange) {
    this.#maxSize = maxSize;
    this.#range = range;
    this.#next = range.first;
  }

  get size(): number {
    return this.#size;
  }

  /** The id that the next `add` gives, so that a record can be written before it is admitted; 0 when full. */
  peekCorrelation(): number {
    if (this.#size >= this.#maxSize) return 0;
    while (this.#find(this.#next) !== undefined) this.#next = this.#successor(this.#next); // ends: not all are pending
    return this.#next;
  }

  /** Gives the entry the id that `peekCorrelation` tells, which the caller has found not to be 0. */
  add(entry: T): void {
    // Under two ids it would end twice (2).
    if (this.#has(entry)) throw new ZLinkError('InternalFailure', `request ${entry.correlation} is pending already`);
    const correlation = this.peekCorrelation();
    this.#next = this.#successor(correlation);
    entry.correlation = correlation;
    if (this.#size * 2 >= this.#ring.length) this.#grow();
    this.#put(entry);
    this.#size++;
  }

  /** The entry with this id, which then is no longer pending; `undefined` for an unknown or late one. */
  take(correlation: number): T | undefined {
    const entry = this.#find(correlation);
    if (entry === undefined) return undefined;
    const place = placeOf(correlation, this.#ring);
    if (this.#ring[place] === entry) this.#ring[place] = undefined;
    else this.#displaced.delete(correlation);
    this.#size--;
    return entry;
  }

  /** True if the entry was pending here. */
  remove(entry: T): boolean {
    return this.#has(entry) && this.take(entry.correlation) === entry;
  }

  /**
   * Empties the table, then visits what was in it, oldest first. What `visit` adds stays in the table.
   *
   * A `visit` that throws does not keep the others from their turn; the first error is thrown at the end.
   */
  drain(visit: (entry: T) => void): void {
    const entries = this.#all();
    const age = (entry: T): number => (entry.correlation - this.#next) >>> 0; // right across the wrap, too
    entries.sort((a, b) => age(a) - age(b));
    this.#ring = emptyRing(firstRingLength);
    this.#displaced.clear();
    this.#size = 0;
    const errors: unknown[] = [];
    for (const entry of entries) {
      try {
        visit(entry);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  #find(correlation: number): T | undefined {
    const entry = this.#ring[placeOf(correlation, this.#ring)];
    if (entry !== undefined && entry.correlation === correlation) return entry;
    return this.#displaced.size === 0 ? undefined : this.#displaced.get(correlation);
  }

  #successor(correlation: number): number {
    return correlation === this.#range.last ? this.#range.first : correlation + 1;
  }

  #has(entry: T): boolean {
    return this.#find(entry.correlation) === entry;
  }

  #put(entry: T): void {
    const place = placeOf(entry.correlation, this.#ring);
    if (this.#ring[place] === undefined) this.#ring[place] = entry;
    else this.#displaced.set(entry.correlation, entry);
  }

  #grow(): void {
    const entries = this.#all();
    this.#ring = emptyRing(this.#ring.length * 2);
    this.#displaced.clear();
    for (const entry of entries) this.#put(entry);
  }

  #all(): T[] {
    return [...this.#ring.filter((entry) => entry !== undefined), ...this.#displaced.values()];
  }
}

function emptyRing<T>(length: number): (T | undefined)[] {
  return new Array<T | undefined>(length).fill(undefined);
}

function placeOf(correlation: number, ring: readonly unknown[]): number {
  return correlation & (ring.length - 1);
}

/**
 * What one observer of snapshots has not seen yet: one slot (MON-010).
 *
 * 1. Not a snapshot waits in it but that there is a new one: it is made when it is taken, so that nobody works for an observer
 *    that does not read, and what is taken is never old. Those that it stands for are counted as coalesced.
 */
import { plusLost } from './loss-count.ts';
import type { ItemQueue } from './observer.ts';
import type { RuntimeSnapshot } from './snapshot.ts';

export interface ObservedSnapshot {
  /** Frozen; others who observe may have the same one. */
  readonly snapshot: RuntimeSnapshot;
  /** Changes of this iteration so far without a snapshot: it was not read in time, or too early for another one. */
  readonly loss: { readonly coalesced: bigint };
}

export class SnapshotSlot implements ItemQueue<ObservedSnapshot> {
  readonly #snapshot: () => RuntimeSnapshot | undefined;
  /** Turns in which something has changed since the last one was taken. An iteration begins with the current snapshot. */
  #waiting = 1n;
  #coalesced: bigint;

  /**
   * @param snapshot - the current one; undefined: not yet
   * @param coalesced - of before, for tests of what is counted in years
   */
  constructor(snapshot: () => RuntimeSnapshot | undefined, coalesced = 0n) {
    this.#snapshot = snapshot;
    this.#coalesced = coalesced;
  }

  /** Whether an earlier one is lost for it. */
  add(): boolean {
    const isTaken = this.#waiting > 0n;
    this.#waiting = plusLost(this.#waiting);
    return isTaken;
  }

  take(): ObservedSnapshot | undefined {
    if (this.#waiting === 0n) return undefined;
    const snapshot = this.#snapshot(); // 1
    if (snapshot === undefined) return undefined;
    this.#coalesced = plusLost(this.#coalesced, this.#waiting - 1n);
    this.#waiting = 0n;
    return Object.freeze({ snapshot, loss: Object.freeze({ coalesced: this.#coalesced }) });
  }
}

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
  readonly snapshot: RuntimeSnapshot;
  /** Snapshots of this iteration that were replaced by newer ones so far, as they were not read in time. */
  readonly loss: { readonly coalesced: bigint };
}

export class SnapshotSlot implements ItemQueue<ObservedSnapshot> {
  readonly #snapshot: () => RuntimeSnapshot;
  /** Turns in which something has changed since the last one was taken. An iteration begins with the current snapshot. */
  #waiting = 1n;
  #coalesced: bigint;

  /** @param coalesced - of before, for tests of what is counted in years */
  constructor(snapshot: () => RuntimeSnapshot, coalesced = 0n) {
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
    this.#coalesced = plusLost(this.#coalesced, this.#waiting - 1n);
    this.#waiting = 0n;
    return Object.freeze({ snapshot: this.#snapshot(), loss: Object.freeze({ coalesced: this.#coalesced }) }); // 1
  }
}

/**
 * Which of the owners that were seen live, by their leases.
 *
 * Owns the regular reading of leases and when an absence is believed. Leaves what an absence ends to who asks.
 *
 * 1. An owner counts as present until a read that can be believed found its lease absent.
 * 2. After an outage or a disruption nobody becomes absent before a read finds the lease absent that began when there had been
 *    time to resume (LOC-065). While the store is degraded nobody does either: one that answers reads may still take no
 *    renewals. Who was absent before an outage stays so until its lease is seen again; a disruption takes absences back,
 *    for they may be what the store has lost.
 * 3. A failed read changes nothing, and neither does one that began before the last that counted.
 */
import { leaseKey, maxReadKeys } from '../../location/index.ts';
import type { Clock, TimerHandle } from '../time/index.ts';
import type { LocationTiming } from './location-timing.ts';
import type { StoreCalls } from './store-calls.ts';

export interface LeaseViewOptions {
  readonly calls: StoreCalls;
  readonly timing: LocationTiming;
  readonly clock: Clock;
}

interface Presence {
  /** When the read began. */
  readonly readAtMs: number;
  /** Undefined while it counts as present. */
  readonly absentSinceMs: number | undefined;
}

type Timing = Pick<LocationTiming, 'ownerLeaseRenewIntervalMs' | 'ownerLeaseRenewTimeoutMs'>;

export class LeaseView {
  readonly #calls: StoreCalls;
  readonly #timing: Timing;
  readonly #clock: Clock;
  readonly #listeners: (() => void)[] = [];
  readonly #owners = new Map<string, Presence>();
  /** Aborts at the end. */
  readonly #life = new AbortController();
  #timer: TimerHandle | undefined;

  constructor(options: LeaseViewOptions) {
    this.#calls = options.calls;
    this.#timing = options.timing;
    this.#clock = options.clock;
    this.#calls.onDisruption(() => this.#forgetAbsences());
  }

  /** @param listener - some owner counts as present or absent and did not before; must not throw */
  onChanged(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Begins to read regularly. */
  start(): void {
    this.#readAfter(this.#timing.ownerLeaseRenewIntervalMs);
  }

  /** For good. */
  stop(): void {
    this.#life.abort();
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Reads the leases of those that it does not know yet.
   *
   * @throws StoreError
   */
  async learn(ownerIds: Iterable<string>): Promise<void> {
    const unknown = [...new Set(ownerIds)].filter((ownerId) => !this.#owners.has(ownerId));
    await this.#read(unknown, this.#calls.unjudged); // part of the reading of a whole topology
  }

  /** Forgets all others. */
  retain(ownerIds: ReadonlySet<string>): void {
    for (const ownerId of this.#owners.keys()) if (!ownerIds.has(ownerId)) this.#owners.delete(ownerId);
  }

  /** Also true for an owner of whom nothing is known. */
  isPresent(ownerId: string): boolean {
    return this.absentSinceMs(ownerId) === undefined;
  }

  /** Since when the absence is believed, by the clock; undefined while the owner counts as present. */
  absentSinceMs(ownerId: string): number | undefined {
    return this.#owners.get(ownerId)?.absentSinceMs;
  }

  #readAfter(delayMs: number): void {
    if (this.#life.signal.aborted) return;
    this.#timer = this.#clock.setBackgroundTimer(() => void this.#readKnown(), Math.max(delayMs, 0));
  }

  async #readKnown(): Promise<void> {
    const startedAtMs = this.#clock.nowMs();
    const known = [...this.#owners.keys()];
    await this.#read(known, this.#calls, (ownerId) => this.#owners.has(ownerId)).catch(() => {}); // 3
    this.#readAfter(startedAtMs + this.#timing.ownerLeaseRenewIntervalMs - this.#clock.nowMs());
  }

  /** @param isWanted - asked when the answer is there */
  async #read(
    ownerIds: readonly string[],
    calls: Pick<StoreCalls, 'read'>,
    isWanted = (_ownerId: string): boolean => true,
  ): Promise<void> {
    for (let at = 0; at < ownerIds.length; at += maxReadKeys) {
      const chunk = ownerIds.slice(at, at + maxReadKeys);
      const readAtMs = this.#clock.nowMs();
      const { records } = await calls.read({ records: chunk.map(leaseKey) }, this.#life.signal);
      let isChanged = false;
      chunk.forEach((ownerId, index) => {
        if (isWanted(ownerId) && this.#note(ownerId, records[index] !== undefined, readAtMs)) isChanged = true;
      });
      if (isChanged) this.#tell();
    }
  }

  /** @returns whether somebody who was known counts otherwise now */
  #note(ownerId: string, isPresent: boolean, readAtMs: number): boolean {
    const before = this.#owners.get(ownerId);
    if (before !== undefined && before.readAtMs > readAtMs) return false; // 3
    let absentSinceMs = isPresent ? undefined : before?.absentSinceMs;
    if (!isPresent && readAtMs >= this.#believedFromMs()) absentSinceMs ??= this.#clock.nowMs();
    this.#owners.set(ownerId, { readAtMs, absentSinceMs });
    return before !== undefined && before.absentSinceMs !== absentSinceMs;
  }

  /** What began before this may find a lease absent whose run lives and has had no time to resume (2). */
  #believedFromMs(): number {
    const { recoveredAtMs, problem } = this.#calls;
    if (problem !== undefined) return Infinity;
    if (recoveredAtMs === undefined) return -Infinity;
    return recoveredAtMs + this.#timing.ownerLeaseRenewIntervalMs + this.#timing.ownerLeaseRenewTimeoutMs;
  }

  #forgetAbsences(): void {
    let isChanged = false;
    for (const [ownerId, { readAtMs, absentSinceMs }] of this.#owners) {
      if (absentSinceMs === undefined) continue;
      this.#owners.set(ownerId, { readAtMs, absentSinceMs: undefined }); // 2
      isChanged = true;
    }
    if (isChanged) this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

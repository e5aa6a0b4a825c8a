/**
 * How much of a host's time goes into snapshots for its observers: a twentieth at most, however much changes.
 *
 * Owns the account of that time. Leaves to the board who gets what was made.
 *
 * 1. After a snapshot that took t ms, 20 t ms go by for it. So much of it as comes together now and then is put up with at
 *    once: who observes a small host, which makes a snapshot in no time, notices nothing.
 */
import type { Clock } from '../../internal/time/index.ts';

/** 1 */
const SHARE = 20;
const AT_ONCE_MS = 50;

export class SnapshotPace {
  readonly #clock: Clock;
  /** When the time that was spent will have become a twentieth. */
  #evenAtMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long until the next one may be made; 0: it may be made now. */
  get waitMs(): number {
    return Math.max(0, this.#evenAtMs - SHARE * AT_ONCE_MS - this.#clock.nowMs());
  }

  /** Makes one, and counts the time it takes. */
  count<T>(make: () => T): T {
    const beganAtMs = this.#clock.nowMs();
    const made = make();
    const endedAtMs = this.#clock.nowMs();
    this.#evenAtMs = Math.max(this.#evenAtMs, endedAtMs) + SHARE * (endedAtMs - beganAtMs);
    return made;
  }
}

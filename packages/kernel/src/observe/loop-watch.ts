/**
 * Notices when the event loop has stood still (C16).
 *
 * Owns one recurring timer, as no deadline need be pending while the loop is blocked. Leaves to its listener what to say
 * about it.
 *
 * 1. A stall of `stallMs + checkEveryMs` or longer is reported, once; none shorter than `stallMs` is.
 * 2. After `stop` no timer is left.
 */
import type { Clock, TimerHandle } from '../internal/time/index.ts';

const checkEveryMs = 500;
const stallMs = 1_000;

export class LoopWatch {
  readonly #clock: Clock;
  readonly #onStall: (stalledMs: number) => void;
  #dueAtMs = 0;
  #timer: TimerHandle | undefined;

  /** @param onStall - told for how long; must not throw */
  constructor(clock: Clock, onStall: (stalledMs: number) => void) {
    this.#clock = clock;
    this.#onStall = onStall;
    this.#arm();
  }

  stop(): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined; // 2
  }

  #arm(): void {
    this.#dueAtMs = this.#clock.nowMs() + checkEveryMs;
    this.#timer = this.#clock.setTimer(() => this.#check(), checkEveryMs);
  }

  #check(): void {
    const lateMs = this.#clock.nowMs() - this.#dueAtMs;
    this.#arm();
    if (lateMs >= stallMs) this.#onStall(lateMs);
  }
}

/** Wakes its owner when what it holds back has become due; one timer at a time. */
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';

export class DueAlarm {
  readonly #clock: Clock;
  readonly #wake: () => void;
  #timer: TimerHandle | undefined;

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  /** False: it wakes then, unless it is already to wake for something earlier. */
  isDue(dueAtMs: number): boolean {
    const waitMs = dueAtMs - this.#clock.nowMs();
    if (waitMs <= 0) return true;
    this.#timer ??= this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#wake();
    }, waitMs);
    return false;
  }

  cancel(): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * The time of one host of a test cluster: the cluster's, but its timers stand still while the host is frozen.
 *
 * Owns the timers of the host, so that it can be told how many are left. Leaves time to the clock of the cluster.
 *
 * C1 A timer that falls due while the host is frozen fires when it is thawed, in order: late, as after a SIGCONT.
 * C2 Time itself goes on while the host is frozen.
 */
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';

interface HostTimer {
  readonly callback: () => void;
  readonly isBackground: boolean;
  handle: TimerHandle | undefined;
}

export class HostClock implements Clock {
  readonly #clock: Clock;
  readonly #timers = new Set<HostTimer>();
  /** Due while frozen, oldest first. */
  #held: HostTimer[] = [];
  #isFrozen = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Background ones not counted. */
  get pendingTimers(): number {
    return [...this.#timers].filter(({ isBackground }) => !isBackground).length;
  }

  nowMs(): number {
    return this.#clock.nowMs();
  }

  setTimer(callback: () => void, delayMs: number): TimerHandle {
    return this.#set(callback, delayMs, false);
  }

  setBackgroundTimer(callback: () => void, delayMs: number): TimerHandle {
    return this.#set(callback, delayMs, true);
  }

  clearTimer(handle: TimerHandle): void {
    const timer = handle as HostTimer; // a foreign handle is simply not found
    if (this.#timers.delete(timer) && timer.handle !== undefined) this.#clock.clearTimer(timer.handle);
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    const held = this.#held;
    this.#held = [];
    for (const timer of held) this.#fire(timer); // C1
  }

  /** For who has leaked them. */
  clear(): void {
    for (const timer of [...this.#timers]) this.clearTimer(timer);
  }

  #set(callback: () => void, delayMs: number, isBackground: boolean): TimerHandle {
    const timer: HostTimer = { callback, isBackground, handle: undefined };
    const onDue = (): void => this.#fire(timer);
    timer.handle = isBackground ? this.#clock.setBackgroundTimer(onDue, delayMs) : this.#clock.setTimer(onDue, delayMs);
    this.#timers.add(timer);
    return timer;
  }

  #fire(timer: HostTimer): void {
    if (!this.#timers.has(timer)) return; // cleared while it was held
    if (this.#isFrozen) {
      this.#held.push(timer);
      return;
    }
    this.#timers.delete(timer);
    timer.callback();
  }
}

/**
 * A clock that moves only when a test says so.
 *
 * Owns the time and the timers of whoever was given this clock. Leaves the event loop alone: what hangs on real I/O or
 * on `setImmediate` runs by itself; `advanceAsync` gives it turns.
 *
 * M1 Timers fire in the order of their due time; of equal ones the earlier set fires first.
 * M2 A timer is due at least 1 ms after it was set, as with the timers of the platform, so every advance ends.
 * M3 While a timer fires, `nowMs()` is its due time, or later after a `stall`.
 */
import { describeValue } from '@zlink/kernel/errors';
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';
import { loopTurns } from './loop-turns.ts';

/** Longer delays overflow in the platform's timers and fire at once; a test shall notice. */
const LONGEST_DELAY_MS = 2_147_483_647;

/** Ten years. Who wants more has mistaken the unit, and would wait for all the heartbeats of it. */
const LONGEST_STEP_MS = 315_576_000_000;

/** What the calendar shows when the clock is made. */
const START_DATE_MS = Date.UTC(2030, 0, 1);

/** Turns of the event loop between two firings: enough for a request and its reply over the memory engine. */
const TURNS_PER_FIRING = 8;

interface ManualTimer {
  readonly dueAtMs: number;
  readonly callback: () => void;
  /** Nothing waits for it. */
  readonly isBackground: boolean;
}

export class ManualClock implements Clock {
  readonly #timers: ManualTimer[] = [];
  readonly #startAtMs: number;
  #nowMs: number;

  constructor(startAtMs = 1_000) {
    if (!Number.isFinite(startAtMs)) throw new RangeError(`time cannot start at ${describeValue(startAtMs)} ms`);
    this.#startAtMs = startAtMs;
    this.#nowMs = startAtMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  /** The calendar time: 2030-01-01T00:00:00Z at first, and moves with the clock. Whole ms, as everywhere on a calendar. */
  dateMs(): number {
    return START_DATE_MS + Math.floor(this.#nowMs - this.#startAtMs);
  }

  /** How many timers wait, background ones not counted: 0 when everything that used this clock has ended. */
  get pendingTimers(): number {
    return this.#timers.length - this.pendingBackgroundTimers;
  }

  get pendingBackgroundTimers(): number {
    return this.#timers.filter(({ isBackground }) => isBackground).length;
  }

  /** When the next timer is due; undefined without timers. */
  get nextDueAtMs(): number | undefined {
    return this.#timers[0]?.dueAtMs;
  }

  setTimer(callback: () => void, delayMs: number): TimerHandle {
    return this.#set(callback, delayMs, false);
  }

  setBackgroundTimer(callback: () => void, delayMs: number): TimerHandle {
    return this.#set(callback, delayMs, true);
  }

  clearTimer(handle: TimerHandle): void {
    const at = this.#timers.indexOf(handle as ManualTimer); // a foreign handle is simply not found
    if (at >= 0) this.#timers.splice(at, 1);
  }

  /**
   * Moves time forward; timers that fall due fire, those that they set included.
   * @param ms - 0..315_576_000_000, ten years
   * @throws RangeError for anything else
   */
  advance(ms: number): void {
    const untilMs = this.#target(ms);
    while (this.#fireNext(untilMs));
    this.#reach(untilMs);
  }

  /** Like `advance`, but lets promises, `setImmediate` callbacks and I/O run before and after each firing. */
  async advanceAsync(ms: number): Promise<void> {
    const untilMs = this.#target(ms);
    await loopTurns(TURNS_PER_FIRING);
    while (this.#fireNext(untilMs)) await loopTurns(TURNS_PER_FIRING);
    this.#reach(untilMs);
    await loopTurns(TURNS_PER_FIRING);
  }

  /** Time passes and no timer fires: the event loop was blocked. What fell due fires late, at the next advance. */
  stall(ms: number): void {
    this.#nowMs = this.#target(ms);
  }

  #set(callback: () => void, delayMs: number, isBackground: boolean): TimerHandle {
    if (!isUpTo(LONGEST_DELAY_MS, delayMs))
      throw new RangeError(`a timer of ${describeValue(delayMs)} ms is out of range`);
    const timer: ManualTimer = { dueAtMs: this.#nowMs + Math.max(1, delayMs), callback, isBackground }; // M2
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1] as ManualTimer).dueAtMs > timer.dueAtMs) at--; // M1; `at - 1` is in range
    this.#timers.splice(at, 0, timer);
    return timer;
  }

  #target(ms: number): number {
    if (!isUpTo(LONGEST_STEP_MS, ms) || ms < 0) throw new RangeError(`time cannot advance by ${describeValue(ms)} ms`);
    return this.#nowMs + ms;
  }

  /** A callback may have stalled beyond it. */
  #reach(untilMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #fireNext(untilMs: number): boolean {
    const next = this.#timers[0];
    if (next === undefined || next.dueAtMs > untilMs) return false;
    this.#timers.shift();
    this.#nowMs = Math.max(this.#nowMs, next.dueAtMs); // M3
    next.callback();
    return true;
  }
}

/** Whether it is a number, and not above `most`; text would be put together instead of added. */
function isUpTo(most: number, value: unknown): boolean {
  return typeof value === 'number' && value <= most;
}

/**
 * The only place that reads the time, starts timers or asks for chance.
 *
 * Owns the ports and their system implementations. Everything else gets them injected, so that a test can drive time.
 *
 * 1. `nowMs` is monotonic and fractional; it is no date and means nothing in another process.
 * 2. A timer of the system clock never fires before its delay by more than the rounding of the event loop; whoever
 *    needs "never early" asks the clock again when it fires.
 */

/** Opaque; only the clock that made it understands it. */
export type TimerHandle = object | number;

export interface Clock {
  nowMs(): number;
  /** @param delayMs - 0..2_147_483_647 */
  setTimer(callback: () => void, delayMs: number): TimerHandle;
  /** Like `setTimer`, but a process that has nothing else to do does not wait for it. */
  setBackgroundTimer(callback: () => void, delayMs: number): TimerHandle;
  /** Does nothing for a timer that has fired or was cleared. */
  clearTimer(handle: TimerHandle): void;
}

/** A number in [0, 1). */
export type RandomSource = () => number;

export const systemClock: Clock = Object.freeze({
  nowMs: () => performance.now(),
  // The platform cuts a fraction off, which would fire early.
  setTimer: (callback: () => void, delayMs: number) => setTimeout(callback, Math.ceil(delayMs)),
  setBackgroundTimer: (callback: () => void, delayMs: number) => {
    const timer = setTimeout(callback, Math.ceil(delayMs));
    (timer as { unref?: () => void }).unref?.(); // browsers give a number, and end without asking timers
    return timer;
  },
  // The handle came from setTimeout above; browsers give a number, Node.js an object.
  clearTimer: (handle: TimerHandle) => clearTimeout(handle as ReturnType<typeof setTimeout>),
});

export const systemRandom: RandomSource = () => Math.random();

/** The calendar time in ms: for what people and other processes read, never for durations. */
export const systemDateMs = (): number => Date.now();

/**
 * Calls back after one full turn of the event loop, so that everything readable by now has been read.
 *
 * One hop alone can run in the very turn that is under way, before its reads.
 */
export function afterPendingReads(callback: () => void): void {
  hop(() => hop(callback));
}

function hop(callback: () => void): void {
  // Browsers have no setImmediate; a timer without delay is their next turn.
  if (typeof setImmediate === 'function') setImmediate(callback);
  else setTimeout(callback, 0);
}

/** The time of an inspector: a monotonic one, and timers that hold no process. */
export interface Clock {
  nowMs(): number;
  setTimer(callback: () => void, delayMs: number): unknown;
  clearTimer(timer: unknown): void;
}

export const processClock: Clock = {
  nowMs: () => performance.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs).unref(),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout), // one of those above
};

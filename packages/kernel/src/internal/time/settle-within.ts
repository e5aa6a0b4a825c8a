/** Waiting for an orderly end, but not for ever (CORE-011). */
import type { Clock } from './clock.ts';

/**
 * Resolves when `ended` does or `limitMs` have passed, whichever is first; leaves no timer behind.
 *
 * @param ended - never rejects
 */
export function settleWithin(ended: Promise<unknown>, limitMs: number, clock: Clock): Promise<void> {
  return new Promise<void>((resolve) => {
    const timer = clock.setTimer(resolve, limitMs);
    void ended.then(() => {
      clock.clearTimer(timer);
      resolve();
    });
  });
}

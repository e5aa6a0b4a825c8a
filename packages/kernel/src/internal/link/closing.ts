/** Waiting for an orderly end, but not for ever (CORE-011). */
import type { Clock } from '../time/index.ts';

/** Resolves when `ended` does or `limitMs` have passed, whichever is first; leaves no timer behind. */
export function settleWithin(ended: Promise<void>, limitMs: number, clock: Clock): Promise<void> {
  return new Promise<void>((resolve) => {
    const timer = clock.setTimer(resolve, limitMs);
    void ended.then(() => {
      clock.clearTimer(timer);
      resolve();
    });
  });
}

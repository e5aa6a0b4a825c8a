/**
 * Work of a start that may take a limited time.
 *
 * Owns the end of the wait. Leaves to the work how it stops: it is given a signal, and nobody waits for it any more.
 *
 * 1. What settles first counts: the work, the caller's signal, or the limit; the others change nothing.
 * 2. Neither a timer nor a listener outlives it.
 */
import { follow, type SignalFollower, unfollow } from '../../call/signal-followers.ts';
import type { Clock } from '../time/index.ts';

interface StartLimit {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** What the wait ends with at the limit. */
  readonly tooLate: () => Error;
}

export function withinLimit<T>(limit: StartLimit, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, limitMs, signal, tooLate } = limit;
  if (signal.aborted) return Promise.reject(signal.reason as Error); // an abort reason may be any value
  return new Promise<T>((resolve, reject) => {
    const waiting = new AbortController();
    const timer = clock.setTimer(() => giveUp(tooLate()), limitMs);
    const follower: SignalFollower = { onAbort: (reason) => giveUp(reason as Error) }; // as above
    follow(signal, follower); // a host claims any number of endpoints under one signal
    const end = (): void => {
      clock.clearTimer(timer);
      unfollow(signal, follower);
    };
    const giveUp = (reason: Error): void => {
      end();
      reject(reason);
      waiting.abort(reason);
    };
    void work(waiting.signal).then(resolve, reject).finally(end);
  });
}

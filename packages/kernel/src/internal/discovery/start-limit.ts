/**
 * Work of a start that waits for a store, for 10 s at most (LOC-004).
 *
 * Owns the end of the wait, and how often a store is tried. Leaves to the work how it stops: it is given a signal, and nobody
 * waits for it any more.
 *
 * 1. What settles first counts: the work, the caller's signal, or the limit; the others change nothing.
 * 2. Neither a timer nor a listener outlives it.
 */
import { ConfigurationError, ZLinkError } from '../../errors/index.ts';
import { isStoreError } from '../../location/index.ts';
import { errorText } from '../../observe/index.ts';
import { type Clock, follow, type SignalFollower, unfollow } from '../time/index.ts';
import { pause } from './bounded-call.ts';

const limitMs = 10_000;
const firstPauseMs = 250;
const longestPauseMs = 1_000;

interface Wait {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface LimitedWait extends Wait {
  /** What it ends with at the limit. */
  readonly tooLate: () => Error;
}

/**
 * Tries until the store is open.
 *
 * @param store - for people
 * @throws ZLinkError `Unavailable` after 10 s; ConfigurationError for a store that holds what is none of ours; or the
 *   signal's reason
 */
export function openStore(store: string, wait: Wait, tryToOpen: (signal: AbortSignal) => Promise<void>): Promise<void> {
  let failure: unknown;
  const tooLate = (): Error => tookTooLong(`${store}: opening it`, failure);
  return withinLimit({ ...wait, tooLate }, async (signal) => {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await tryToOpen(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (isStoreError(error) && error.code === 'incompatible')
          throw new ConfigurationError([`${store}: ${error.message}`]);
        failure = error;
      }
      await pause(pauseMs, { clock: wait.clock, signals: [signal] });
    }
  });
}

/** @param cause - an error, or what it says */
export function tookTooLong(what: string, cause: unknown): ZLinkError {
  const why = typeof cause === 'string' ? cause : cause === undefined ? 'no answer' : errorText(cause);
  return new ZLinkError('Unavailable', `${what} took longer than ${limitMs} ms: ${why}`, { cause });
}

export function withinLimit<T>(wait: LimitedWait, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { clock, signal, tooLate } = wait;
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

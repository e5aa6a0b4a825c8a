/**
 * One call of a store that may hang, answer too late, or fail in ways that its contract does not know.
 *
 * Owns the end of the wait and the form of the failure. Leaves to store-calls.ts what a failure means.
 *
 * 1. The promise settles once, at the latest after `timeoutMs` or with the first abort; what the store says afterwards
 *    changes nothing.
 * 2. It rejects with a StoreError alone. A failure of which nothing is known may have been applied.
 * 3. No timer and no listener outlives it.
 */
import { isStoreError, StoreError } from '../../location/index.ts';
import { errorText } from '../../observe/index.ts';
import { type Clock, follow, type SignalFollower, unfollow } from '../time/index.ts';

interface Bounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Each of them gives the call up. */
  readonly signals: readonly (AbortSignal | undefined)[];
}

const tryAgainAfterMs = 250;

/** @param call - is given a signal that aborts when nobody waits any more */
export function boundedCall<T>(call: (signal: AbortSignal) => Promise<T>, bounds: Bounds): Promise<T> {
  const { clock, timeoutMs, signals } = bounds;
  if (signals.some((signal) => signal?.aborted)) return Promise.reject(givenUp('notApplied')); // nothing was sent
  return new Promise<T>((resolve, reject) => {
    const waiting = new AbortController();
    const end = (): void => {
      clock.clearTimer(timer);
      forget();
    };
    const giveUp = (error: StoreError): void => {
      end();
      reject(error);
      waiting.abort(error);
    };
    const timer = clock.setTimer(() => giveUp(tooLate(timeoutMs)), timeoutMs);
    const forget = onAbort(signals, () => giveUp(givenUp('unknown')));
    // Inside of a promise also what is thrown at once becomes a rejection, and an answer without a promise a value.
    new Promise<T>((settle) => settle(call(waiting.signal))).then(
      (answer) => {
        end();
        resolve(answer);
      },
      (thrown: unknown) => {
        end();
        reject(asStoreError(thrown));
      },
    );
  });
}

/** Resolves after `ms`. @throws StoreError of outcome `unknown` with the first abort */
export function pause(ms: number, { clock, signals }: Omit<Bounds, 'timeoutMs'>): Promise<void> {
  if (signals.some((signal) => signal?.aborted)) return Promise.reject(givenUp('unknown'));
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => {
      forget();
      resolve();
    }, ms);
    const forget = onAbort(signals, () => {
      forget();
      clock.clearTimer(timer);
      reject(givenUp('unknown'));
    });
  });
}

/**
 * Tries again every 250 ms until it is done or the deadline aborts.
 *
 * @param attempt - resolves to what keeps it from being done, for people; may reject with a StoreError
 * @returns what kept it from being done; undefined: it is
 */
export async function tryUntil(
  deadline: AbortSignal,
  clock: Clock,
  attempt: () => Promise<string | undefined>,
): Promise<string | undefined> {
  let obstacle = 'the deadline is over';
  while (!deadline.aborted) {
    try {
      const found = await attempt();
      if (found === undefined) return undefined;
      obstacle = found;
    } catch (error) {
      if (!isStoreError(error)) return errorText(error); // time does not mend it
      if (!deadline.aborted) obstacle = errorText(error);
    }
    await pause(tryAgainAfterMs, { clock, signals: [deadline] }).catch(() => {});
  }
  return obstacle;
}

/** One listener per signal, however many calls wait: from the eleventh on Node would warn of a leak. */
function onAbort(signals: readonly (AbortSignal | undefined)[], listener: () => void): () => void {
  const follower: SignalFollower = { onAbort: listener };
  for (const signal of signals) if (signal !== undefined) follow(signal, follower);
  return () => {
    for (const signal of signals) if (signal !== undefined) unfollow(signal, follower);
  };
}

function givenUp(outcome: StoreError['outcome']): StoreError {
  return new StoreError('timeout', outcome, 'the call of the store was given up');
}

function tooLate(timeoutMs: number): StoreError {
  return new StoreError('timeout', 'unknown', `the store did not answer within ${timeoutMs} ms`);
}

function asStoreError(thrown: unknown): StoreError {
  if (isStoreError(thrown)) return thrown;
  return new StoreError('unavailable', 'unknown', `the store failed: ${errorText(thrown)}`, { cause: thrown }); // 2
}

/** How calls end, as values that a test can look at. */
import { isZLinkError, type ZLinkError } from '@zlink/kernel/errors';

/** The ZLinkError that the promise rejects with; anything else fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<ZLinkError> {
  try {
    await promise;
  } catch (error) {
    if (isZLinkError(error)) return error;
    throw error;
  }
  throw new Error('the promise was not rejected');
}

/** The ZLinkError that the call throws; anything else fails the test. */
export function thrown(call: () => unknown): ZLinkError {
  try {
    call();
  } catch (error) {
    if (isZLinkError(error)) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

export interface Outcome {
  state: 'pending' | 'resolved' | 'rejected';
  value: unknown;
}

/** Looks at a promise without waiting for it. */
export function watch(promise: Promise<unknown>): Outcome {
  const outcome: Outcome = { state: 'pending', value: undefined };
  promise.then(
    (value) => Object.assign(outcome, { state: 'resolved', value }),
    (value: unknown) => Object.assign(outcome, { state: 'rejected', value }),
  );
  return outcome;
}

export function isSettled(outcome: Outcome): boolean {
  return outcome.state !== 'pending';
}

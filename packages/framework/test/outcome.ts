/** How promises end, as values that a test can look at. */
import { ConfigurationError, ZLinkError } from '@zlink/framework';

/** What the promise rejects with, whatever it is. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the promise was not rejected');
}

/** The ZLinkError that the promise rejects with; anything else fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<ZLinkError> {
  const error = await thrown(promise);
  if (error instanceof ZLinkError) return error;
  throw error;
}

/** The mistakes that the promise reports; anything but a ConfigurationError fails the test. */
export async function problems(promise: Promise<unknown>): Promise<readonly string[]> {
  const error = await thrown(promise);
  if (error instanceof ConfigurationError) return error.problems;
  throw error;
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

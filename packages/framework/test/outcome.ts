/** How promises end, as values that a test can look at. */
import { ConfigurationError } from '@zlink/framework';

export { rejection, watch } from '@zlink/testing/internal';

/** What the promise rejects with, whatever it is. */
export async function thrown(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the promise was not rejected');
}

/** The mistakes that the promise reports; anything but a ConfigurationError fails the test. */
export async function problems(promise: Promise<unknown>): Promise<readonly string[]> {
  const error = await thrown(promise);
  if (error instanceof ConfigurationError) return error.problems;
  throw error;
}

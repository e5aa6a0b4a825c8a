/** How a promise ended, and when: looked at without waiting for it. */
import { setImmediate } from 'node:timers/promises';
import { isZLinkError, type ZLinkError } from '../../src/errors/index.ts';

export interface Settlement {
  outcome: 'pending' | 'resolved' | 'rejected';
  value: unknown;
}

export function watch(promise: Promise<unknown>): Settlement {
  const settlement: Settlement = { outcome: 'pending', value: undefined };
  promise.then(
    (value) => Object.assign(settlement, { outcome: 'resolved', value }),
    (value: unknown) => Object.assign(settlement, { outcome: 'rejected', value }),
  );
  return settlement;
}

/** Lets every promise that is ready run its reactions. */
export async function reactions(): Promise<void> {
  await setImmediate();
}

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

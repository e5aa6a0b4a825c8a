/** How a promise ended, and when: looked at without waiting for it. */
import { setImmediate } from 'node:timers/promises';

export { rejection } from '@zlink/testing/internal';

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

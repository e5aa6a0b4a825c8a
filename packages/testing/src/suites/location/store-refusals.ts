/** What both suites expect of a call that must fail. */
import assert from 'node:assert/strict';
import { isStoreError, type StoreError, type StoreErrorCode } from '@zlink/kernel/location';

/**
 * The call returns a promise, which rejects with this code and the knowledge that nothing was applied.
 *
 * A call that throws instead of returning a promise fails the case.
 */
export async function refuses(code: StoreErrorCode, call: () => Promise<unknown>, what: string = code): Promise<void> {
  const error = await failureOf(call());
  assert(error !== undefined, `${what}: the call succeeded`);
  assert.equal(error.code, code, `${what}: ${error.message}`);
  assert.equal(error.outcome, 'notApplied', what);
}

/** The error of a call that failed; undefined for one that succeeded. Anything but a StoreError fails the case. */
export async function failureOf(call: Promise<unknown>): Promise<StoreError | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    assert(isStoreError(error), `the call rejected with something else: ${String(error)}`);
    return error;
  }
}

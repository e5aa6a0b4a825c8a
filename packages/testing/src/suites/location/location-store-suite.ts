/**
 * What every Location Store must do.
 *
 * Owns the list of cases; each is driven through the contract alone, on stores of the implementation. Leaves time, lost
 * replies and lost data to the harness of the implementation.
 *
 * ```ts
 * locationStoreSuite('my store', { create: (namespace) => createMyStore({ keyPrefix: namespace }) });
 * ```
 */
import { commitCases } from './commit-cases.ts';
import { handleCases } from './handle-cases.ts';
import type { LocationStoreHarness } from './harness.ts';
import { keyCases } from './key-cases.ts';
import { limitCases } from './limit-cases.ts';
import { type LocationCase, LocationRig } from './location-rig.ts';
import { readCases } from './read-cases.ts';
import { replayCases } from './replay-cases.ts';
import { scanCases } from './scan-cases.ts';
import { globalRunner, type SuiteRunner } from './suite-runner.ts';
import { versionCases } from './version-cases.ts';

const cases: readonly LocationCase[] = [
  ...keyCases,
  ...readCases,
  ...commitCases,
  ...versionCases,
  ...limitCases,
  ...replayCases,
  ...scanCases,
  ...handleCases,
];

/**
 * Registers one test per case.
 *
 * @param harness - a case that needs what it leaves out is not registered
 * @param runner - where to register; the default is the global `describe` and `test`
 * @see LOC-021
 */
export function locationStoreSuite(
  name: string,
  harness: LocationStoreHarness,
  runner: SuiteRunner = globalRunner(),
): void {
  runner.describe(name, () => {
    for (const { title, needs, act } of cases)
      if (needs === undefined || harness[needs] !== undefined) runner.test(title, () => LocationRig.run(harness, act));
  });
}

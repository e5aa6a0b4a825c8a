/**
 * What every Relocation Store must do.
 *
 * Registers one test per case of blob-cases.ts; each is driven through the contract alone, on stores of the
 * implementation. Leaves time and lost replies to the harness of the implementation.
 */
import { blobCases } from './blob-cases.ts';
import { BlobRig } from './blob-rig.ts';
import type { RelocationStoreHarness } from './harness.ts';
import { globalRunner, type SuiteRunner } from './suite-runner.ts';

/**
 * @param harness - a case that needs what it leaves out is not registered
 * @param runner - where to register; the default is the global `describe` and `test`
 * @see LOC-021
 */
export function relocationStoreSuite(
  name: string,
  harness: RelocationStoreHarness,
  runner: SuiteRunner = globalRunner(),
): void {
  runner.describe(name, () => {
    for (const { title, needs, act } of blobCases)
      if (needs === undefined || harness[needs] !== undefined) runner.test(title, () => BlobRig.run(harness, act));
  });
}

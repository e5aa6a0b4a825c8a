/**
 * What every codec must do.
 *
 * Owns the list of cases; each is driven through the contract alone. Leaves to the codec's own tests which values have a
 * form in it and what they come back as.
 *
 * ```ts
 * codecSuite('my codec', { create: () => myCodec, contentType: 'application/x-mine', ... });
 * ```
 */
import { globalRunner, type SuiteRunner } from '../location/suite-runner.ts';
import { boundCases } from './bound-cases.ts';
import type { CodecHarness } from './codec-harness.ts';
import { type CodecCase, CodecRig } from './codec-rig.ts';
import { malformedCases } from './malformed-cases.ts';
import { purityCases } from './purity-cases.ts';
import { roundTripCases } from './round-trip-cases.ts';
import { typeCases } from './type-cases.ts';

const cases: readonly CodecCase[] = [...typeCases, ...roundTripCases, ...malformedCases, ...boundCases, ...purityCases];

/**
 * Registers one test per case.
 *
 * @param harness - a case that needs what it leaves out is not registered
 * @param runner - where to register; the default is the global `describe` and `test`
 * @see CODEC-006
 */
export function codecSuite(name: string, harness: CodecHarness, runner: SuiteRunner = globalRunner()): void {
  runner.describe(name, () => {
    for (const { title, needs, act } of cases)
      if (needs === undefined || harness[needs] !== undefined)
        runner.test(title, async () => act(new CodecRig(harness)));
  });
}

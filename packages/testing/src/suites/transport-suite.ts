/**
 * What every implementation of kernel's `Transport` port must do.
 *
 * Owns the list of cases; each is driven through the port alone, on real transports of the implementation. Leaves faults
 * below the port to the implementation's harness.
 *
 * ```ts
 * for (const { title, run } of transportSuite(createHarness)) test(title, run);
 * ```
 */
import { admissionCases } from './transport/admission-cases.ts';
import { callbackCases } from './transport/callback-cases.ts';
import type { RigCase } from './transport/case.ts';
import { creditCases } from './transport/credit-cases.ts';
import { endCases } from './transport/end-cases.ts';
import type { TransportHarnessFactory } from './transport/harness.ts';
import { intentCases } from './transport/intent-cases.ts';
import { orderCases } from './transport/order-cases.ts';
import { TransportRig } from './transport/rig.ts';
import { trafficCases } from './transport/traffic-cases.ts';

export interface SuiteCase {
  readonly title: string;
  readonly run: () => Promise<void>;
}

const cases: readonly RigCase[] = [
  ...admissionCases,
  ...orderCases,
  ...creditCases,
  ...trafficCases,
  ...callbackCases,
  ...endCases,
  ...intentCases,
];

/**
 * @param factory - called once per case; a harness is closed when its case is over
 * @param offers - `faults`: whether the harness has them; the cases that need them are in the list only then
 */
export function transportSuite(
  factory: TransportHarnessFactory,
  offers: { readonly faults: boolean },
): readonly SuiteCase[] {
  const possible = cases.filter((rigCase) => offers.faults || rigCase.needsFaults !== true);
  return possible.map((rigCase) => ({
    title: rigCase.title,
    run: () => TransportRig.run(factory, (rig) => rigCase.act(rig)),
  }));
}

/**
 * What every implementation of kernel's `EventTransport` port must do.
 *
 * Owns the list of cases; each is driven through the port alone, on real transports of the implementation.
 *
 * ```ts
 * for (const { title, run } of eventTransportSuite(createHarness)) test(title, run);
 * ```
 */
import { deliveryCases } from './events/delivery-cases.ts';
import { endCases } from './events/end-cases.ts';
import { EventRig } from './events/event-rig.ts';
import type { EventHarnessFactory } from './events/harness.ts';
import { markCases } from './events/mark-cases.ts';
import { runCases } from './events/run-cases.ts';
import type { SuiteCase } from './transport-suite.ts';

/** @param factory - called once per case; a harness is closed when its case is over */
export function eventTransportSuite(factory: EventHarnessFactory): readonly SuiteCase[] {
  return [...deliveryCases, ...runCases, ...markCases, ...endCases].map((eventCase) => ({
    title: eventCase.title,
    run: () => EventRig.run(factory, (rig) => eventCase.act(rig)),
  }));
}

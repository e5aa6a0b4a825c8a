import type { CreditFlaw } from './credit-host.ts';
import { simulateCredit } from './credit.sim.ts';
import { findViolation, playSeeds, SEEDS_LIMIT_MS } from './seeds.ts';

test(
  '[CORE-004] [CORE-007] [CORE-008] [CORE-009] [CORE-011] [CORE-014] [C05] [C10] simulated: windows hold, order holds, and nothing is lost in silence',
  async () => {
    await playSeeds('credit', simulateCredit);
  },
  SEEDS_LIMIT_MS,
);

test('[CORE-004] simulated: a seed always leads to the same transfers', async () => {
  expect(await simulateCredit(7)).toEqual(await simulateCredit(7));
});

test.each<[CreditFlaw, RegExp]>([
  ['loses', /against the protocol/],
  ['repeats', /against the protocol/],
  ['swaps', /left out|against the protocol/],
  ['mixesLinks', /B \+|against the protocol/],
  ['exaggeratesWindows', /bytes under way|more than it has granted/],
  ['topicMissesMessages', /was written and left out/],
])('[CORE-002] [CORE-004] [CORE-008] simulated: a broken contract (%s) is found', async (flaw, violation) => {
  expect((await findViolation((seed) => simulateCredit(seed, flaw)))?.violation).toMatch(violation);
});

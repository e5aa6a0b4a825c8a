import { type LeaseFlaw, simulateLease } from './lease.sim.ts';
import { findViolation, playSeeds, SEEDS_LIMIT_MS } from './seeds.ts';

test(
  '[LOC-051] [LOC-052] [LOC-053] [LOC-054] [C13] [C14] [C15] simulated: whoever works has its lease, and what a lease guards has one owner',
  async () => {
    await playSeeds('lease', simulateLease);
  },
  SEEDS_LIMIT_MS,
);

test('[LOC-072] simulated: a seed always leads to the same log', async () => {
  expect(await simulateLease(7)).toEqual(await simulateLease(7));
});

test.each<[LeaseFlaw, RegExp]>([
  ['clocksStopInFrozenHosts', /admits work, and its lease has/],
  ['losesRenewals', /admits work, and its lease has/],
  ['storeKeepsNoConditions', /was put in another one's place/],
])(
  '[LOC-051] [LOC-054] simulated: a broken rule (%s) is found',
  async (flaw, violation) => {
    expect((await findViolation((seed) => simulateLease(seed, flaw)))?.violation).toMatch(violation);
  },
  SEEDS_LIMIT_MS,
);

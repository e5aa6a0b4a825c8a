import { type MembershipFlaw, simulateMembership } from './membership.sim.ts';
import { findViolation, playSeeds, SEEDS_LIMIT_MS } from './seeds.ts';

test(
  '[LOC-061] [LOC-062] [LOC-063] [LOC-064] [LOC-065] [C10] [C13] [C15] simulated: no view shows what never was, and all converge to what is true',
  async () => {
    await playSeeds('membership', simulateMembership);
  },
  SEEDS_LIMIT_MS,
);

test('[LOC-072] simulated: a seed always leads to the same views', async () => {
  expect(await simulateMembership(7)).toEqual(await simulateMembership(7));
});

test.each<[MembershipFlaw, RegExp]>([
  ['readsMissLeases', /for absent, whose lease was always there/],
  ['scansMissARecord', /true is/],
  ['forgetsLinkEnds', /remembers/],
  ['isOneViewBehind', /dials .*, and should/],
])(
  '[LOC-062] [LOC-063] simulated: a broken rule (%s) is found',
  async (flaw, violation) => {
    expect((await findViolation((seed) => simulateMembership(seed, flaw)))?.violation).toMatch(violation);
  },
  SEEDS_LIMIT_MS,
);

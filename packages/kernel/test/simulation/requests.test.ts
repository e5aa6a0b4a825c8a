import { type RequestsFlaw, simulateRequests } from './requests.sim.ts';
import { findViolation, playSeeds, SEEDS_LIMIT_MS } from './seeds.ts';

test(
  '[CALL-002] [CALL-003] [CALL-004] [WIRE-005] [C09] [C10] [C12] simulated: every request ends once, runs once at most and leaves nothing',
  async () => {
    await playSeeds('requests', simulateRequests);
  },
  SEEDS_LIMIT_MS,
);

test('[CALL-004] simulated: a seed always leads to the same results', async () => {
  expect(await simulateRequests(7)).toEqual(await simulateRequests(7));
});

test.each<[RequestsFlaw, RegExp]>([
  ['abandonsNothing', /a link holds \d+ requests of \d+/],
  ['answersAnother', /got the reply of/],
  ['timersComeLate', /outlives its deadline/],
  ['idsAreGivenTwice', /the next id is/],
])('[CALL-004] [WIRE-005] simulated: a broken rule (%s) is found', async (flaw, violation) => {
  expect((await findViolation((seed) => simulateRequests(seed, flaw)))?.violation).toMatch(violation);
});

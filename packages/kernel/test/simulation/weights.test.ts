import { findViolation, playSeeds, SEEDS_LIMIT_MS } from './seeds.ts';
import { simulateWeights, type WeightsFlaw } from './weights.sim.ts';

test(
  '[WRR-001] [WRR-002] [WRR-004] simulated: whatever lists replace each other, each choice is the one that is due',
  async () => {
    await playSeeds('weights', simulateWeights);
  },
  SEEDS_LIMIT_MS,
);

test('[WRR-005] simulated: a seed always leads to the same choices', async () => {
  expect(await simulateWeights(7)).toEqual(await simulateWeights(7));
});

test.each<WeightsFlaw>(['tieGoesToTheLarger', 'listBeginsAnew', 'newcomersBeginWithTheirWeight', 'zeroKeepsItsPlace'])(
  '[WRR-004] simulated: another procedure (%s) is told from the selector',
  async (flaw) => {
    expect((await findViolation((seed) => simulateWeights(seed, flaw)))?.violation).toMatch(/^chosen was/);
  },
);

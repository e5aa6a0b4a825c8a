import { expect, test } from '@jest/globals';
import { quickConditions } from '../src/scenario.ts';
import { meshSelection } from '../src/scenarios/mesh-selection.ts';
import { selection } from '../src/scenarios/selection.ts';

const conditions = { ...quickConditions, sliceMs: 8, warmUpMs: 8 };

test.each([
  [selection, ['1000 servers', '2 servers']],
  [meshSelection, ['1000 members', '2 members']],
])('[WRR-003] $name times choices that are spread over all candidates', async (scenario, names) => {
  const figures = await scenario.measure(conditions);
  expect([...figures.keys()]).toEqual(names);
  for (const rounds of figures.values()) {
    expect(rounds).toHaveLength(8 * conditions.rounds);
    expect(Math.min(...rounds)).toBeGreaterThan(0);
  }
});

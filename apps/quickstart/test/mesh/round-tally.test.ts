import type { Answer } from '../../src/mesh/contracts.ts';
import { RoundTally } from '../../src/mesh/round-tally.ts';

const weights = { 'play-1': 100, 'play-2': 300 };

function round(play1: number, play2: number, name = 'play-2'): Answer[] {
  return [
    ...Array.from({ length: play1 }, () => ({ name: 'play-1', rid: 'play-1' })),
    ...Array.from({ length: play2 }, () => ({ name, rid: 'play-2' })),
  ];
}

test('[WRR-001] a round is even if each RID answered exactly its share, whatever process had it', () => {
  const tally = new RoundTally();
  tally.add(round(10, 30), weights);
  tally.add(round(10, 30, 'play-2*'), weights);
  expect(tally.counts()).toEqual({ even: 2, uneven: 0, answered: { 'play-1': 20, 'play-2': 30, 'play-2*': 30 } });
});

test.each([
  [11, 29],
  [9, 31],
  [0, 40],
])('[WRR-001] a round of %i : %i calls is uneven for weights 100 : 300', (play1, play2) => {
  const tally = new RoundTally();
  tally.add(round(play1, play2), weights);
  expect(tally.counts()).toMatchObject({ even: 0, uneven: 1 });
});

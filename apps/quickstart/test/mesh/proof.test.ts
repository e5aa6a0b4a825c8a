import { findProblems } from '../../src/mesh/proof.ts';
import { callerCounts, evidence, nodeCounts, soundNodes } from './figures.ts';

const { lobby, play1, killed, again } = soundNodes;

test('[CALL-004] a run of the mesh in which everything adds up proves it', () => {
  expect(findProblems(evidence())).toEqual([]);
});

test('[CALL-004] a call without an end is a mismatch, to the channel and to a node', () => {
  const { channel, direct } = callerCounts();
  expect(findProblems(evidence({ calls: callerCounts({ channel: { ...channel, accepted: 13_041 } }) }))).toEqual([
    'channel: 13,041 calls accepted, 13,040 ended',
  ]);
  expect(findProblems(evidence({ calls: callerCounts({ direct: { ...direct, accepted: 104 } }) }))).toEqual([
    'direct: 104 calls accepted, 103 ended',
  ]);
});

test('[NODE-001] a direct call that another node answered is a mismatch', () => {
  const { direct } = callerCounts();
  const calls = callerCounts({ direct: { ...direct, accepted: 104, wrong: 1 } });
  expect(findProblems(evidence({ calls }))).toContain('direct: 1 answers belonged to another call');
});

test.each([3_999, 4_001])(
  '[CALL-004] a node that handled %i channel requests, with 4,000 answers, is a mismatch',
  (n) => {
    const node = { ...play1, counts: nodeCounts(n, 64) };
    expect(findProblems(evidence({ nodes: [lobby, node, killed, again] }))).toEqual([
      `play-1 handled ${n.toLocaleString('en-US')} channel requests, 4,000 answers came`,
    ]);
  },
);

test('[CALL-004] direct requests count those of every node', () => {
  const node = { ...lobby, counts: nodeCounts(0, 2) };
  expect(findProblems(evidence({ nodes: [node, play1, killed, again] }))).toEqual([
    'lobby handled 2 direct requests, 3 answers came',
  ]);
});

test('[CALL-004] a killed node that had handled more than ended anywhere is a mismatch', () => {
  const withKilled = (channel: number, direct: number) =>
    findProblems(evidence({ nodes: [lobby, play1, { ...killed, counts: nodeCounts(channel, direct) }, again] }));
  expect(withKilled(4_540, 23)).toEqual([]);
  expect(withKilled(4_541, 24)).toEqual([
    'play-2 handled 4,541 channel requests, 4,540 ended',
    'play-2 handled 24 direct requests, 23 ended',
  ]);
});

test('[NODE-001] a restarted node that nobody reached by its RID is a mismatch', () => {
  const greetings = evidence().greetings.filter(({ name }) => name !== 'play-2*');
  expect(findProblems(evidence({ greetings }))).toContain('play-2* was not reached by its RID');
});

test('[MESH-006] a restarted node that got no share again is a mismatch', () => {
  const { channel } = callerCounts();
  const answered = { 'play-1': 8_500, 'play-2': 4_510 };
  expect(findProblems(evidence({ calls: callerCounts({ channel: { ...channel, answered } }) }))).toContain(
    'play-2* answered no call to the channel',
  );
});

test('[CS-008] a node whose end had to be cut off is a mismatch', () => {
  const nodes = [lobby, { ...play1, outcome: 'forceStopped' }, killed, again];
  expect(findProblems(evidence({ nodes }))).toEqual(['play-1 ended with outcome forceStopped']);
});

test('[WRR-001] another order of the first calls is a mismatch', () => {
  expect(findProblems(evidence({ order: ['play-2', 'play-2', 'play-1', 'play-2'] }))).toEqual([
    'the first calls went to play-2, play-2, play-1, play-2',
  ]);
});

test('[WRR-001] one call too many for one node is a mismatch', () => {
  const rounds = { even: 299, uneven: 1, answered: { 'play-1': 3_001, 'play-2': 4_500, 'play-2*': 4_499 } };
  expect(findProblems(evidence({ calls: callerCounts({ rounds }) }))).toEqual([
    '1 rounds were not shared out by weight',
    'play-1 of weight 100 answered 3,001 of 12,000 calls',
    'play-2 of weight 300 answered 8,999 of 12,000 calls',
  ]);
});

test('[WRR-001] a run without a round in which both nodes were ready proves nothing', () => {
  const rounds = { even: 0, uneven: 0, answered: {} };
  expect(findProblems(evidence({ calls: callerCounts({ rounds }) }))).toEqual(['no round was shared out by weight']);
});

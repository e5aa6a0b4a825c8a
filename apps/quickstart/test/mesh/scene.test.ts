import type { Fate } from '../../src/mesh/player.ts';
import { frameOf } from '../../src/mesh/scene.ts';
import { type Progress, Screening } from '../../src/mesh/screening.ts';
import { callerCounts } from './figures.ts';

function screeningOf(fate?: Fate): Screening {
  return new Screening(
    () => [
      { rid: 'play-1', endpoint: 'tcp://127.0.0.1:7001', weight: 100, names: ['play-1'], fate: undefined },
      { rid: 'play-2', endpoint: 'tcp://127.0.0.1:7002', weight: 300, names: ['play-2', 'play-2*'], fate },
    ],
    10_000,
  );
}

const progress: Progress = {
  kind: 'progress',
  counts: callerCounts(),
  nodes: [
    { rid: 'play-1', state: 'ready' },
    { rid: 'play-2', state: 'reconnecting' },
  ],
  callsPerSecond: 54_321.4,
};

test('[MESH-002] a scene of the mesh shows calls per RID, whatever processes had it, and the exact shares', () => {
  expect(frameOf(screeningOf().sceneOf(progress, 4_210)).lines).toEqual([
    '',
    '  node    endpoint                weight  state        of channel  direct   share now',
    '  play-1  tcp://127.0.0.1:7001       100  ready             4,000      60    31 %  ██████',
    '  play-2  tcp://127.0.0.1:7002       300  reconnecting      9,010      40    69 %  ██████████████',
    '',
    '  54,321 calls/s   while both were ready: 3,000 : 9,000 calls, exactly 100 : 300',
    '  accepted 13,143 = answered 13,110 + typed errors 33 + in flight 0',
    '  4.2 s of 10.0 s',
  ]);
});

test('[MESH-002] a scene of the mesh fits into one line of a log, and says what became of a node', () => {
  expect(frameOf(screeningOf('killed').sceneOf(progress, 0)).line).toBe(
    '54,321 calls/s  [play-1 ready 31 %, play-2 killed 69 %]  typed errors 33  while both were ready: 3,000 : 9,000 calls, exactly 100 : 300',
  );
});

test('[MESH-002] shares of the mesh are those since the last report, however often it is shown', () => {
  const screening = screeningOf();
  screening.sceneOf(progress, 0);
  const { channel } = progress.counts;
  const counts = callerCounts({ channel: { ...channel, answered: { ...channel.answered, 'play-2*': 4_700 } } });
  const shares = () => screening.sceneOf(later, 0).nodes.map(({ share }) => share);
  const later = { ...progress, counts };
  expect(shares()).toEqual([0, 1]);
  expect(shares()).toEqual([0, 1]);
});

test('[WRR-001] a scene of the mesh does not call shares exact that are not, or that are not there yet', () => {
  const lineWith = (even: number, uneven: number) => {
    const rounds = { even, uneven, answered: { 'play-1': 11, 'play-2': 29 } };
    return frameOf(screeningOf().sceneOf({ ...progress, counts: callerCounts({ rounds }) }, 0)).line;
  };
  expect(lineWith(0, 1)).toMatch(/while both were ready: 11 : 29 calls, not 100 : 300$/);
  expect(lineWith(0, 0)).toMatch(/while both were ready: nothing yet$/);
});

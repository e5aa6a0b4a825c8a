import { frameOf } from '../../src/discovery/scene.ts';
import { Screening } from '../../src/discovery/screening.ts';
import type { Progress } from '../../src/discovery/reports.ts';
import type { Sight } from '../../src/discovery/sights.ts';
import { callerCounts } from './figures.ts';

const progress: Progress = { counts: callerCounts(), callsPerSecond: 1_756.4 };

function sight(name: string, change: Partial<Sight> = {}): Sight {
  return { name, node: 'ready', server: 'ready', weight: 100, draining: false, ...change };
}

const closed = { node: 'closed', server: 'closed', weight: 0 };
const run = {
  progress,
  sights: [sight('crane', { weight: 300 }), sight('ibis', closed), sight('kite', { server: 'connecting' })],
  fates: new Map([
    ['ibis', 'killed'],
    ['heron', 'left'],
  ]),
  store: 'Redis answers',
};

function screeningThatSaw(...names: string[]): Screening {
  const screening = new Screening();
  screening.sceneOf({ ...run, sights: names.map((name) => sight(name)) });
  return screening;
}

test('[LOC-063] a scene of the fleet shows all hosts that were ever seen, with what was done to them', () => {
  expect(frameOf(screeningThatSaw('crane', 'heron', 'ibis').sceneOf(run)).lines).toEqual([
    '',
    '  host    as the caller sees it    weight     rides    loads   share now',
    '  crane   ready                       300    12,000    1,200    63 %  █████████████',
    '  heron   left, forgotten               0     2,000      300    11 %  ██',
    '  ibis    killed, left out              0     1,300      180   7.1 %  █',
    '  kite    ready, connecting           100     3,000      900    19 %  ████',
    '',
    '  1,756 calls/s   Redis answers',
    '  accepted 20,892 = answered 20,880 + typed errors 12 + in flight 0',
  ]);
});

test('[LOC-063] a scene of the fleet fits into one line of a log', () => {
  expect(frameOf(new Screening().sceneOf({ ...run, store: 'Redis is away' })).line).toBe(
    '1,756 calls/s  [crane ready 63 %, ibis killed, left out 7.1 %, kite ready, connecting 19 %]  typed errors 12  Redis is away',
  );
});

test('[LOC-063] a host that is on its way out is shown as what it was told', () => {
  const sights = [sight('ibis', { node: 'connecting', server: 'reconnecting' }), sight('heron', { draining: true })];
  const scene = new Screening().sceneOf({ ...run, sights, fates: new Map([['ibis', 'killed']]) });
  expect(scene.hosts.map(({ state }) => state)).toEqual(['killed', 'draining']);
});

test('[LOC-063] shares of the fleet are those since the last report, however often it is shown', () => {
  const screening = screeningThatSaw('crane', 'kite');
  const { rides } = progress.counts;
  const counts = callerCounts({ rides: { ...rides, answered: { ...rides.answered, kite: 3_400 } } });
  const later = { ...progress, counts };
  const shares = () => screening.sceneOf({ ...run, progress: later, sights: [] }).hosts.map(({ share }) => share);
  expect(shares()).toEqual([0, 1]);
  expect(shares()).toEqual([0, 1]);
});

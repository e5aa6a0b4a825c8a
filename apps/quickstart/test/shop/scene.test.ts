import type { Fate } from '../../src/shop/player.ts';
import { frameOf } from '../../src/shop/scene.ts';
import { type Progress, Screening } from '../../src/shop/screening.ts';
import { callCounts } from './figures.ts';

function serversWith(fates: { readonly ash?: Fate } = {}) {
  return [
    { name: 'ash', endpoint: 'tcp://127.0.0.1:7001', weight: 100, fate: fates.ash },
    { name: 'birch', endpoint: 'tcp://127.0.0.1:7002', weight: 300, fate: undefined },
  ];
}

function progress(ash: number, birch: number): Progress {
  return {
    kind: 'progress',
    calls: callCounts({ accepted: ash + birch + 52, answered: { ash, birch } }),
    sends: { accepted: 77, errors: {}, untyped: 0 },
    servers: [
      { endpoint: 'tcp://127.0.0.1:7001', state: 'reconnecting', weight: 0 },
      { endpoint: 'tcp://127.0.0.1:7002', state: 'ready', weight: 250 },
    ],
    callsPerSecond: 12_345.6,
    latency: { count: 100, p50Ms: 0.456, p99Ms: 123.4 },
  };
}

test('[CS-001] a scene shows endpoints, weights, states, answers and latencies', () => {
  const screening = new Screening(serversWith(), 20_000);
  const { lines } = frameOf(screening.sceneOf(progress(1_000, 3_000), 4_210));
  expect(lines).toEqual([
    '',
    '  server  endpoint                weight  state          answered   share now',
    '  ash     tcp://127.0.0.1:7001       100  reconnecting      1,000    25 %  █████',
    '  birch   tcp://127.0.0.1:7002       250  ready             3,000    75 %  ███████████████',
    '',
    '  12,346 calls/s   quotes: p50 0.46 ms, p99 123 ms   one-way messages: 77',
    '  accepted 4,052 = answered 4,000 + typed errors 12 + in flight 40',
    '  4.2 s of 20.0 s',
  ]);
});

test('[CS-001] shares are those since the last report, however often it is shown', () => {
  const screening = new Screening(serversWith(), 20_000);
  const first = progress(1_000, 3_000);
  const shares = (report: Progress) => screening.sceneOf(report, 0).servers.map(({ share }) => share);
  expect(shares(first)).toEqual([0.25, 0.75]);
  expect(shares(first)).toEqual([0.25, 0.75]);
  const second = progress(1_000, 3_500);
  expect(shares(second)).toEqual([0, 1]);
  expect(shares({ ...second })).toEqual([0, 0]);
});

test('[CS-001] a scene fits into one line of a log', () => {
  const screening = new Screening(serversWith(), 20_000);
  expect(frameOf(screening.sceneOf(progress(50, 950), 0)).line).toBe(
    '12,346 calls/s  quotes: p50 0.46 ms, p99 123 ms  typed errors 12  [ash reconnecting 5.0 %, birch ready 95 %]',
  );
});

test.each(['draining', 'left', 'killed'] as const)(
  '[CS-001] a scene says of a server that the demo has ended: %s, not what its client makes of the lost link',
  (fate) => {
    const screening = new Screening(serversWith({ ash: fate }), 20_000);
    const states = screening.sceneOf(progress(1_000, 3_000), 0).servers.map(({ state }) => state);
    expect(states).toEqual([fate, 'ready']);
  },
);

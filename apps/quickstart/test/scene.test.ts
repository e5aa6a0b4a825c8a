import { Screening } from '../src/screening.ts';
import type { Progress } from '../src/screening.ts';
import { sceneLine, sceneLines } from '../src/scene.ts';
import { callCounts } from './figures.ts';

const servers = [
  { name: 'ash', endpoint: 'tcp://127.0.0.1:7001', weight: 100 },
  { name: 'birch', endpoint: 'tcp://127.0.0.1:7002', weight: 300 },
];

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
  const screening = new Screening(servers, 20_000);
  const lines = sceneLines(screening.sceneOf(progress(1_000, 3_000), 4_210));
  expect(lines).toEqual([
    '',
    '  server  endpoint                weight  state          answered   share now',
    '  ash     tcp://127.0.0.1:7001       100  reconnecting      1,000    25 %  █████',
    '  birch   tcp://127.0.0.1:7002       250  ready             3,000    75 %  ███████████████',
    '',
    '  12,346 calls/s   p50 0.46 ms   p99 123 ms   one-way 77',
    '  accepted 4,052 = answered 4,000 + typed errors 12 + in flight 40',
    '  4.2 s of 20.0 s',
  ]);
});

test('[CS-001] shares are those since the last report, however often it is shown', () => {
  const screening = new Screening(servers, 20_000);
  const first = progress(1_000, 3_000);
  const shares = (report: Progress) => screening.sceneOf(report, 0).servers.map(({ share }) => share);
  expect(shares(first)).toEqual([0.25, 0.75]);
  expect(shares(first)).toEqual([0.25, 0.75]);
  const second = progress(1_000, 3_500);
  expect(shares(second)).toEqual([0, 1]);
  expect(shares({ ...second })).toEqual([0, 0]);
});

test('[CS-001] a scene fits into one line of a log', () => {
  const screening = new Screening(servers, 20_000);
  expect(sceneLine(screening.sceneOf(progress(50, 950), 0))).toBe(
    '12,346 calls/s  p50 0.46 ms  p99 123 ms  typed errors 12  [ash reconnecting 5.0 %, birch ready 95 %]',
  );
});

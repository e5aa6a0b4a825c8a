import { counterKey, ratesBetween } from '../src/watch/rates.ts';
import { sampleCounters, sampleReport, sampleSnapshot } from './sample-host.ts';

const before = sampleReport({ uptimeMs: 10_000 });
const key = counterKey(before.counters[0]!);

test('[MON-001] rates are differences of counters over the time of the host', () => {
  const counters = [
    sampleCounters({ accepted: 1_500, handled: 1_479, failed: 2, dropped: { DeadlineExceeded: 4, reply: 4 } }),
  ];
  const after = sampleReport({ uptimeMs: 12_500, counters });
  expect(ratesBetween(before, after)).toEqual(
    new Map([[key, { accepted: 200, handled: 199.6, failed: 0.4, dropped: 0.4 }]]),
  );
});

test('[MON-001] owners of one name on different surfaces and meshes have rates of their own', () => {
  const rows = [
    sampleCounters({ surface: 'channel' }),
    sampleCounters({ surface: 'node' }),
    sampleCounters({ surface: 'channel', meshName: 'a' }),
    sampleCounters({ verb: 'send' }),
  ];
  const more = rows.map((row, at) => ({ ...row, accepted: row.accepted + at }));
  const rates = ratesBetween(
    sampleReport({ uptimeMs: 0, counters: rows }),
    sampleReport({ uptimeMs: 1_000, counters: more }),
  );
  expect([...rates!.values()].map(({ accepted }) => accepted)).toEqual([0, 1, 2, 3]);
});

test.each([
  ['no time between them', { uptimeMs: 10_000 }],
  ['an earlier one', { uptimeMs: 9_000 }],
  ['another process', { uptimeMs: 11_000, pid: 4243 }],
  [
    'another start of the host',
    {
      uptimeMs: 11_000,
      snapshot: sampleSnapshot({ host: { ...sampleSnapshot().host, lifecycleGeneration: 9_007_199_254_740_992n } }),
    },
  ],
])('[MON-001] there are no rates with %s', (_, fields) => {
  expect(ratesBetween(before, sampleReport(fields))).toBeUndefined();
});

test('[MON-001] a counter that went back, and one that is new, have no rate', () => {
  const counters = [sampleCounters({ accepted: 999 }), sampleCounters({ verb: 'send' })];
  expect(ratesBetween(before, sampleReport({ uptimeMs: 11_000, counters }))).toEqual(new Map());
});

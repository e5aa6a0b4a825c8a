import { linkKey, linksOf } from '../src/watch/links.ts';
import { counterKey, ratesBetween } from '../src/watch/rates.ts';
import {
  linkedSnapshot,
  sampleCounters,
  sampleHostSnapshot,
  sampleLinks,
  sampleReport,
  sampleSnapshot,
  sampleTraffic,
} from './sample-host.ts';

const before = sampleReport({ uptimeMs: 10_000 });
const key = counterKey(before.counters[0]!);

test('[MON-001] rates are differences of counters over the time of the host', () => {
  const counters = [
    sampleCounters({ accepted: 1_500, handled: 1_479, failed: 2, dropped: { DeadlineExceeded: 4, reply: 4 } }),
  ];
  const after = sampleReport({ uptimeMs: 12_500, counters });
  expect(ratesBetween(before, after)?.messages).toEqual(
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
  expect([...rates!.messages.values()].map(({ accepted }) => accepted)).toEqual([0, 1, 2, 3]);
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
  expect(ratesBetween(before, sampleReport({ uptimeMs: 11_000, counters }))?.messages).toEqual(new Map());
});

const peerKey = linkKey({ topology: 'mesh', name: 'game', endpoint: '', rid: 'play-3' });
const serverKey = linkKey({ topology: 'channel', name: 'billing', endpoint: '', rid: 'billing-4' });
const linkedBefore = sampleReport({ uptimeMs: 10_000, snapshot: linkedSnapshot(sampleTraffic(), sampleTraffic()) });

test('[MON-001] what goes over a link per second are differences of its totals', () => {
  const peer = sampleTraffic({ sentMessages: 1_100, sentBytes: 110_000, receivedMessages: 501 });
  const snapshot = linkedSnapshot(peer, sampleTraffic({ receivedBytes: 50_300 }));
  const rates = ratesBetween(linkedBefore, sampleReport({ uptimeMs: 12_000, snapshot }))!;
  const still = { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 };
  const ofPeer = { ...still, sentMessages: 50, sentBytes: 5_000, receivedMessages: 0.5 };
  expect(rates.links).toEqual(
    new Map([
      [peerKey, ofPeer],
      [serverKey, { ...still, receivedBytes: 150 }],
    ]),
  );
});

test('[MON-001] what goes over all links of a host per second is of its totals, whatever its rows say', () => {
  const from = sampleReport({ uptimeMs: 10_000, snapshot: sampleHostSnapshot(sampleLinks()) });
  const ratesTo = (links: Parameters<typeof sampleHostSnapshot>[0]) =>
    ratesBetween(from, sampleReport({ uptimeMs: 12_000, snapshot: sampleHostSnapshot(links) }))?.allLinks;
  const later = sampleLinks({ open: 1, sentMessages: 9_100, sentBytes: 910_000, receivedMessages: 8_001 });
  const gone = { sentMessages: 50, sentBytes: 5_000, receivedMessages: 0.5, receivedBytes: 0 };
  expect(ratesTo(later)).toEqual(gone);
  expect([ratesTo(undefined), ratesTo(sampleLinks({ sentBytes: 899_999 }))]).toEqual([undefined, undefined]);
});

test('[MON-001] a link that is new, and one whose totals went back, have no rate; a row without a link is none', () => {
  const fresh = sampleTraffic({ sentMessages: 999 });
  const snapshot = linkedSnapshot(fresh, sampleTraffic());
  const rates = ratesBetween(linkedBefore, sampleReport({ uptimeMs: 11_000, snapshot }))!;
  expect([...rates.links.keys()]).toEqual([serverKey]);
  const unlinked = sampleReport({ uptimeMs: 9_000 });
  expect(linksOf(unlinked).size).toBe(0);
  expect(ratesBetween(unlinked, linkedBefore)?.links).toEqual(new Map());
});

test('[MON-001] a node with several addresses has one link', () => {
  const [mesh] = linkedBefore.snapshot.routeMeshes;
  const peers = mesh!.peers.flatMap((row) => [row, { ...row, endpoint: 'tcp://other:1' }]);
  const routeMeshes = [{ ...mesh!, peers }];
  const twice = { ...linkedBefore, snapshot: { ...linkedBefore.snapshot, routeMeshes } };
  expect([...linksOf(twice).keys()]).toEqual([peerKey, serverKey]);
});

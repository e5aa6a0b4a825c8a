/** Redis is gone for longer than a lease lives, with a host that wants to start meanwhile. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import {
  endHosts,
  expectOnce,
  findsStore,
  MESH_CALLS,
  reaches,
  SERVERS,
  startHost,
  startProcess,
} from './store-hosts.ts';
import { areBack, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

// The defaults, three times as fast; a host without Redis is fenced after 3.4 s.
const location = {
  ownerLeaseTtlMs: 5_000,
  ownerLeaseRenewIntervalMs: 1_600,
  ownerLeaseRenewTimeoutMs: 1_000,
  ownerLeaseFencingMarginMs: 1_600,
  pollingIntervalMs: 200,
};
const OUTAGE_MS = 2 * location.ownerLeaseTtlMs;
/** For a start to look for Redis in vain. */
const START_MS = 1_000;

let redis: RedisServer;
let view: StoreView;

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

test.each([
  ['empty', false],
  ['with its data', true],
] as const)(
  '[C13] [LOC-052] [LOC-064] [LOC-065] Redis is away for two leases and comes back %s: all are back, nothing was lost',
  async (_, keepsData) => {
    redis = await startRedisServer({ keepsData });
    view = await StoreView.open(redis.url, 'game');
    const store = { connection: { url: redis.url }, keyPrefix: 'game' };
    const [a, b, c] = await Promise.all([
      startHost({ name: 'a', store, location, mesh: 'server', serves: {} }),
      startHost({ name: 'b', store, location, mesh: 'server', serves: { routingId: 'b-1' } }),
      startHost({ name: 'c', store, location, mesh: 'client', calls: true }),
    ]);
    await Promise.all([...[a, b, c].map((host) => host.ask('peersReady', 2)), c.ask('serversReady', 2)]);
    const before = await view.published();
    expect(before).toHaveLength(5); // three nodes, two servers
    const direct = { verb: 'request', to: { rid: await a.ask('meshRid') } } as const;
    const kinds = [...MESH_CALLS, direct];
    await Promise.all([a, b, c].map((host) => host.ask('watch')));
    await c.ask('load', kinds);

    await redis.stop();
    const d = await startProcess();
    const fencedMs = await eventually(
      async () => (await c.ask('ask', SERVERS)).kind === 'Unavailable',
      'servers take nothing without a lease',
    );
    await rest(Math.max(0, OUTAGE_MS - fencedMs));
    const started = d.ask('start', { name: 'd', store, location, mesh: 'server' }); // not before: a start waits 10 s at most
    await rest(START_MS);
    expect((await c.ask('ask', SERVERS)).kind).toBe('Unavailable');
    expect((await c.ask('ask', direct)).by).toBe('a');
    for (const host of [a, b, c]) expect(await host.ask('peerRids')).toHaveLength(2);

    a.signal('SIGSTOP'); // the others find Redis back, and nothing of this host in it, before it can say otherwise
    await redis.start();
    await Promise.all([b, c].map((host) => findsStore(host, 'ready')));
    await rest(2 * location.pollingIntervalMs);
    a.signal('SIGCONT');
    await eventually(
      async () => areBack(await view.published(), before),
      'every descriptor stands there again, of a run that lives',
    );
    // What was gone was put back as something newer; what is still there is left as it is.
    for (const { rid, revision } of await view.published()) {
      const own = before.find((one) => one.rid === rid);
      if (own !== undefined) expect(revision > own.revision).toBe(!keepsData);
    }
    await Promise.all(['a', 'b'].map((by) => reaches(c, SERVERS, by)));
    await started;
    const newcomer = await d.ask('meshRid');
    await Promise.all([a, b, c, d].map((host) => host.ask('peersReady', 3)));

    await expectOnce([a, b], await c.ask('finish', kinds));
    for (const host of [a, b, c]) {
      expect((await host.ask('flaws')).filter((flaw) => !flaw.startsWith(newcomer))).toEqual([]);
    }
    await endHosts([a, b, c, d]);
    expect(await view.published()).toEqual([]);
  },
);

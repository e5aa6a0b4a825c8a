/** Connections to Redis that are refused, taken and cut again and again, while traffic runs. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createFaultProxy, type FaultProxy, type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { endHosts, expectOnce, MESH_CALLS, SERVERS, startHost } from './store-hosts.ts';
import { StoreView } from './store-view.ts';
import { establishedTo } from './tcp-links.ts';

jest.setTimeout(240_000);

// Renewals of several seconds may meet nothing but faults; that is no matter of this test.
const location = {
  ownerLeaseTtlMs: 60_000,
  ownerLeaseRenewIntervalMs: 500,
  ownerLeaseRenewTimeoutMs: 500,
  pollingIntervalMs: 50,
};
const ROUNDS = 20;
const REFUSED_MS = 300;
const CUT_MS = 150;
const BURST = 65;
const MESSAGES = 20_000;

let redis: RedisServer;
let proxy: FaultProxy;
let view: StoreView;

afterEach(async () => {
  await endChildren();
  await view.close();
  await proxy.close();
  await redis.close();
});

/** Connections of clients; that of the question is one. */
async function redisClients(): Promise<number> {
  return (await redis.command('CLIENT LIST')).match(/\bid=\d+ addr=/g)?.length ?? 0;
}

test('[C10] [LOC-064] connections to Redis break in every stage, 20 rounds long: no message is handled twice, nobody joins twice', async () => {
  redis = await startRedisServer();
  proxy = await createFaultProxy({ target: redis.address });
  view = await StoreView.open(redis.url, 'game');
  const store = { connection: { url: proxy.address.replace('tcp:', 'redis:') }, keyPrefix: 'game' };
  const hosts = await Promise.all([
    startHost({ name: 'a', store, location, mesh: 'server', serves: {} }),
    startHost({ name: 'b', store, location, mesh: 'server', serves: {} }),
    startHost({ name: 'c', store, location, mesh: 'client', calls: true }),
  ]);
  const [a, b, c] = hosts;
  await Promise.all([...hosts.map((host) => host.ask('peersReady', 2)), c.ask('serversReady', 2)]);
  const before = await view.published();
  const kinds = [SERVERS, ...MESH_CALLS, { verb: 'request', to: { rid: await a.ask('meshRid') } }] as const;
  await Promise.all(hosts.map((host) => host.ask('watch')));
  const burst = (): Promise<unknown> => Promise.all(kinds.map((kind) => c.ask('begin', kind, BURST)));
  const connected = (): Promise<unknown> =>
    eventually(async () => proxy.connections === hosts.length, 'each host has one connection');
  await connected();
  await c.ask('load', kinds);

  for (let round = 0; round < ROUNDS; round++) {
    const acceptedBefore = proxy.accepted;
    proxy.refuse();
    proxy.cut();
    await Promise.all([burst(), rest(REFUSED_MS)]);
    expect(proxy.accepted).toBe(acceptedBefore);
    proxy.restore();
    await Promise.all([burst(), connected()]);
    proxy.truncateAfter(32 << (round % 10)); // within the greeting, behind it, and behind the first commands
    await Promise.all([burst(), rest(CUT_MS)]);
    proxy.restore();
    await Promise.all([burst(), connected()]);
    expect(proxy.accepted).toBeGreaterThanOrEqual(acceptedBefore + hosts.length);
  }

  const ends = await c.ask('finish', kinds);
  await expectOnce([a, b], ends);
  expect(ends.reduce((sum, { started }) => sum + started, 0)).toBeGreaterThan(MESSAGES);
  for (const { by } of ends.slice(0, 2)) expect(Object.keys(by).sort()).toEqual(['a', 'b']);

  await connected();
  await eventually(async () => (await redisClients()) === hosts.length + 2, 'others are the view and the question');
  for (const host of hosts) {
    expect(await host.ask('flaws')).toEqual([]);
    expect(new Set(await host.ask('peerRids')).size).toBe(2);
    expect(await host.ask('peerRids')).toHaveLength(2);
  }
  expect(await c.ask('serverRids')).toHaveLength(2);
  const rows = await view.published();
  const facts = ({ rid, generation, revision, endpoint }: (typeof rows)[0]) => ({
    rid,
    generation,
    revision,
    endpoint,
  });
  expect(rows.map(facts)).toEqual(before.map(facts));
  const links = 3 + 2; // pairs of nodes, servers of the client
  const found = () => establishedTo(rows.map(({ endpoint }) => endpoint)) ?? links;
  await eventually(() => Promise.resolve(found() === links), `there are ${links} links`);
  await endHosts(hosts);
  await eventually(async () => (await redisClients()) === 2, 'the server has seen them go');
});

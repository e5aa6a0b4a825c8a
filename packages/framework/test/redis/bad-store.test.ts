/** A Redis that hangs, is slow, or breaks its connections all the time. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createFaultProxy, type FaultProxy, type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { endHosts, expectOnce, MESH_CALLS, reaches, SERVERS, startHost, type StoreHost } from './store-hosts.ts';
import { areBack, type Published, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

// Without Redis a host is fenced after 4 s.
const location = {
  ownerLeaseTtlMs: 5_000,
  ownerLeaseRenewIntervalMs: 800,
  ownerLeaseRenewTimeoutMs: 900,
  ownerLeaseFencingMarginMs: 1_000,
  pollingIntervalMs: 200,
};

let redis: RedisServer;
let proxy: FaultProxy;
let view: StoreView;
let before: readonly Published[];
let a: StoreHost;
let b: StoreHost;
let c: StoreHost;

beforeAll(async () => {
  redis = await startRedisServer();
  proxy = await createFaultProxy({ target: redis.address });
  view = await StoreView.open(redis.url, 'game');
  const store = { connection: { url: proxy.address.replace('tcp:', 'redis:') }, keyPrefix: 'game' };
  [a, b, c] = await Promise.all([
    startHost({ name: 'a', store, location, mesh: 'server', serves: {} }),
    startHost({ name: 'b', store, location, mesh: 'server', serves: {} }),
    startHost({ name: 'c', store, location, mesh: 'client', calls: true }),
  ]);
  await Promise.all([...[a, b, c].map((host) => host.ask('peersReady', 2)), c.ask('serversReady', 2)]);
  before = await view.published();
  await Promise.all([a, b, c].map((host) => host.ask('watch')));
});

afterAll(async () => {
  await endChildren();
  await view.close();
  await proxy.close();
  await redis.close();
});

/** @returns how to end it */
type Fault = () => () => void;

const hang: Fault = () => {
  redis.pause();
  return () => redis.resume();
};

const delay: Fault = () => {
  proxy.delay(250); // each way
  return () => proxy.restore();
};

const reset: Fault = () => {
  const timer = setInterval(() => proxy.cut(), 200);
  return () => clearInterval(timer);
};

test.each([
  ['hangs for less than a lease', hang, 1_500],
  ['needs 500 ms for an answer', delay, 4_500],
  ['breaks its connections every 200 ms', reset, 4_500],
] as const)('[LOC-064] Redis %s: no link ends, no candidate is lost, every call is answered', async (_, fault, ms) => {
  const kinds = [...MESH_CALLS, SERVERS];
  await c.ask('load', kinds);
  const end = fault();
  await rest(ms);
  end();
  await expectOnce([a, b], await c.ask('finish', kinds));
  await expectUnharmed();
});

test('[LOC-065] Redis hangs for longer than a lease: servers pause, links and candidates stay, all goes on by itself', async () => {
  await c.ask('load', MESH_CALLS);
  redis.pause();
  await rest(location.ownerLeaseTtlMs + 1_500);
  expect((await c.ask('ask', SERVERS)).kind).toBe('Unavailable');
  redis.resume();
  await Promise.all(['a', 'b'].map((by) => reaches(c, SERVERS, by)));
  await expectOnce([a, b], await c.ask('finish', MESH_CALLS));
  await expectUnharmed();
});

test('[LOC-055] after all of it every host ends in order and leaves nothing in the store', async () => {
  await endHosts([a, b, c]);
  expect(await view.published()).toEqual([]);
});

async function expectUnharmed(): Promise<void> {
  const after = await view.published();
  const isBack = async (): Promise<boolean> => {
    const now = await view.published();
    return areBack(now, before) && areBack(now, after, 'renewed');
  };
  await eventually(isBack, 'every lease is renewed');
  for (const host of [a, b, c]) expect(await host.ask('flaws')).toEqual([]);
}

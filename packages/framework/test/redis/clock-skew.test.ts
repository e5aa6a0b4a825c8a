/** Hosts whose wall clocks are minutes apart, and jump. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren, startChild } from '../faults/fault-child.ts';
import type { FaultStoreHost, StoreHostOptions } from '../fixtures/fault-store-host.ts';
import { eventually } from './eventually.ts';
import { endHosts, expectOnce, MESH_CALLS, SERVERS, type StoreHost } from './store-hosts.ts';
import { areBack, type Published, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

// Long enough that a busy machine renews in time.
const location = {
  ownerLeaseTtlMs: 4_500,
  ownerLeaseRenewIntervalMs: 600,
  ownerLeaseRenewTimeoutMs: 1_000,
  ownerLeaseFencingMarginMs: 1_000,
  pollingIntervalMs: 100,
};
const SKEW_MS = 180_000;
const SHORT_MS = 10_000;

let redis: RedisServer;
let view: StoreView;

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

const clockOf = async (host: StoreHost): Promise<number> => Number(await host.next('wall clock')) - Date.now();

async function startSkewed(skewMs: number, options: StoreHostOptions): Promise<StoreHost> {
  const preload = new URL(`../fixtures/skewed-clock.mjs?ms=${skewMs}`, import.meta.url).href;
  const host = await startChild<FaultStoreHost>('store-host', { flags: ['--import', preload] });
  expect(Math.abs((await clockOf(host)) - skewMs)).toBeLessThan(SHORT_MS); // in itself the host cannot tell
  await host.ask('start', options);
  return host;
}

test('[LOC-072] hosts whose clocks are six minutes apart, and change places, find each other, keep their leases and answer', async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const hosts = await Promise.all([
    startSkewed(+SKEW_MS, { name: 'early', store, location, mesh: 'server', serves: {} }),
    startSkewed(-SKEW_MS, { name: 'late', store, location, mesh: 'server', serves: {} }),
    startSkewed(+SKEW_MS, { name: 'early caller', store, location, mesh: 'client', calls: true }),
    startSkewed(-SKEW_MS, { name: 'late caller', store, location, mesh: 'client', calls: true }),
  ]);
  const [early, late, ...callers] = hosts;
  const kinds = [SERVERS, ...MESH_CALLS];
  await Promise.all([
    ...hosts.map((host) => host.ask('peersReady', 3)),
    ...callers.map((host) => host.ask('serversReady', 2)),
  ]);
  const before = await view.published();
  expect(before).toHaveLength(4 + 2);
  for (const { leaseEndsAtMs = 0 } of before) {
    expect(Math.abs(leaseEndsAtMs - Date.now())).toBeLessThan(SHORT_MS); // by the store's clock, which is ours
  }
  await Promise.all([...hosts.map((host) => host.ask('watch')), ...callers.map((host) => host.ask('load', kinds))]);

  await rest(1.2 * location.ownerLeaseTtlMs);
  for (const host of hosts) host.signal('SIGUSR2'); // from early to late, and the other way round
  const skews = await Promise.all(hosts.map(clockOf));
  expect(skews.map((skewMs) => Math.sign(skewMs))).toEqual([-1, 1, -1, 1]);
  await rest(1.2 * location.ownerLeaseTtlMs);

  for (const caller of callers) await expectOnce([early, late], await caller.ask('finish', kinds));
  const isRenewed = async (): Promise<boolean> => areBack(await view.published(), before, 'renewed');
  await eventually(isRenewed, 'every lease is renewed');
  const facts = ({ rid, generation, revision, ownerId }: Published) => ({ rid, generation, revision, ownerId });
  expect((await view.published()).map(facts)).toEqual(before.map(facts));
  for (const host of hosts) expect(await host.ask('flaws')).toEqual([]);
  await endHosts(hosts);
  expect(await view.traces()).toEqual([]);
});

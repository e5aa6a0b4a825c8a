/** A host that does nothing for seconds but lives, and hosts that are dead. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { descriptorKey, leaseKey } from '@zlink/kernel/location';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { CHANNEL, MESH } from '../fixtures/fault-packets.ts';
import { endChildren } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { endHosts, MESH_CALLS, reaches, SERVERS, startHost } from './store-hosts.ts';
import { areBack, type Published, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

const BLOCKED_MS = 4_000;
const SLACK_MS = 20_000; // a busy machine is late

let redis: RedisServer;
let view: StoreView;

beforeEach(async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
});

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

test('[C15] [LOC-063] a host whose event loop stands still for 4 s keeps its records, links and calls, with the defaults', async () => {
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const blocked = await startHost({ name: 'blocked', store, mesh: 'server', serves: {} });
  const other = await startHost({ name: 'other', store, mesh: 'client', calls: true });
  await Promise.all([blocked.ask('peersReady', 1), other.ask('peersReady', 1), other.ask('serversReady', 1)]);
  const before = await view.published();
  expect(before).toHaveLength(3);
  await other.ask('watch');

  let isOver = false;
  const blocking = blocked.ask('block', BLOCKED_MS).finally(() => (isOver = true));
  const asked = [SERVERS, ...MESH_CALLS].map((kind) => other.ask('ask', kind, BLOCKED_MS + SLACK_MS));
  let looks = 0;
  for (; !isOver; looks++) {
    expect((await view.published()).map(({ revision }) => revision)).toEqual(before.map(({ revision }) => revision));
    expect(areBack(await view.published(), before)).toBe(true);
    await rest(50);
  }
  await blocking;
  expect(looks).toBeGreaterThan(1); // how many depends on the machine
  expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
  await eventually(async () => areBack(await view.published(), before, 'renewed'), 'leases are renewed');
  const facts = ({ rid, generation, revision }: Published) => ({ rid, generation, revision });
  expect((await view.published()).map(facts)).toEqual(before.map(facts));
  expect(await other.ask('flaws')).toEqual([]);
  await endHosts([blocked, other]);
});

test('[C15] [LOC-055] [LOC-063] hosts that were killed are left out after a lease and gone after another, also if their descriptors were', async () => {
  const location = {
    ownerLeaseTtlMs: 2_000,
    ownerLeaseRenewIntervalMs: 500,
    ownerLeaseRenewTimeoutMs: 500,
    ownerLeaseFencingMarginMs: 500,
    pollingIntervalMs: 200,
  };
  const noticedMs = location.ownerLeaseTtlMs + location.ownerLeaseRenewIntervalMs;
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const [killed, hidden, finder] = await Promise.all([
    startHost({ name: 'killed', store, location, mesh: 'server', serves: {} }),
    startHost({ name: 'hidden', store, location, mesh: 'server', serves: {} }),
    startHost({ name: 'finder', store, location, mesh: 'client', calls: true }),
  ]);
  await Promise.all([finder.ask('peersReady', 2), finder.ask('serversReady', 2)]);
  const nodes = await Promise.all([killed, hidden].map((host) => host.ask('meshRid')));
  const published = await view.published();
  const ownerOf = (node: string | undefined) => published.find(({ rid }) => rid === node)?.ownerId;
  const owned = (at: number) => published.filter(({ ownerId }) => ownerId === ownerOf(nodes[at]));
  expect([owned(0).length, owned(1).length]).toEqual([2, 2]);
  await finder.ask('watch');

  for (const { rid } of owned(1)) {
    const kind = rid === nodes[1] ? 'mesh' : 'clientServer';
    await view.remove(descriptorKey({ kind, name: kind === 'mesh' ? MESH : CHANNEL }, rid));
  }
  await Promise.all([killed.kill(), hidden.kill()]);
  const killedAtMs = performance.now();
  const leases = [0, 1].map((at) => leaseKey(ownerOf(nodes[at]) ?? ''));
  const rids = owned(0).map(({ rid }) => rid);
  await Promise.all([
    eventually(
      async () => {
        const flaws = await finder.ask('flaws');
        return rids.every((rid) => flaws.some((flaw) => flaw.startsWith(rid) && /lease/.test(flaw)));
      },
      'the other host sees that they have no lease',
      noticedMs + SLACK_MS,
    ),
    eventually(
      async () => (await view.traces()).every((key) => !leases.includes(key)),
      'their leases have ended',
      noticedMs + SLACK_MS,
    ),
  ]);
  await eventually(
    async () => (await view.traces()).length === 2, // lease and node of the finder
    'nothing of them is left',
    noticedMs + SLACK_MS - (performance.now() - killedAtMs),
  );
  await eventually(
    async () => (await finder.ask('serverRids')).length + (await finder.ask('peerRids')).length === 0,
    'the other host knows nobody any more',
  );
  const successor = await startHost({ name: 'successor', store, location, mesh: 'server', serves: {} });
  for (const kind of [SERVERS, MESH_CALLS[0]!]) await reaches(finder, kind, 'successor');
  await endHosts([successor, finder]);
  expect(await view.traces()).toEqual([]);
});

/** Cluster: redirections, slots on their way, and primaries that change. */
import { jest } from '@jest/globals';
import type { LocationStore, RelocationStore } from '@zlink/kernel/location';
import { createRedisLocationStore, createRedisRelocationStore } from '../src/index.ts';
import { blobKey, locationKeys } from '../src/keys.ts';
import { batch, endOf, put, versionOf } from './batches.ts';
import { type ClusterDeployment, slotOf, startCluster } from './servers/cluster.ts';
import { eventually } from './servers/eventually.ts';
import type { RedisProcess } from './servers/redis-process.ts';

jest.setTimeout(300_000);

const slot = slotOf(locationKeys('game').meta);

let redis: ClusterDeployment;
let store: LocationStore;
let blobs: RelocationStore;
let disruptions = 0;

beforeAll(async () => {
  redis = await startCluster(true);
  const options = { keyPrefix: 'game', connection: redis.connection(), operationTimeoutMs: 10_000 };
  store = createRedisLocationStore(options);
  blobs = createRedisRelocationStore(options);
  store.onDisruption?.(() => disruptions++);
  await store.open();
  await blobs.open();
});

afterAll(async () => {
  await store.dispose();
  await blobs.dispose();
  await redis.close();
});

const idOf = async ({ admin }: RedisProcess) => String(await admin.call('CLUSTER', ['MYID']));

/** Between the two steps of a migration; `back` takes it back. */
async function migrating(moved: number, during: (target: RedisProcess) => Promise<void>): Promise<void> {
  const source = redis.ownerOf(moved);
  const target = redis.primaries.find((node) => node !== source) as RedisProcess; // there are three
  const [sourceId, targetId] = await Promise.all([idOf(source), idOf(target)]);
  await target.admin.call('CLUSTER', ['SETSLOT', moved, 'IMPORTING', sourceId]);
  await source.admin.call('CLUSTER', ['SETSLOT', moved, 'MIGRATING', targetId]);
  try {
    await during(target);
  } finally {
    await source.admin.call('CLUSTER', ['SETSLOT', moved, 'STABLE']);
    await target.admin.call('CLUSTER', ['SETSLOT', moved, 'STABLE']);
  }
}

/** A failover that was asked for lapses after 5 s, if a node had no time for it: then it has to be asked for again. */
async function promote(replica: RedisProcess): Promise<void> {
  let askAgainAtMs = 0;
  await eventually(async () => {
    if ((await replica.admin.info('replication')).includes('role:master')) return true;
    if (performance.now() < askAgainAtMs) return false;
    if ((await replica.admin.call('CLUSTER', ['FAILOVER'])) === 'OK') askAgainAtMs = performance.now() + 6_000;
    return false;
  }, 'it is the primary');
}

test('[REDIS-006] blobs spread over all primaries', async () => {
  for (let ref = 0; ref < 60; ref++) await blobs.put(`spread-${ref}`, Buffer.from('x'), 60_000);
  for (const { admin } of redis.primaries) expect((await admin.keys('game:B:spread-*')).length).toBeGreaterThan(5);
});

test('[REDIS-006] while its slot is on its way the Location Store is unavailable, and nothing is applied', async () => {
  await store.commit(batch([put('a')]));
  const change = batch([put('b')]);
  await migrating(slot, async () => {
    expect(await endOf(store.commit(change))).toBe('unavailable/notApplied');
  });
  expect(await store.commit(change)).toMatchObject({ kind: 'applied', replayed: false });
});

test('[REDIS-006] a blob in a slot on its way goes where the cluster says', async () => {
  const key = blobKey('game', 'travels');
  await migrating(slotOf(key), async ({ admin }) => {
    expect(await blobs.put('travels', Buffer.from('x'), 60_000)).toMatchObject({ kind: 'stored' });
    expect((await blobs.read('travels')).bytes).toHaveLength(1);
    expect(await admin.call('CLUSTER', ['COUNTKEYSINSLOT', slotOf(key)])).toBe(1);
    await blobs.delete('travels');
    expect(await admin.call('CLUSTER', ['COUNTKEYSINSLOT', slotOf(key)])).toBe(0);
  });
});

test('[REDIS-006] primaries that change are followed, whether the old one still answers or not', async () => {
  const index = redis.primaries.indexOf(redis.ownerOf(slot));
  const primary = redis.primaries[index] as RedisProcess;
  const replica = redis.replicas[index] as RedisProcess;
  const before = versionOf(await store.commit(batch([put('c')])));
  const heardBefore = disruptions;
  await promote(replica);
  await eventually(async () => (await endOf(store.read({}))) === 'done', 'the store follows');
  expect(disruptions).toBe(heardBefore + 1); // nothing was lost, but only the data can tell
  expect((await store.read({ records: ['c'] })).records[0]?.version).toBe(before);

  await eventually(async () => (await primary.admin.info('replication')).includes('master_link_status:up'), 'in step');
  await replica.stop();
  await eventually(async () => (await endOf(store.read({}))) === 'done', 'the store follows again');
  expect((await store.read({ records: ['c'] })).records[0]?.version).toBe(before);
  expect(versionOf(await store.commit(batch([put('c')])))).toBeGreaterThan(before);
});

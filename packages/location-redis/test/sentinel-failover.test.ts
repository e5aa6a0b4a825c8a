/** Sentinel: acknowledgements by a replica, and a failover to one that lacks a write. */
import { jest } from '@jest/globals';
import type { LocationStore } from '@zlink/kernel/location';
import { createRedisLocationStore, type RedisStoreOptions } from '../src/index.ts';
import { batch, endOf, put, versionOf } from './batches.ts';
import { eventually, PATIENT_MS } from './servers/eventually.ts';
import { type SentinelDeployment, startSentinel } from './servers/sentinel.ts';

jest.setTimeout(300_000);

let redis: SentinelDeployment;
let stores: LocationStore[] = [];

beforeAll(async () => {
  redis = await startSentinel(true);
});

afterAll(() => redis.close());

afterEach(async () => {
  for (const store of stores) await store.dispose();
  stores = [];
});

async function openStore(options: Omit<RedisStoreOptions, 'connection'>): Promise<LocationStore> {
  const store = createRedisLocationStore({ connection: redis.connection(), ...options });
  stores.push(store);
  await store.open();
  return store;
}

test('[REDIS-008] a write counts once the replica has it; repeated it waits again', async () => {
  const acks = { keyPrefix: 'acks', replicaAcks: 1, operationTimeoutMs: 60_000 };
  const store = await openStore({ ...acks, replicaAckTimeoutMs: PATIENT_MS });
  const impatient = await openStore(acks); // waits as long as by default
  versionOf(await store.commit(batch([put('a')])));
  const change = batch([put('b')]);
  redis.replica.pause();
  try {
    expect(await endOf(impatient.commit(change))).toBe('unavailable/unknown');
    expect(await endOf(impatient.commit(change))).toBe('unavailable/unknown');
  } finally {
    redis.replica.resume();
  }
  expect(await store.commit(change)).toMatchObject({ kind: 'applied', replayed: true });
  expect(await redis.replica.admin.exists('{acks}:L:r:b')).toBe(1);
});

test('[REDIS-007] a failover that lost a write is signalled, and the old version fences nothing in', async () => {
  const store = await openStore({ keyPrefix: 'game', operationTimeoutMs: 10_000 });
  let disruptions = 0;
  store.onDisruption?.(() => disruptions++);
  const kept = versionOf(await store.commit(batch([put('acct/7', 'nobody')])));
  await eventually(async () => (await redis.replica.admin.exists('{game}:L:r:acct/7')) === 1, 'the replica has it');
  await redis.replica.admin.replicaof('127.0.0.1', 1); // replication is cut: nobody listens there
  const claim = batch([put('acct/7', 'A')], [{ kind: 'version', key: 'acct/7', version: kept }]);
  const lost = versionOf(await store.commit(claim));
  expect(disruptions).toBe(0);

  await redis.primary.stop();
  await redis.promoted();
  await eventually(async () => (await endOf(store.read({}))) === 'done', 'the store follows');
  expect(disruptions).toBe(1);
  const { records } = await store.read({ records: ['acct/7'] });
  expect(records[0]?.version).toBe(kept);
  const late = batch([put('acct/7', 'A again')], [{ kind: 'version', key: 'acct/7', version: lost }]);
  expect(await store.commit(late)).toMatchObject({ kind: 'conflict', conditionIndex: 0 });
  const other = batch([put('acct/7', 'B')], [{ kind: 'version', key: 'acct/7', version: kept }]);
  expect(versionOf(await store.commit(other))).toBeGreaterThan(lost);
});

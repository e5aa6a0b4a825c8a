/** Sentinel: acknowledgements by a replica, and a failover to one that lacks a write. */
import { jest } from '@jest/globals';
import type { LocationStore } from '@zlink/kernel/location';
import { createRedisLocationStore } from '../src/index.ts';
import { batch, endOf, put, versionOf } from './batches.ts';
import { eventually } from './servers/eventually.ts';
import { type SentinelDeployment, startSentinel } from './servers/sentinel.ts';

jest.setTimeout(120_000);

let redis: SentinelDeployment;
let store: LocationStore;

beforeAll(async () => {
  redis = await startSentinel();
});

afterAll(() => redis.close());

afterEach(() => store.dispose());

test('[REDIS-008] a write counts once the replica has it; repeated it waits again', async () => {
  const options = { replicaAcks: 1, replicaAckTimeoutMs: 2_000, operationTimeoutMs: 10_000 };
  store = createRedisLocationStore({ keyPrefix: 'acks', connection: redis.connection(), ...options });
  await store.open();
  versionOf(await store.commit(batch([put('a')])));
  const change = batch([put('b')]);
  redis.replica.pause();
  try {
    expect(await endOf(store.commit(change))).toBe('unavailable/unknown');
    expect(await endOf(store.commit(change))).toBe('unavailable/unknown');
  } finally {
    redis.replica.resume();
  }
  expect(await store.commit(change)).toMatchObject({ kind: 'applied', replayed: true });
  expect(await redis.replica.admin.exists('{acks}:L:r:b')).toBe(1);
});

test('[REDIS-007] a failover that lost a write is signalled, and the old version fences nothing in', async () => {
  store = createRedisLocationStore({ keyPrefix: 'game', connection: redis.connection() });
  await store.open();
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

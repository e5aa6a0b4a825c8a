/** A server that hangs, ends or restarts, and connections that break, as the callers of a store see it. */
import { jest } from '@jest/globals';
import type { LocationStore } from '@zlink/kernel/location';
import { createFaultProxy, type FaultProxy } from '@zlink/testing';
import { systemClock } from '@zlink/kernel/internal/time';
import { createRedisLocationStore, createRedisRelocationStore } from '../src/index.ts';
import { resolveRedisStoreOptions } from '../src/options.ts';
import { RedisLocationStore } from '../src/redis-location-store.ts';
import { batch, endOf, put } from './batches.ts';
import { addressOf } from './servers/deployment.ts';
import { eventually, PATIENT_MS } from './servers/eventually.ts';
import { type Standalone, startStandalone } from './servers/standalone.ts';

jest.setTimeout(300_000);

/** Long enough for a call on a busy machine. */
const TIMEOUT_MS = 4_000;

let redis: Standalone;
let proxy: FaultProxy;
let store: LocationStore;
let disruptions: number;

beforeAll(async () => {
  redis = await startStandalone(['--enable-debug-command', 'yes']);
});

afterAll(() => redis.close());

function createStore(operationTimeoutMs: number): LocationStore {
  const connection = redis.connection([{ target: addressOf(redis.server), address: proxy.address }]);
  return createRedisLocationStore({ keyPrefix: 'game', connection, operationTimeoutMs });
}

beforeEach(async () => {
  proxy = await createFaultProxy({ target: addressOf(redis.server) });
  store = createStore(TIMEOUT_MS);
  disruptions = 0;
  store.onDisruption?.(() => disruptions++);
  await store.open();
});

afterEach(async () => {
  await store.dispose();
  await proxy.close();
  await redis.server.admin.flushall();
});

const works = () => eventually(async () => (await endOf(store.read({}))) === 'done', 'the store answers');

test('[REDIS-004] a server that hangs: timeout and unknown in time; the repetition tells what became of it', async () => {
  const change = batch([put('a'), { kind: 'add', counter: 'n', delta: 1 }]);
  redis.server.pause();
  const startedAt = performance.now();
  const end = endOf(store.commit(change));
  try {
    expect(await end).toBe('timeout/unknown');
  } finally {
    redis.server.resume();
  }
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThan(TIMEOUT_MS - 10);
  expect(tookMs).toBeLessThan(TIMEOUT_MS + 10_000); // a busy machine is late
  await works();
  await store.commit(change);
  expect((await store.read({ counters: ['n'] })).counters).toEqual([1]);
});

test('[REDIS-004] a server that hangs while nothing is under way: what was not sent was not applied', async () => {
  redis.server.pause();
  try {
    expect(await endOf(store.read({}))).toBe('timeout/unknown'); // the connection is dropped here
    expect(await endOf(store.commit(batch([put('a')])))).toBe('unavailable/notApplied');
  } finally {
    redis.server.resume();
  }
  await works();
  expect((await store.read({ records: ['a'] })).records).toEqual([undefined]);
});

test('[REDIS-004] a peer that is gone without a word does not hold the store: it dials again', async () => {
  proxy.blackhole();
  expect(await endOf(store.commit(batch([put('a')])))).toBe('timeout/unknown');
  const { accepted } = proxy;
  await eventually(async () => proxy.accepted > accepted, 'another connection is dialled');
  proxy.restore();
  await works();
  expect((await store.read({ records: ['a'] })).records).toEqual([undefined]);
});

test('[REDIS-004] a reset in the middle of a commit: unknown, and the repetition applies it once', async () => {
  const change = batch([put('a', 'x'.repeat(500_000)), { kind: 'add', counter: 'n', delta: 1 }]);
  proxy.truncateAfter(100_000);
  expect(await endOf(store.commit(change))).toBe('unavailable/unknown');
  proxy.restore();
  await works();
  expect(await store.commit(change)).toMatchObject({ kind: 'applied', replayed: false, counters: [1] });
  expect(disruptions).toBe(0);
});

test('[REDIS-004] a reset before the answer: unknown, and the repetition is told the first answer', async () => {
  const change = batch([{ kind: 'add', counter: 'n', delta: 1 }]);
  const patient = createStore(PATIENT_MS);
  await patient.open();
  proxy.blackhole('toClient');
  const end = endOf(patient.commit(change));
  await eventually(async () => (await redis.server.admin.get('{game}:L:n:n')) === '1', 'it is applied');
  proxy.restore();
  expect(await end).toBe('unavailable/unknown');
  expect(await patient.commit(change)).toMatchObject({ kind: 'applied', replayed: true, counters: [1] });
  await patient.dispose();
});

test('[REDIS-004] a call waits for the connection as long as its patience lasts', async () => {
  proxy.refuse();
  proxy.cut();
  await eventually(async () => (await endOf(store.read({}))) === 'unavailable/notApplied', 'the loss is noticed');
  const startedAt = performance.now();
  expect(await endOf(store.commit(batch([put('late')])))).toBe('unavailable/notApplied');
  expect(performance.now() - startedAt).toBeGreaterThan(TIMEOUT_MS - 10);
  const waiting = eventually(async () => (await endOf(store.commit(batch([put('a')])))) === 'done', 'it gets through');
  proxy.restore();
  await waiting;
  const { records } = await store.read({ records: ['a', 'late'] });
  expect([records[0]?.key, records[1]]).toEqual(['a', undefined]);
});

test('[REDIS-004] an abort ends the wait at once, and says what is known', async () => {
  const sent = new AbortController();
  redis.server.pause();
  const end = endOf(store.commit(batch([put('a')]), sent.signal));
  await new Promise((resolve) => setImmediate(resolve));
  sent.abort();
  redis.server.resume();
  expect(await end).toBe('timeout/unknown');

  proxy.refuse();
  proxy.cut();
  await eventually(async () => (await endOf(store.read({}))) === 'unavailable/notApplied', 'the loss is noticed');
  const waiting = new AbortController();
  const never = endOf(store.commit(batch([put('b')]), waiting.signal));
  await new Promise((resolve) => setImmediate(resolve));
  waiting.abort();
  expect(await never).toBe('timeout/notApplied');
});

test('[REDIS-007] a connection that breaks and comes back to the same server is no disruption', async () => {
  await store.commit(batch([put('a')]));
  proxy.cut();
  await works();
  expect((await store.read({ records: ['a'] })).records[0]?.key).toBe('a');
  expect(disruptions).toBe(0);
});

test('[REDIS-007] a new replication history is noticed every 30 s, without any call', async () => {
  const due: [callback: () => void, delayMs: number][] = [];
  const setBackgroundTimer = (callback: () => void, delayMs: number): number => due.push([callback, delayMs]);
  const connection = redis.connection();
  const options = resolveRedisStoreOptions({ keyPrefix: 'game', connection, operationTimeoutMs: PATIENT_MS });
  const patient = new RedisLocationStore(options, { ...systemClock, setBackgroundTimer });
  let heard = 0;
  patient.onDisruption(() => heard++);
  await patient.open();
  const tick = (): void => {
    const [callback, delayMs] = due.shift() ?? [() => undefined, 0];
    expect(delayMs).toBe(30_000);
    callback();
  };
  tick();
  await patient.read({});
  expect(heard).toBe(0);
  await redis.server.admin.call('DEBUG', ['CHANGE-REPL-ID']);
  tick();
  await eventually(async () => heard === 1, 'it is noticed');
  await patient.dispose();
});

test('[REDIS-004] a primary that has become a replica: nothing is applied, and the store looks for another', async () => {
  await redis.server.admin.replicaof('127.0.0.1', 1);
  const { accepted } = proxy;
  expect(await endOf(store.commit(batch([put('a')])))).toBe('unavailable/notApplied');
  await eventually(async () => proxy.accepted > accepted, 'another connection is dialled');
  expect(await endOf(store.read({}))).toBe('unavailable/notApplied');
  await redis.server.admin.replicaof('NO', 'ONE');
  await works();
  expect((await store.read({ records: ['a'] })).records).toEqual([undefined]);
  expect(disruptions).toBe(1);
});

test('[REDIS-007] a server that restarts empty is noticed before the first answer', async () => {
  await store.commit(batch([put('a')]));
  await redis.server.restart();
  let seen = -1;
  await eventually(async () => {
    const { records } = await store.read({ records: ['a'] });
    if (seen < 0) seen = disruptions;
    return records[0] === undefined;
  }, 'the store answers');
  expect(seen).toBe(1);
  expect(await store.commit(batch([put('a')]))).toMatchObject({ kind: 'applied' });
  expect(disruptions).toBe(1);
});

test('[REDIS-003] restarts under load: every commit that was acknowledged since the last one is there', async () => {
  let acknowledged: string[] = [];
  let running = true;
  store.onDisruption?.(() => (acknowledged = []));
  const load = Array.from({ length: 8 }, async (_, lane) => {
    for (let round = 0; running; round++) {
      const key = `k/${lane}/${round}`;
      if ((await endOf(store.commit(batch([put(key)])))) === 'done') acknowledged.push(key);
    }
  });
  for (let time = 0; time < 2; time++) {
    await eventually(async () => acknowledged.length > 50, 'commits go on');
    await redis.server.restart();
    await eventually(async () => disruptions === time + 1, 'the restart is noticed');
  }
  await eventually(async () => acknowledged.length > 50, 'commits go on');
  running = false;
  await Promise.all(load);
  const keys = acknowledged.slice(-500);
  const { records } = await store.read({ records: keys });
  expect(records.filter((record) => record === undefined)).toEqual([]);
});

test('[REDIS-009] a blob store recovers from a break by itself', async () => {
  const blobs = createRedisRelocationStore({
    keyPrefix: 'game',
    connection: redis.connection([{ target: addressOf(redis.server), address: proxy.address }]),
    operationTimeoutMs: TIMEOUT_MS,
  });
  await blobs.open();
  proxy.truncateAfter(1_000);
  const payload = Buffer.alloc(1_000_000, 'z');
  expect(await endOf(blobs.put('r', payload, 60_000))).toBe('unavailable/unknown');
  proxy.restore();
  await eventually(async () => (await endOf(blobs.put('r', payload, 60_000))) === 'done', 'the blob is put');
  expect(await blobs.put('r', payload, 60_000)).toMatchObject({ kind: 'alreadyStored' });
  await blobs.dispose();
});

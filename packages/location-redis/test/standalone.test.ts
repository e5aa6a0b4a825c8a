/** What the stores do with one Redis, looked at from both sides. */
import { jest } from '@jest/globals';
import type { LocationStore, RelocationStore } from '@zlink/kernel/location';
import { Redis } from 'ioredis';
import { createRedisLocationStore, createRedisRelocationStore } from '../src/index.ts';
import { locationKeys } from '../src/keys.ts';
import { batch, endOf, put, versionOf } from './batches.ts';
import { eventually, PATIENT_MS } from './servers/eventually.ts';
import { type Standalone, startStandalone } from './servers/standalone.ts';

jest.setTimeout(300_000);

let redis: Standalone;
let count = 0;
let prefix = '';
let opened: (LocationStore | RelocationStore)[] = [];

beforeAll(async () => {
  redis = await startStandalone();
});

afterAll(() => redis.close());

beforeEach(() => {
  prefix = `game-${count++}`;
});

afterEach(async () => {
  for (const store of opened) await store.dispose();
  opened = [];
});

const ours = () => ({ keyPrefix: prefix, connection: redis.connection(), operationTimeoutMs: PATIENT_MS });

async function openLocation(options: { replicaAcks?: number } = {}): Promise<LocationStore> {
  const store = createRedisLocationStore({ ...ours(), ...options });
  opened.push(store);
  await store.open();
  return store;
}

async function openRelocation(): Promise<RelocationStore> {
  const store = createRedisRelocationStore(ours());
  opened.push(store);
  await store.open();
  return store;
}

const admin = () => redis.server.admin;

test('[REDIS-010] both stores in one namespace lie under the documented keys, side by side', async () => {
  const location = await openLocation();
  const relocation = await openRelocation();
  const change = batch([put('a/1', 'text', 600_000), put('a/2'), { kind: 'add', counter: 'n', delta: 4 }]);
  const begunAtMs = performance.now();
  const version = versionOf(await location.commit(change));
  await relocation.put('blob-1', Buffer.from('payload'), 600_000);

  const k = `{${prefix}}:L:`;
  expect((await admin().keys(`*${prefix}*`)).sort()).toEqual(
    [
      `${prefix}:B:blob-1`,
      ...['i', 'meta', 'n:n', 'r:a/1', 'r:a/2', 'ver', `o:${change.operationId}`].map((name) => k + name),
    ].sort(),
  );
  const now = Date.now();
  const first = await admin().hgetall(`${k}r:a/1`);
  expect(first).toEqual({
    v: 'text',
    n: String(version),
    c: String(version),
    x: expect.stringMatching(/^\d{13}$/) as string,
  });
  expect(Number(first['x'])).toBeGreaterThan(now + 500_000);
  expect(await admin().hgetall(`${k}r:a/2`)).toEqual({ v: 'x', n: String(version), c: String(version) });
  expect(await admin().pttl(`${k}r:a/2`)).toBe(-1);
  expect(await admin().pttl(`${k}r:a/1`)).toBeGreaterThan(500_000);
  expect(await admin().get(`${k}ver`)).toBe(String(version));
  expect(await admin().get(`${k}n:n`)).toBe('4');
  expect(await admin().get(`${k}o:${change.operationId}`)).toBe(`${version}|4`);
  const replayMs = await admin().pttl(`${k}o:${change.operationId}`);
  expect(replayMs).toBeGreaterThan(120_000 - (performance.now() - begunAtMs) - 5); // clocks of two processes
  expect(await admin().zrange(`${k}i`, '0', '-1', 'WITHSCORES')).toEqual(['a/1', '0', 'a/2', '0']);
  expect(await admin().hgetall(`${k}meta`)).toMatchObject({
    schema: '1',
    storeId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
  expect(await admin().hgetall(`${prefix}:B:blob-1`)).toMatchObject({ p: 'payload', l: '7' });
  expect(await admin().pttl(`${prefix}:B:blob-1`)).toBeGreaterThan(500_000);

  await relocation.delete('blob-1');
  await location.commit(
    batch([
      { kind: 'add', counter: 'n', delta: -4 },
      { kind: 'delete', key: 'a/1' },
    ]),
  );
  expect(await admin().exists(`${prefix}:B:blob-1`, `${k}n:n`, `${k}r:a/1`)).toBe(0);
  expect(await admin().zrange(`${k}i`, '0', '-1')).toEqual(['a/2']);
});

test('[REDIS-001] versions follow the clock, and go on where the clock has stepped back', async () => {
  const store = await openLocation();
  const { version: versionKey } = locationKeys(prefix);
  const beforeMs = Date.now();
  const first = versionOf(await store.commit(batch([put('a')])));
  expect(Number(first) / 1_000).toBeGreaterThanOrEqual(beforeMs - 5); // clocks of two processes
  expect(Number(first) / 1_000).toBeLessThanOrEqual(Date.now() + 5);
  const ahead = first + 3_600_000_000n;
  await admin().set(versionKey, String(ahead));
  expect(versionOf(await store.commit(batch([put('a')])))).toBe(ahead + 1n);
  await admin().set(versionKey, '9007199254740989');
  expect(versionOf(await store.commit(batch([put('a')])))).toBe(9_007_199_254_740_990n);
  expect(versionOf(await store.commit(batch([put('a')])))).toBe(9_007_199_254_740_991n);
  expect(await endOf(store.commit(batch([put('a')])))).toBe('exhausted/notApplied');
  const { records } = await store.read({ records: ['a'] });
  expect(records[0]?.version).toBe(9_007_199_254_740_991n);
});

test('[REDIS-001] a batch that Redis has no memory for changes nothing, deletions included', async () => {
  const store = await openLocation();
  await store.commit(batch([put('a'), { kind: 'add', counter: 'n', delta: 1 }]));
  await admin().config('SET', 'maxmemory', '1');
  try {
    for (const mutations of [
      [{ kind: 'delete', key: 'a' } as const],
      [{ kind: 'delete', key: 'a' } as const, put('b')],
      [{ kind: 'add', counter: 'n', delta: -1 } as const],
    ])
      expect(await endOf(store.commit(batch(mutations)))).toBe('unavailable/notApplied');
  } finally {
    await admin().config('SET', 'maxmemory', '0');
  }
  const { records, counters } = await store.read({ records: ['a', 'b'], counters: ['n'] });
  expect([records[0]?.key, records[1], counters[0]]).toEqual(['a', undefined, 1]);
});

test('[REDIS-001] a key of another type under the name of a record is found before the first write', async () => {
  const store = await openLocation();
  await admin().set(locationKeys(prefix).record('b'), 'foreign');
  const change = batch([put('a'), put('b')]);
  expect(await endOf(store.commit(change))).toBe('incompatible/unknown');
  expect((await store.read({ records: ['a'] })).records).toEqual([undefined]);
  await admin().del(locationKeys(prefix).record('b'));
  expect(await store.commit(change)).toMatchObject({ kind: 'applied', replayed: false });
});

test('[REDIS-002] a scan takes lines without a live record out of the index', async () => {
  const store = await openLocation();
  await store.commit(batch([put('a', 'x', 1), put('b'), put('c', 'x', 1)]));
  const { record, index } = locationKeys(prefix);
  await eventually(async () => (await admin().exists(record('a'), record('c'))) === 0, 'both expire');
  expect(await admin().zrange(index, '0', '-1')).toEqual(['a', 'b', 'c']);
  const page = await store.scan({ prefix: '', limit: 10 });
  expect(page.items.map(({ key }) => key)).toEqual(['b']);
  expect(await admin().zrange(index, '0', '-1')).toEqual(['b']);
});

test('[REDIS-002] lines that no scan meets are swept as records with expiry are written', async () => {
  const store = await openLocation();
  const writes = (round: number, ttlMs: number) =>
    batch(Array.from({ length: 64 }, (_, index) => put(`t/${round}/${index}`, 'x', ttlMs)));
  const { index } = locationKeys(prefix);
  for (let round = 0; round < 4; round++) await store.commit(writes(round, 1));
  expect(await admin().zcard(index)).toBeGreaterThan(0);
  await eventually(async () => {
    await store.commit(writes(9, 60_000));
    return (await admin().zcard(index)) === 64;
  }, 'only live records are left in the index');
});

test('[REDIS-002] a page larger than one step and than 4 MiB comes in parts', async () => {
  const store = await openLocation();
  const large = 'x'.repeat(1_000_000);
  for (let part = 0; part < 6; part++) await store.commit(batch([put(`k${part}`, large)]));
  const first = await store.scan({ prefix: 'k', limit: 1_000 });
  expect([first.items.length, first.next]).toEqual([4, 'k3']);
  const second = await store.scan({ prefix: 'k', limit: 1_000, after: 'k3' });
  expect([second.items.length, second.next]).toEqual([2, undefined]);
});

test('[REDIS-003] scripts that the server has forgotten under load are given to it again', async () => {
  const store = await openLocation();
  const relocation = await openRelocation();
  for (let round = 0; round < 20; round++) {
    const calls = [
      store.commit(batch([put(`k${round}`)])),
      admin().script('FLUSH'),
      store.read({ records: ['k0'] }),
      relocation.put(`r${round}`, Buffer.from('x'), 60_000),
      store.scan({ prefix: '', limit: 10 }),
    ];
    await Promise.all(calls);
  }
  const { items } = await store.scan({ prefix: 'k', limit: 100 });
  expect(items).toHaveLength(20);
});

test('[REDIS-005] a server that evicts any key is incompatible', async () => {
  await admin().config('SET', 'maxmemory-policy', 'allkeys-lru');
  try {
    for (const create of [createRedisLocationStore, createRedisRelocationStore]) {
      const store = create(ours());
      opened.push(store);
      expect(await endOf(store.open())).toBe('incompatible/notApplied');
    }
  } finally {
    await admin().config('SET', 'maxmemory-policy', 'noeviction');
  }
});

test('[REDIS-005] data of another schema is incompatible, and stays as it is', async () => {
  const { meta } = locationKeys(prefix);
  await admin().hset(meta, 'schema', '2', 'storeId', 'theirs');
  const store = createRedisLocationStore(ours());
  opened.push(store);
  expect(await endOf(store.open())).toBe('incompatible/notApplied');
  expect(await admin().hgetall(meta)).toEqual({ schema: '2', storeId: 'theirs' });
});

test('[REDIS-005] the first open makes the store, later ones find it', async () => {
  await openLocation();
  const { meta } = locationKeys(prefix);
  const made = await admin().hgetall(meta);
  await openLocation();
  expect(await admin().hgetall(meta)).toEqual(made);
});

test('[REDIS-007] data that went while the connection stayed is noticed by the next call', async () => {
  const store = await openLocation();
  let disruptions = 0;
  store.onDisruption?.(() => disruptions++);
  await store.commit(batch([put('a')]));
  expect(disruptions).toBe(0);
  await admin().flushall();
  const result = await store.commit(batch([put('b')], [{ kind: 'absent', key: 'a' }]));
  expect([result.kind, disruptions]).toEqual(['applied', 1]);
  await store.read({ records: ['a'] });
  expect(disruptions).toBe(1);
});

test('[REDIS-007] a listener that throws, or has left, disturbs nobody', async () => {
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const store = await openLocation();
  const heard: string[] = [];
  store.onDisruption?.(() => {
    throw new Error('a bad listener');
  });
  store.onDisruption?.(() => heard.push('stays'));
  store.onDisruption?.(() => heard.push('left'))();
  await admin().flushall();
  await store.commit(batch([put('a')]));
  expect(heard).toEqual(['stays']);
  expect(warned).toHaveBeenCalledTimes(1);
  warned.mockRestore();
});

test('[REDIS-008] a write that no replica confirms is unknown, also when it is repeated', async () => {
  const store = await openLocation({ replicaAcks: 1 });
  const change = batch([put('a')]);
  expect(await endOf(store.commit(change))).toBe('unavailable/unknown');
  expect(await endOf(store.commit(change))).toBe('unavailable/unknown');
  const never = batch([put('b')], [{ kind: 'absent', key: 'a' }]);
  expect(await store.commit(never)).toMatchObject({ kind: 'conflict' }); // nothing to confirm
});

test('[REDIS-009] the largest blob is 8 MiB', async () => {
  const store = await openRelocation();
  expect(store.capabilities.maxBlobBytes).toBe(8_388_608);
  const bytes = Buffer.alloc(8_388_608, 'abc');
  expect(await store.put('large', bytes, 60_000)).toMatchObject({ kind: 'stored' });
  expect(await store.put('large', bytes, 60_000)).toMatchObject({ kind: 'alreadyStored' });
  const found = await store.read('large');
  expect(found.bytes !== undefined && Buffer.compare(found.bytes, bytes)).toBe(0);
  await store.delete('large');
});

test('[REDIS-007] a page of a scan between whose steps the data are replaced is read again as a whole', async () => {
  const client = new Redis({ port: redis.server.port, lazyConnect: true });
  const store = createRedisLocationStore({ ...ours(), connection: { client } });
  opened.push(store);
  await store.open();
  await store.commit(batch(['a', 'b', 'c'].map((key) => put(`old/${key}`))));
  const send = client.sendCommand.bind(client);
  let isListed = false;
  client.sendCommand = (command, ...more) => {
    if (isListed) {
      isListed = false;
      void replaceData().then(() => send(command, ...more)); // the records of the keys that were just listed are asked for
      return command.promise;
    }
    isListed = command.name === 'ZRANGEBYLEX';
    return send(command, ...more);
  };
  const replaceData = async (): Promise<void> => {
    await admin().del(...(await admin().keys(`*${prefix}*`)));
    const others = await openLocation();
    await others.commit(batch([put('new/a')]));
    client.sendCommand = send;
  };
  const { items } = await store.scan({ prefix: '', limit: 10, keysOnly: true });
  expect(items.map(({ key }) => key)).toEqual(['new/a']);
  await client.quit();
});

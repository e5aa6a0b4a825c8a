import { ManualClock } from '@zlink/testing';
import { ConfigurationError } from '../../src/errors/index.ts';
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type MemoryStoreBackend,
  type StoreMutation,
} from '../../src/location/index.ts';

let operations = 0;

function commit(store: LocationStore, ...mutations: readonly StoreMutation[]): ReturnType<LocationStore['commit']> {
  const operationId = String(++operations).padStart(32, '0');
  return store.commit({ operationId, conditions: [], mutations });
}

const put = (key: string, ttlMs?: number): StoreMutation => ({
  kind: 'put',
  key,
  value: Uint8Array.of(1),
  ...(ttlMs === undefined ? {} : { ttlMs }),
});

test('[LOC-022] the stores of several hosts share one backend, and other backends know nothing of it', async () => {
  const backend = createMemoryStoreBackend();
  const stores = [backend, backend, createMemoryStoreBackend()].map(createMemoryLocationStore);
  const blobs = [backend, backend, createMemoryStoreBackend()].map(createMemoryRelocationStore);
  await Promise.all([...stores, ...blobs].map((store) => store.open()));
  await commit(stores[0] as LocationStore, put('k'));
  await blobs[0]?.put('r', Uint8Array.of(1, 2), 1_000);
  const found = await Promise.all(stores.map(async (store) => (await store.read({ records: ['k'] })).records[0]?.key));
  expect(found).toEqual(['k', 'k', undefined]);
  const bytes = await Promise.all(blobs.map(async (store) => (await store.read('r')).bytes?.length));
  expect(bytes).toEqual([2, 2, undefined]);
});

test('[LOC-022] dispose ends the handle, not the backend, and may come twice', async () => {
  const backend = createMemoryStoreBackend();
  const first = createMemoryLocationStore(backend);
  await first.open();
  await commit(first, put('k'));
  await first.dispose();
  await first.dispose();
  await expect(first.read({})).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the location store is disposed',
  });
  await expect(first.open()).rejects.toMatchObject({ code: 'unavailable', outcome: 'notApplied' });
  const next = createMemoryLocationStore(backend);
  await expect(next.read({})).rejects.toMatchObject({ code: 'unavailable', message: 'the location store is not open' });
  await next.open();
  expect((await next.read({ records: ['k'] })).records[0]?.key).toBe('k');
  const blobs = createMemoryRelocationStore(backend);
  await expect(blobs.read('r')).rejects.toMatchObject({ message: 'the relocation store is not open' });
});

test('[LOC-022] memory stores are of this process, and say so', () => {
  const backend = createMemoryStoreBackend();
  const location = createMemoryLocationStore(backend);
  expect(location.capabilities).toEqual({
    spiVersion: 1,
    compareAndSet: true,
    placementReservation: true,
    aggregateCommit: true,
    storeClock: true,
    operationReplay: true,
    scope: 'process',
  });
  expect('onDisruption' in location).toBe(false); // nothing is ever lost
  expect(createMemoryRelocationStore(backend).capabilities).toEqual({
    spiVersion: 1,
    scope: 'process',
    maxBlobBytes: 8_388_608,
  });
  expect(Object.isFrozen(location.capabilities)).toBe(true);
});

test('[LOC-022] the injected clock is the clock of the store, in whole milliseconds', async () => {
  const clock = new ManualClock(5_000.9);
  const backend = createMemoryStoreBackend({ clock });
  const [location, blobs] = [createMemoryLocationStore(backend), createMemoryRelocationStore(backend)];
  await Promise.all([location.open(), blobs.open()]);
  expect((await location.read({})).nowMs).toBe(5_000);
  expect((await blobs.read('r')).nowMs).toBe(5_000);
  clock.advance(0.1);
  expect((await location.read({})).nowMs).toBe(5_001);
});

test('[LOC-014] versions go on from where the backend begins and end at 2^63-1', async () => {
  const store = createMemoryLocationStore(createMemoryStoreBackend({ lastVersion: 2n ** 63n - 3n }));
  await store.open();
  expect(await commit(store, put('a'))).toMatchObject({ kind: 'applied', version: 2n ** 63n - 2n });
  expect(await commit(store, put('b'))).toMatchObject({ kind: 'applied', version: 2n ** 63n - 1n });
  await expect(commit(store, put('c'), { kind: 'delete', key: 'a' })).rejects.toMatchObject({ code: 'exhausted' });
  const { items } = await store.scan({ prefix: '', limit: 10 });
  expect(items.map(({ key, version }) => [key, version])).toEqual([
    ['a', 2n ** 63n - 2n],
    ['b', 2n ** 63n - 1n],
  ]);
});

test('[LOC-013] what has expired and was swept is as absent as before, and its neighbours stay', async () => {
  const clock = new ManualClock();
  const store = createMemoryLocationStore(createMemoryStoreBackend({ clock }));
  await store.open();
  const keys = Array.from({ length: 300 }, (_, index) => `k${String(index).padStart(3, '0')}`);
  await commit(store, ...keys.map((key, index) => put(key, index % 3 === 0 ? undefined : 1_000 * (index % 3))));
  for (const [advanceMs, rest] of [
    [1_000, [0, 2]],
    [1_000, [0]],
    [120_000, [0]],
  ] as const) {
    clock.advance(advanceMs);
    await commit(store, { kind: 'add', counter: 'n', delta: 1 }); // sweeps once a minute
    const { items } = await store.scan({ prefix: 'k', limit: 1_000, keysOnly: true });
    const kept: readonly number[] = rest;
    expect(items.map(({ key }) => key)).toEqual(keys.filter((_, index) => kept.includes(index % 3)));
  }
  await commit(store, ...keys.map((key) => put(key)));
  expect((await store.scan({ prefix: '', limit: 1_000 })).items.map(({ key }) => key)).toEqual(keys);
});

test.each([[undefined], [null], [{}], ['backend']])(
  '[LOC-022] %j is no backend, and the error says what is',
  (value) => {
    const backend = value as unknown as MemoryStoreBackend; // plain JavaScript may pass anything
    for (const create of [createMemoryLocationStore, createMemoryRelocationStore]) {
      const problem = new RegExp(`^${create.name}: .* is not allowed, allowed: what createMemoryStoreBackend returns$`);
      expect(() => create(backend)).toThrow(ConfigurationError);
      expect(() => create(backend)).toThrow(problem);
    }
  },
);

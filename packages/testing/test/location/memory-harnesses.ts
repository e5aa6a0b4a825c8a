/** Memory stores as both suites want them: one backend for each namespace, a manual clock, replies that get lost. */
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type MemoryStoreBackend,
  type RelocationStore,
  StoreError,
} from '@zlink/kernel/location';
import { type LocationStoreHarness, ManualClock, type RelocationStoreHarness } from '../../src/index.ts';

/** One backend for each namespace, all by one clock. */
class Backends {
  readonly clock = new ManualClock(1_000.75); // the store's time is an integer all the same
  readonly #byNamespace = new Map<string, MemoryStoreBackend>();

  of(namespace: string): MemoryStoreBackend {
    const backend = this.#byNamespace.get(namespace) ?? createMemoryStoreBackend({ clock: this.clock });
    this.#byNamespace.set(namespace, backend);
    return backend;
  }
}

/** @param alter - what stands between the suite and the memory store, as a broken implementation would */
export function locationHarness(
  alter: (store: LocationStore, clock: ManualClock) => LocationStore = (store) => store,
): Required<Omit<LocationStoreHarness, 'loseCommits'>> {
  const backends = new Backends();
  const losing = new WeakSet<LocationStore>();
  const lossy = (inner: LocationStore): LocationStore => {
    const store = altered(inner, {
      commit: async (batch, signal) => {
        const result = await inner.commit(batch, signal);
        if (!losing.delete(store)) return result;
        throw new StoreError('timeout', 'unknown', 'the reply was lost');
      },
    });
    return store;
  };
  return {
    create: (namespace) => lossy(alter(createMemoryLocationStore(backends.of(namespace)), backends.clock)),
    advance: (ms) => backends.clock.advance(ms),
    loseNextReply: (store) => void losing.add(store),
    createExhausted: () => {
      const backend = createMemoryStoreBackend({ clock: backends.clock, lastVersion: 2n ** 63n - 1n });
      return alter(createMemoryLocationStore(backend), backends.clock);
    },
  };
}

export function relocationHarness(
  alter: (store: RelocationStore, clock: ManualClock) => RelocationStore = (store) => store,
): Required<RelocationStoreHarness> {
  const backends = new Backends();
  const losing = new WeakSet<RelocationStore>();
  const lossy = (inner: RelocationStore): RelocationStore => {
    const unlessLost = <T>(result: T): T => {
      if (!losing.delete(store)) return result;
      throw new StoreError('timeout', 'unknown', 'the reply was lost');
    };
    const store = alteredBlobs(inner, {
      put: async (...call) => unlessLost(await inner.put(...call)),
      renew: async (...call) => unlessLost(await inner.renew(...call)),
      delete: async (...call) => unlessLost(await inner.delete(...call)),
    });
    return store;
  };
  return {
    create: (namespace) => lossy(alter(createMemoryRelocationStore(backends.of(namespace)), backends.clock)),
    advance: (ms) => backends.clock.advance(ms),
    loseNextReply: (store) => void losing.add(store),
  };
}

/** `inner` with some of its calls replaced. */
export function altered(inner: LocationStore, calls: Partial<LocationStore>): LocationStore {
  return {
    capabilities: inner.capabilities,
    open: (signal) => inner.open(signal),
    read: (request, signal) => inner.read(request, signal),
    commit: (batch, signal) => inner.commit(batch, signal),
    scan: (request, signal) => inner.scan(request, signal),
    dispose: () => inner.dispose(),
    ...calls,
  };
}

export function alteredBlobs(inner: RelocationStore, calls: Partial<RelocationStore>): RelocationStore {
  return {
    capabilities: inner.capabilities,
    open: (signal) => inner.open(signal),
    put: (ref, payload, retentionMs, signal) => inner.put(ref, payload, retentionMs, signal),
    read: (ref, signal) => inner.read(ref, signal),
    renew: (ref, retentionMs, signal) => inner.renew(ref, retentionMs, signal),
    delete: (ref, signal) => inner.delete(ref, signal),
    dispose: () => inner.dispose(),
    ...calls,
  };
}

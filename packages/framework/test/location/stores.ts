/**
 * Hosts of one test that share a memory of records, each through a store of its own that fails on demand.
 *
 * Owns what the tests of location have in common. Leaves the end of hosts to hosts.ts.
 */
import type { Host, HostOptions, LocationStore, RelocationStore } from '@zlink/framework';
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type MemoryStoreBackend,
  type StoreMutation,
} from '@zlink/kernel/location';
import { createFaultyLocationStore, type FaultyLocationStore } from '@zlink/testing';
import { makeHost, patientMs } from '../hosts.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';

/** Discovery at the pace of a test. */
export const quick = { pollingIntervalMs: 20 } satisfies HostOptions['location'];

/** What hosts of one test share. */
export class Space {
  readonly backend: MemoryStoreBackend = createMemoryStoreBackend();

  store(): FaultyLocationStore {
    return createFaultyLocationStore(createMemoryLocationStore(this.backend));
  }

  /** A host of this space; not started. */
  host(options: HostOptions = {}, store: LocationStore = this.store()): Host {
    return makeHost({ location: quick, sendTimeoutMs: patientMs, ...options }).addLocationStore(store);
  }

  /** Serves `Ask` in `CHANNEL`; not started. */
  server(answer: (asked: unknown) => unknown, options: HostOptions = {}, store: LocationStore = this.store()): Host {
    const host = this.host(options, store);
    host.addClientServerChannel(CHANNEL).server().addRequestHandler(Ask, answer);
    return host;
  }

  /** Finds the servers of `CHANNEL` by itself; not started. */
  client(options: HostOptions = {}, store: LocationStore = this.store()): Host {
    const host = this.host(options, store);
    host.addClientServerChannel(CHANNEL).client();
    return host;
  }

  /** Answers `Ask` with `name`, directly and in `CHANNEL`; not started. */
  node(name: string, options: HostOptions = {}, store: LocationStore = this.store()): Host {
    const host = this.host(options, store);
    const mesh = host.addRouteMesh(MESH).setRoutingIdPrefix(name);
    mesh.addRouteRequestHandler(Ask, () => name);
    mesh
      .channel(CHANNEL)
      .server()
      .addRequestHandler(Ask, () => name);
    return host;
  }

  /** Keys of what hosts publish and prove while they live. */
  async traces(): Promise<readonly string[]> {
    const store = createMemoryLocationStore(this.backend);
    await store.open();
    const { items } = await store.scan({ prefix: '', limit: 1_000, keysOnly: true });
    await store.dispose();
    return items.map(({ key }) => key).filter((key) => /^[ld]\//.test(key));
  }
}

/** Told what a host does with its store, in words: `open`, `lease`, `publish starting`, `remove`, `release`, `dispose`. */
export function watchedStore(store: LocationStore, onEvent: (event: string) => void): LocationStore {
  return {
    capabilities: store.capabilities,
    open: (signal) => {
      onEvent('open');
      return store.open(signal);
    },
    read: (request, signal) => store.read(request, signal),
    commit: (batch, signal) => {
      for (const event of batch.mutations.map(nameOf)) if (event !== undefined) onEvent(event);
      return store.commit(batch, signal);
    },
    scan: (request, signal) => store.scan(request, signal),
    dispose: () => {
      onEvent('dispose');
      return store.dispose();
    },
  };
}

function nameOf(mutation: StoreMutation): string | undefined {
  if (mutation.kind === 'add') return undefined;
  const { kind, key } = mutation;
  if (key.startsWith('l/')) return { put: 'lease', touch: 'renew', delete: 'release' }[kind];
  if (!key.startsWith('d/')) return undefined;
  if (kind !== 'put') return 'remove';
  const { state } = JSON.parse(new TextDecoder().decode(mutation.value)) as { readonly state: string }; // a descriptor
  return `publish ${state}`;
}

/** The same store, said to be seen by other processes. */
export function sharedStore(store: LocationStore): LocationStore {
  const { capabilities, ...rest } = watchedStore(store, () => undefined);
  return { capabilities: { ...capabilities, scope: 'shared' }, ...rest };
}

/** A Relocation Store that writes down when it is opened and disposed of. */
export function recordedRelocationStore(events: string[], override: Partial<RelocationStore> = {}): RelocationStore {
  const store = createMemoryRelocationStore(createMemoryStoreBackend());
  return {
    capabilities: override.capabilities ?? store.capabilities,
    open: async (signal) => {
      events.push('open relocation store');
      await (override.open ?? store.open.bind(store))(signal);
    },
    put: store.put.bind(store),
    read: store.read.bind(store),
    renew: store.renew.bind(store),
    delete: store.delete.bind(store),
    dispose: async () => {
      events.push('dispose relocation store');
      await (override.dispose ?? store.dispose.bind(store))();
    },
  };
}

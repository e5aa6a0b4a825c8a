/**
 * A deployment as the suites of the contracts want it.
 *
 * Owns the proxies between the stores of one namespace and the servers. Leaves the servers to the deployment.
 */
import type { LocationStore, RelocationStore } from '@zlink/kernel/location';
import { createFaultProxy, type FaultProxy } from '@zlink/testing';
import { createRedisLocationStore, createRedisRelocationStore } from '../../src/index.ts';
import { locationKeys } from '../../src/keys.ts';
import { addressOf, type Deployment, type Detour } from './deployment.ts';
import { eventually, PATIENT_MS } from './eventually.ts';

const LARGEST_VERSION = '9007199254740991';

/** A connection that is dialled while answers are swallowed would carry no change at all. */
async function reachAll(store: RelocationStore): Promise<void> {
  for (let ref = 0; ref < 64; ref++) await store.read(`one-of-many-slots-${ref}`);
}

export class StoreHarness {
  readonly #deployment: () => Deployment;
  readonly #proxies = new Map<string, Promise<readonly FaultProxy[]>>();
  readonly #namespaces = new WeakMap<LocationStore | RelocationStore, string>();

  /** @param deployment - running by the time a case runs */
  constructor(deployment: () => Deployment) {
    this.#deployment = deployment;
  }

  get location() {
    return {
      create: (namespace: string) => this.#make(namespace, createRedisLocationStore),
      loseNextReply: (store: LocationStore) => this.#loseNextReply(store),
      loseCommits: (store: LocationStore) => this.#loseCommits(this.#namespaceOf(store)),
      createExhausted: async (namespace: string) => {
        await this.#deployment().admin(namespace).set(locationKeys(namespace).version, LARGEST_VERSION);
        return this.#make(namespace, createRedisLocationStore);
      },
    };
  }

  get relocation() {
    return {
      create: (namespace: string) => this.#make(namespace, createRedisRelocationStore),
      loseNextReply: async (store: RelocationStore) => {
        await reachAll(store);
        return this.#loseNextReply(store);
      },
    };
  }

  async close(): Promise<void> {
    for (const proxies of this.#proxies.values()) for (const proxy of await proxies) await proxy.close();
  }

  async #make<S extends LocationStore | RelocationStore>(
    keyPrefix: string,
    create: (options: Parameters<typeof createRedisLocationStore>[0]) => S,
  ): Promise<S> {
    const connection = this.#deployment().connection(await this.#detours(keyPrefix));
    const store = create({ keyPrefix, connection, operationTimeoutMs: PATIENT_MS });
    this.#namespaces.set(store, keyPrefix);
    return store;
  }

  async #detours(namespace: string): Promise<readonly Detour[]> {
    const targets = this.#deployment().primaries.map(addressOf);
    const made = this.#proxies.get(namespace) ?? Promise.all(targets.map((target) => createFaultProxy({ target })));
    this.#proxies.set(namespace, made);
    return (await made).map(({ address }, index) => ({ address, target: targets[index] ?? '' }));
  }

  /** The proxies swallow all answers until a server has changed something, and cut the connections then. */
  async #loseNextReply(store: LocationStore | RelocationStore): Promise<void> {
    const proxies = await this.#proxies.get(this.#namespaceOf(store));
    const before = await this.#changeCount();
    for (const proxy of proxies ?? []) proxy.blackhole('toClient');
    void eventually(async () => (await this.#changeCount()) !== before, 'a change').finally(() => {
      for (const proxy of proxies ?? []) proxy.restore();
    });
  }

  async #changeCount(): Promise<string> {
    const infos = await Promise.all(this.#deployment().primaries.map(({ admin }) => admin.info('persistence')));
    return infos.map((info) => /rdb_changes_since_last_save:(\d+)/.exec(info)?.[1]).join();
  }

  async #loseCommits(namespace: string): Promise<void> {
    const admin = this.#deployment().admin(namespace);
    await admin.del(await admin.keys(`{${namespace}}:L:*`));
  }

  #namespaceOf(store: LocationStore | RelocationStore): string {
    return this.#namespaces.get(store) ?? '';
  }
}

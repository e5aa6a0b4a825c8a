/**
 * What stands in the Location Store of a test, seen without a host.
 *
 * Owns a store handle of its own. Leaves what should stand there to the test.
 */
import { randomBytes } from 'node:crypto';
import {
  descriptorPrefix,
  leaseKey,
  type LocationStore,
  meshDescriptor,
  publisherDescriptor,
  serverDescriptor,
} from '@zlink/kernel/location';
import { createRedisLocationStore } from '@zlink/location-redis';
import { CHANNEL, FEED, MESH } from '../fixtures/fault-packets.ts';

/** A descriptor. */
export interface Published {
  readonly rid: string;
  readonly endpoint: string;
  readonly generation: bigint;
  readonly revision: bigint;
  readonly ownerId: string;
  /** By the store's clock; undefined if its owner has no lease. */
  readonly leaseEndsAtMs: number | undefined;
}

const kinds = [
  { topology: { kind: 'mesh', name: MESH }, codec: meshDescriptor },
  { topology: { kind: 'clientServer', name: CHANNEL }, codec: serverDescriptor },
  { topology: { kind: 'fanout', name: FEED }, codec: publisherDescriptor },
] as const;

export class StoreView {
  readonly #store: LocationStore;

  private constructor(store: LocationStore) {
    this.#store = store;
  }

  static async open(url: string, keyPrefix: string): Promise<StoreView> {
    const store = createRedisLocationStore({ connection: { url }, keyPrefix });
    await store.open();
    return new StoreView(store);
  }

  /** All nodes, then all servers, then all publishers, each by RID. */
  async published(): Promise<readonly Published[]> {
    const found = [];
    for (const { topology, codec } of kinds) {
      const { items } = await this.#store.scan({ prefix: descriptorPrefix(topology), limit: 1_000 });
      for (const { value } of items) if (value !== undefined) found.push(codec.decode(value));
    }
    const { records } = await this.#store.read({ records: found.map(({ ownerId }) => leaseKey(ownerId)) });
    return found.map(({ rid, endpoint, lifecycleGeneration: generation, revision, ownerId }, index) => {
      return { rid, endpoint, generation, revision, ownerId, leaseEndsAtMs: records[index]?.expiresAtMs };
    });
  }

  /** Leases and descriptors, of whatever kind. */
  async traces(): Promise<readonly string[]> {
    const { items } = await this.#store.scan({ prefix: '', limit: 1_000, keysOnly: true });
    return items.map(({ key }) => key).filter((key) => /^[ld]\//.test(key));
  }

  /** Takes a descriptor away, as nobody may whose owner lives. */
  async remove(key: string): Promise<void> {
    const operationId = randomBytes(16).toString('hex');
    await this.#store.commit({ operationId, conditions: [], mutations: [{ kind: 'delete', key }] });
  }

  close(): Promise<void> {
    return this.#store.dispose();
  }
}

/**
 * Whether every one of `before` stands there again: the same lifecycle of the same run, and that run proves to live.
 *
 * @param leases - whether that is said by the lease as it was, or by one renewed since
 */
export function areBack(
  now: readonly Published[],
  before: readonly Published[],
  leases: 'present' | 'renewed' = 'present',
): boolean {
  return before.every(({ rid, generation, ownerId, revision, leaseEndsAtMs = 0 }) => {
    const found = now.find((one) => one.rid === rid);
    if (found?.leaseEndsAtMs === undefined || found.revision < revision) return false;
    const isSame = found.generation === generation && found.ownerId === ownerId;
    return isSame && (leases === 'present' || found.leaseEndsAtMs > leaseEndsAtMs);
  });
}

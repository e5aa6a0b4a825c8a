/**
 * What a case of `relocationStoreSuite` works with: one open store on a namespace of its own, and as many more as it asks
 * for. Leaves the stores' lives to open-stores.ts.
 */
import assert from 'node:assert/strict';
import type { BlobReadResult, RelocationStore } from '@zlink/kernel/location';
import type { RelocationStoreHarness } from './harness.ts';
import { OpenStores } from './open-stores.ts';

export interface BlobCase {
  readonly title: string;
  readonly needs?: 'advance' | 'loseNextReply';
  readonly act: (rig: BlobRig) => Promise<void>;
}

export class BlobRig {
  readonly harness: RelocationStoreHarness;
  readonly store: RelocationStore;
  readonly #stores: OpenStores<RelocationStore>;

  private constructor(harness: RelocationStoreHarness, store: RelocationStore, stores: OpenStores<RelocationStore>) {
    this.harness = harness;
    this.store = store;
    this.#stores = stores;
  }

  static async run(harness: RelocationStoreHarness, act: (rig: BlobRig) => Promise<void>): Promise<void> {
    const stores = new OpenStores(harness);
    try {
      await act(new BlobRig(harness, await stores.open(), stores));
    } finally {
      await stores.dispose();
    }
  }

  /** How long a blob lives whose end a case waits for. */
  get shortMs(): number {
    return this.harness.advance === undefined ? 400 : 5_000;
  }

  /** The same, for one that must be seen before: also on a machine that has no time for seconds. */
  get seenMs(): number {
    return this.harness.advance === undefined ? 4_000 : 5_000;
  }

  another(): Promise<RelocationStore> {
    return this.#stores.open();
  }

  /** Not opened. */
  closed(): Promise<RelocationStore> {
    return this.#stores.create();
  }

  others(count: number): Promise<readonly RelocationStore[]> {
    return this.#stores.openMany(count);
  }

  /** A new blob; its expiry. */
  async stored(ref: string, payload: Uint8Array, retentionMs = 600_000): Promise<number> {
    const result = await this.store.put(ref, payload, retentionMs);
    assert.equal(result.kind, 'stored');
    assert.equal(result.expiresAtMs, result.nowMs + retentionMs);
    return result.expiresAtMs;
  }

  async bytes(ref: string): Promise<Uint8Array | undefined> {
    return (await this.store.read(ref)).bytes;
  }

  passUntil(atMs: number, look?: () => Promise<void>): Promise<void> {
    return this.#stores.passUntil(atMs, async () => (await this.store.read(newRef())).nowMs, look);
  }
}

/** As a host makes them: 128 random bits, never used again. */
export function newRef(): string {
  return crypto.randomUUID().replaceAll('-', '');
}

/** Bytes that are no text and differ from seed to seed. */
export function payloadOf(byteCount: number, seed = 0): Uint8Array {
  return Uint8Array.from({ length: byteCount }, (_, index) => (index * 31 + (index >> 8) + seed) & 0xff);
}

/** Present exactly as long as the store's time is below the expiry. */
export function assertPresence(result: BlobReadResult, expiresAtMs: number): void {
  assert.equal(result.bytes !== undefined, result.nowMs < expiresAtMs, `at ${result.nowMs - expiresAtMs} ms`);
  if (result.bytes !== undefined) assert.equal(result.expiresAtMs, expiresAtMs);
}

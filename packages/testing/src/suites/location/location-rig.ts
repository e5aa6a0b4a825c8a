/**
 * What a case of `locationStoreSuite` works with: one open store on a namespace of its own, and as many more as it asks for.
 *
 * Owns how batches are made and results are looked at. Leaves the stores' lives to open-stores.ts.
 */
import assert from 'node:assert/strict';
import type {
  CommitResult,
  LocationStore,
  StoreBatch,
  StoreCondition,
  StoreMutation,
  StoreRecord,
  StoreScan,
} from '@zlink/kernel/location';
import type { LocationStoreHarness } from './harness.ts';
import { OpenStores } from './open-stores.ts';

export type Applied = Extract<CommitResult, { kind: 'applied' }>;

export interface LocationCase {
  readonly title: string;
  readonly needs?: 'advance' | 'loseNextReply' | 'createExhausted' | 'loseCommits';
  readonly act: (rig: LocationRig) => Promise<void>;
}

export class LocationRig {
  readonly harness: LocationStoreHarness;
  readonly store: LocationStore;
  readonly #stores: OpenStores<LocationStore>;

  private constructor(harness: LocationStoreHarness, store: LocationStore, stores: OpenStores<LocationStore>) {
    this.harness = harness;
    this.store = store;
    this.#stores = stores;
  }

  static async run(harness: LocationStoreHarness, act: (rig: LocationRig) => Promise<void>): Promise<void> {
    const stores = new OpenStores(harness);
    try {
      await act(new LocationRig(harness, await stores.open(), stores));
    } finally {
      await stores.dispose();
    }
  }

  /** How long a record lives whose end a case waits for. */
  get shortTtlMs(): number {
    return this.harness.advance === undefined ? 400 : 5_000;
  }

  /** The same, for one that must be seen before: also on a machine that has no time for seconds. */
  get seenTtlMs(): number {
    return this.harness.advance === undefined ? 4_000 : 5_000;
  }

  another(): Promise<LocationStore> {
    return this.#stores.open();
  }

  /** Not opened. */
  closed(): Promise<LocationStore> {
    return this.#stores.create();
  }

  others(count: number): Promise<readonly LocationStore[]> {
    return this.#stores.openMany(count);
  }

  exhausted(): Promise<LocationStore> {
    const created = this.harness.createExhausted?.(this.#stores.namespace);
    assert(created !== undefined);
    return this.#stores.open(Promise.resolve(created));
  }

  async nowMs(): Promise<number> {
    return (await this.store.read({})).nowMs;
  }

  passUntil(atMs: number, look?: () => Promise<void>): Promise<void> {
    return this.#stores.passUntil(atMs, () => this.nowMs(), look);
  }

  /** Commits without conditions, and expects success. */
  async change(...mutations: readonly StoreMutation[]): Promise<Applied> {
    return applied(await this.store.commit(batch([], mutations)));
  }

  async record(key: string): Promise<StoreRecord | undefined> {
    const { records } = await this.store.read({ records: [key] });
    return records[0];
  }

  async present(key: string): Promise<StoreRecord> {
    const record = await this.record(key);
    assert(record !== undefined, `${key} is absent`);
    return record;
  }

  async counter(counter: string): Promise<number> {
    const { counters } = await this.store.read({ counters: [counter] });
    assert.equal(counters.length, 1);
    return counters[0] as number; // there is one
  }

  /** All items of all pages. */
  async scanAll(request: StoreScan, betweenPages?: () => Promise<unknown>): Promise<readonly StoreRecord[]> {
    const items: StoreRecord[] = [];
    let after = request.after;
    for (;;) {
      const page = await this.store.scan({ ...request, ...(after === undefined ? {} : { after }) });
      assert(page.items.length <= request.limit, 'a page is longer than its limit');
      items.push(...page.items);
      if (page.next === undefined) return items;
      assert.equal(page.next, page.items.at(-1)?.key); // so an endless walk over empty pages fails as well
      after = page.next;
      await betweenPages?.();
    }
  }

  async scanKeys(prefix: string, limit = 1_000): Promise<readonly string[]> {
    return (await this.scanAll({ prefix, limit })).map(({ key }) => key);
  }
}

export function batch(conditions: readonly StoreCondition[], mutations: readonly StoreMutation[]): StoreBatch {
  return { operationId: crypto.randomUUID().replaceAll('-', ''), conditions, mutations };
}

export function applied(result: CommitResult): Applied {
  assert(result.kind === 'applied', `the commit ended as ${result.kind}`);
  return result;
}

export function put(key: string, text: string | Uint8Array, ttlMs?: number): Extract<StoreMutation, { kind: 'put' }> {
  const value = typeof text === 'string' ? bytesOf(text) : text;
  return { kind: 'put', key, value, ...(ttlMs === undefined ? {} : { ttlMs }) };
}

export function add(counter: string, delta: number, bounds?: { min?: number; max?: number }): StoreMutation {
  return { kind: 'add', counter, delta, ...bounds };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textOf(record: StoreRecord | undefined): string | undefined {
  return record?.value === undefined ? undefined : new TextDecoder().decode(record.value);
}

/** Distinct keys of equal length, in byte order. */
export function keysOf(count: number, prefix = 'k'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(5, '0')}`);
}

/** Looks again and again as long as `work` runs, and ends after it whatever `look` found. */
export async function watch(work: Promise<unknown>, look: () => Promise<void>): Promise<void> {
  let working = true;
  const end = work.finally(() => (working = false));
  try {
    while (working) await look();
  } finally {
    await end;
  }
}

/** As results of a driver may be of another class of bytes, bytes are compared and nothing else. */
export function assertBytes(actual: Uint8Array | undefined, expected: Uint8Array): void {
  assert(actual instanceof Uint8Array, 'there are no bytes');
  assert(
    Buffer.compare(actual, expected) === 0,
    `${actual.byteLength} bytes differ from the ${expected.byteLength} expected`,
  );
}

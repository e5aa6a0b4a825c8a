/**
 * A store in memory that can lose what it has acknowledged.
 *
 * Owns the loss. Leaves the data to the memory stores, and answers that come late or never to the faulty store in front.
 *
 * 1. Versions grow on, whatever is lost: hosts go on meanwhile.
 */
import {
  type CommitResult,
  createMemoryLocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type StoreBatch,
  type StoreMutation,
  type StoreRecord,
} from '../../src/location/index.ts';
import type { Clock } from '../../src/internal/time/index.ts';

type StoreClock = Pick<Clock, 'nowMs'>;

interface Applied {
  readonly batch: StoreBatch;
  readonly atMs: number;
}

const nothing: StoreMutation = { kind: 'delete', key: 'nothing' };

export class LosingStore {
  readonly #clock: StoreClock;
  #store!: LocationStore; // set by `loseAll`
  /** All commits since everything was lost, and the version before them. */
  #history: Applied[] = [];
  #baseVersion = 0n;
  #saved = 0;

  /** There is no store before `loseAll`. */
  constructor(clock: StoreClock) {
    this.#clock = clock;
  }

  async loseAll(): Promise<void> {
    const baseVersion = this.#baseVersion + BigInt(this.#history.length) + 1_000n; // 1
    this.#store = await openStore(baseVersion, this.#clock);
    this.#baseVersion = baseVersion;
    this.#history = [];
    this.#saved = 0;
  }

  /** What is stored now is what `rollBack` leaves. */
  save(): void {
    this.#saved = this.#history.length;
  }

  /** Commits since `save` are lost, as by a failover to a replica that lags. */
  async rollBack(): Promise<void> {
    const before = this.#history;
    const after: Applied[] = [];
    let replayedAtMs: number | undefined;
    const store = await openStore(this.#baseVersion, { nowMs: () => replayedAtMs ?? this.#clock.nowMs() });
    for (let at = 0; at < before.length; at++) {
      const { batch, atMs } = before[at] as Applied; // 1: it may grow
      replayedAtMs = atMs;
      const replayed = at < this.#saved ? batch : { ...batch, conditions: [], mutations: [nothing] };
      await store.commit(replayed);
      after.push({ batch: replayed, atMs });
    }
    replayedAtMs = undefined;
    this.#store = store;
    this.#history = after;
  }

  async find(key: string): Promise<StoreRecord | undefined> {
    return (await this.#store.read({ records: [key] })).records[0];
  }

  async keys(prefix: string): Promise<readonly string[]> {
    return (await this.#store.scan({ prefix, limit: 1_000, keysOnly: true })).items.map(({ key }) => key);
  }

  async commit(batch: StoreBatch, signal?: AbortSignal): Promise<CommitResult> {
    const atMs = this.#clock.nowMs();
    const history = this.#history;
    const result = await this.#store.commit(batch, signal);
    if (result.kind === 'applied' && !result.replayed) history.push({ batch, atMs });
    return result;
  }

  /** For one host. Never disposed: hosts come and go. */
  handle(): LocationStore {
    return {
      capabilities: this.#store.capabilities,
      open: () => Promise.resolve(),
      read: (...call) => this.#store.read(...call),
      commit: (...call) => this.commit(...call),
      scan: (...call) => this.#store.scan(...call),
      dispose: () => Promise.resolve(),
    };
  }
}

async function openStore(lastVersion: bigint, clock: StoreClock): Promise<LocationStore> {
  const store = createMemoryLocationStore(createMemoryStoreBackend({ clock, lastVersion }));
  await store.open();
  return store;
}

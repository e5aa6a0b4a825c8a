/**
 * Records, counters and remembered operations of one memory backend.
 *
 * Owns the data and how a commit is decided. Leaves arguments and signals to the stores in front of it, and the time to
 * whoever calls.
 *
 * 1. Everything here runs in one uninterrupted step, so each call is one observation and a commit is never half seen.
 * 2. Every check of a commit precedes its first change (LOC-012).
 * 3. Bytes are copied on the way in and on the way out: nothing of the inside is ever shared (LOC-018).
 * 4. `#keys` holds the keys of `#records` in byte order, those of expired records included until they are swept.
 */
import { assertNever } from '../errors/index.ts';
import { compareUtf8 } from '../identity/index.ts';
import type {
  CommitResult,
  StoreBatch,
  StoreCondition,
  StoreMutation,
  StoreRead,
  StoreReadResult,
  StoreRecord,
  StoreScan,
  StoreScanResult,
} from './location-store.ts';
import { checkReadBytes } from './store-arguments.ts';
import { StoreError } from './store-error.ts';
import { maxReadBytes, maxVersion, operationMemoryMs } from './store-limits.ts';

/** Between two sweeps of what has expired. */
const sweepIntervalMs = 60_000;

interface KeptRecord {
  readonly value: Uint8Array;
  readonly version: bigint;
  readonly createdVersion: bigint;
  readonly expiresAtMs: number | undefined;
}

interface AppliedOperation {
  readonly version: bigint;
  readonly counters: readonly number[];
  readonly appliedAtMs: number;
}

type Bound = Extract<CommitResult, { kind: 'bound' }>;

export class MemoryRecords {
  readonly #records = new Map<string, KeptRecord>();
  readonly #keys: string[] = [];
  readonly #counters = new Map<string, number>();
  /** In the order of their commits. */
  readonly #applied = new Map<string, AppliedOperation>();
  #lastVersion: bigint;
  #sweptAtMs = 0;

  /** @param lastVersion - the first commit gets the next one */
  constructor(lastVersion: bigint) {
    this.#lastVersion = lastVersion;
  }

  read({ records = [], counters = [] }: StoreRead, nowMs: number): StoreReadResult {
    const found = records.map((key) => this.#live(key, nowMs));
    checkReadBytes(found.reduce((sum, record) => sum + (record?.value.byteLength ?? 0), 0));
    return {
      nowMs,
      records: records.map((key, index) => {
        const record = found[index];
        return record === undefined ? undefined : shown(key, record, true);
      }),
      counters: counters.map((counter) => this.#counters.get(counter) ?? 0),
    };
  }

  scan({ prefix, after, limit, keysOnly }: StoreScan, nowMs: number): StoreScanResult {
    const items: StoreRecord[] = [];
    let bytes = 0;
    for (let at = this.#startOf(prefix, after); at < this.#keys.length; at++) {
      const key = this.#keys[at] as string; // `at` is in range
      if (!key.startsWith(prefix)) break; // keys of one prefix stand together
      const record = this.#live(key, nowMs);
      if (record === undefined) continue;
      bytes += keysOnly === true ? 0 : record.value.byteLength;
      const last = items.at(-1);
      if (last !== undefined && (items.length === limit || bytes > maxReadBytes))
        return { nowMs, items, next: last.key };
      items.push(shown(key, record, keysOnly !== true));
    }
    return { nowMs, items };
  }

  commit({ operationId, conditions, mutations }: StoreBatch, nowMs: number): CommitResult {
    this.#sweep(nowMs);
    const before = this.#applied.get(operationId);
    if (before !== undefined) {
      const { version, counters } = before;
      return { kind: 'applied', version, nowMs, counters: [...counters], replayed: true };
    }
    const conditionIndex = conditions.findIndex((condition) => !this.#holds(condition, nowMs));
    if (conditionIndex >= 0) return { kind: 'conflict', nowMs, conditionIndex };
    const bound = this.#firstBound(mutations, nowMs);
    if (bound !== undefined) return bound;
    if (this.#lastVersion >= maxVersion) throw new StoreError('exhausted', 'notApplied', 'no version is left');

    const version = ++this.#lastVersion;
    for (const mutation of mutations) this.#apply(mutation, version, nowMs); // 2: nothing can fail from here on
    const counters = mutations.flatMap((m) => (m.kind === 'add' ? [this.#counters.get(m.counter) ?? 0] : []));
    this.#applied.set(operationId, { version, counters, appliedAtMs: nowMs });
    return { kind: 'applied', version, nowMs, counters: [...counters], replayed: false };
  }

  #live(key: string, nowMs: number): KeptRecord | undefined {
    const record = this.#records.get(key);
    return record === undefined || isOver(record, nowMs) ? undefined : record;
  }

  #holds(condition: StoreCondition, nowMs: number): boolean {
    const record = this.#live(condition.key, nowMs);
    switch (condition.kind) {
      case 'absent':
        return record === undefined;
      case 'present':
        return record !== undefined;
      case 'version':
        return record?.version === condition.version;
      default:
        return assertNever(condition);
    }
  }

  #firstBound(mutations: readonly StoreMutation[], nowMs: number): Bound | undefined {
    for (const [mutationIndex, mutation] of mutations.entries()) {
      if (mutation.kind !== 'add') continue;
      const current = this.#counters.get(mutation.counter) ?? 0;
      const sum = current + mutation.delta;
      const { min = 0, max = Number.MAX_SAFE_INTEGER } = mutation;
      if (sum < min || sum > max || !Number.isSafeInteger(sum)) return { kind: 'bound', nowMs, mutationIndex, current };
    }
    return undefined;
  }

  #apply(mutation: StoreMutation, version: bigint, nowMs: number): void {
    switch (mutation.kind) {
      case 'put': {
        const old = mutation.fresh === true ? undefined : this.#live(mutation.key, nowMs);
        const expiresAtMs = mutation.ttlMs === undefined ? undefined : nowMs + mutation.ttlMs;
        const value = new Uint8Array(mutation.value); // 3: slice() of a Buffer would be a view
        this.#set(mutation.key, { value, version, createdVersion: old?.createdVersion ?? version, expiresAtMs });
        break;
      }
      case 'touch': {
        const old = this.#live(mutation.key, nowMs);
        if (old !== undefined) this.#set(mutation.key, { ...old, expiresAtMs: nowMs + mutation.ttlMs });
        break;
      }
      case 'delete':
        this.#remove(mutation.key);
        break;
      case 'add':
        this.#add(mutation.counter, mutation.delta);
        break;
      default:
        assertNever(mutation);
    }
  }

  #set(key: string, record: KeptRecord): void {
    if (!this.#records.has(key)) this.#keys.splice(this.#firstFrom(key), 0, key); // 4
    this.#records.set(key, record);
  }

  #remove(key: string): void {
    if (this.#records.delete(key)) this.#keys.splice(this.#firstFrom(key), 1); // 4
  }

  #add(counter: string, delta: number): void {
    const sum = (this.#counters.get(counter) ?? 0) + delta;
    if (sum === 0) this.#counters.delete(counter);
    else this.#counters.set(counter, sum);
  }

  /** Where a scan begins in `#keys`. */
  #startOf(prefix: string, after: string | undefined): number {
    if (after === undefined || compareUtf8(after, prefix) < 0) return this.#firstFrom(prefix);
    const at = this.#firstFrom(after);
    return this.#keys[at] === after ? at + 1 : at;
  }

  /** The index of the first key that is not below `key`. */
  #firstFrom(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareUtf8(this.#keys[middle] as string, key) < 0)
        low = middle + 1; // `middle` is below `high`
      else high = middle;
    }
    return low;
  }

  /** Nothing observable changes: what goes has expired for every call from now on. */
  #sweep(nowMs: number): void {
    for (const [operationId, { appliedAtMs }] of this.#applied) {
      if (nowMs - appliedAtMs <= operationMemoryMs) break; // the rest is younger
      this.#applied.delete(operationId);
    }
    if (nowMs - this.#sweptAtMs < sweepIntervalMs) return;
    this.#sweptAtMs = nowMs;
    for (const [key, record] of this.#records) if (isOver(record, nowMs)) this.#remove(key);
  }
}

function isOver({ expiresAtMs }: KeptRecord, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/** What a caller gets of a record; a copy (3). */
function shown(
  key: string,
  { value, version, createdVersion, expiresAtMs }: KeptRecord,
  withValue: boolean,
): StoreRecord {
  return {
    key,
    ...(withValue ? { value: value.slice() } : {}),
    version,
    createdVersion,
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}

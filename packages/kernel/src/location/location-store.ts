/**
 * The port behind which a deployment keeps its shared facts: who lives, what is published, who owns which object.
 *
 * Owns the contract of a Location Store. Leaves the checks of arguments to store-arguments.ts, the check of
 * capabilities to store-capabilities.ts, and what the records mean to records/. The suite `locationStoreSuite` of
 * `@zlink/testing` is the proof that a store keeps it.
 *
 * 1. Keys are opaque, 1..1,536 bytes of UTF-8, compared by bytes. Records and counters are two key spaces (LOC-010).
 * 2. A commit changes everything or nothing, and nobody sees a part of it (LOC-012).
 * 3. One clock, the store's, decides what has expired (LOC-011, LOC-013).
 * 4. A commit may be repeated under its operation id; it is applied once (LOC-016).
 */

/** What a store promises. A flag that is missing counts as false. */
export interface LocationStoreCapabilities {
  readonly spiVersion: 1;
  /** Commits honour conditions on versions. */
  readonly compareAndSet: boolean;
  /** Records and bounded counters change in one commit. */
  readonly placementReservation: boolean;
  /** One commit takes 2,048 keys and 4 MiB. */
  readonly aggregateCommit: boolean;
  /** `nowMs`, expiry and presence come from one clock of the store. */
  readonly storeClock: boolean;
  /** An applied `operationId` is remembered for at least 120 s. */
  readonly operationReplay: boolean;
  /** `process`: seen by the hosts of one process only. */
  readonly scope: 'shared' | 'process';
}

export interface StoreRecord {
  readonly key: string;
  /** Absent in a scan of keys only. */
  readonly value?: Uint8Array;
  /** Of the commit that put this value. */
  readonly version: bigint;
  /** Of the commit that made the key present. */
  readonly createdVersion: bigint;
  /** By the store's clock; absent for a record that never expires. */
  readonly expiresAtMs?: number;
}

export type StoreCondition =
  | { readonly kind: 'absent' | 'present'; readonly key: string }
  | { readonly kind: 'version'; readonly key: string; readonly version: bigint };

export type StoreMutation =
  /** Without `ttlMs` the record never expires. `fresh` treats a present key as new. */
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: Uint8Array;
      readonly ttlMs?: number;
      readonly fresh?: true;
    }
  /** Sets the expiry without a new version; nothing happens to an absent key. */
  | { readonly kind: 'touch'; readonly key: string; readonly ttlMs: number }
  | { readonly kind: 'delete'; readonly key: string }
  /** The sum must lie in `min`..`max`; `min` is 0 when left out, `max` the largest safe integer. */
  | {
      readonly kind: 'add';
      readonly counter: string;
      readonly delta: number;
      readonly min?: number;
      readonly max?: number;
    };

export interface StoreBatch {
  /** 32 lowercase hex digits; new for each batch, the same for each repetition of it. */
  readonly operationId: string;
  readonly conditions: readonly StoreCondition[];
  readonly mutations: readonly StoreMutation[];
}

export type CommitResult =
  /** `counters`: what each `add` led to, in the order of the batch. `replayed`: an earlier submission had done it. */
  | {
      readonly kind: 'applied';
      readonly version: bigint;
      readonly nowMs: number;
      readonly counters: readonly number[];
      readonly replayed: boolean;
    }
  /** The first condition that failed. */
  | { readonly kind: 'conflict'; readonly nowMs: number; readonly conditionIndex: number }
  /** The first `add` whose sum left its bounds, and the counter's value as it is. */
  | { readonly kind: 'bound'; readonly nowMs: number; readonly mutationIndex: number; readonly current: number };

export interface StoreRead {
  readonly records?: readonly string[];
  readonly counters?: readonly string[];
}

export interface StoreReadResult {
  readonly nowMs: number;
  /** In the order of the request. */
  readonly records: readonly (StoreRecord | undefined)[];
  /** In the order of the request; an absent counter is 0. */
  readonly counters: readonly number[];
}

export interface StoreScan {
  /** May be empty: all records. */
  readonly prefix: string;
  /** Only keys behind this one. */
  readonly after?: string;
  readonly limit: number;
  readonly keysOnly?: boolean;
}

export interface StoreScanResult {
  readonly nowMs: number;
  readonly items: readonly StoreRecord[];
  /** The `after` of the next page; absent at the end. */
  readonly next?: string;
}

/** Every call but `open` and `dispose` rejects with a `StoreError` alone. */
export interface LocationStore {
  readonly capabilities: LocationStoreCapabilities;
  open(signal?: AbortSignal): Promise<void>;
  /** One observation of up to 1,024 keys and 4 MiB of values (LOC-011). */
  read(request: StoreRead, signal?: AbortSignal): Promise<StoreReadResult>;
  /** Conditions in order, then bounds, then all mutations or none (LOC-012). */
  commit(batch: StoreBatch, signal?: AbortSignal): Promise<CommitResult>;
  /** One page in the order of key bytes (LOC-017). */
  scan(request: StoreScan, signal?: AbortSignal): Promise<StoreScanResult>;
  /** Reports that acknowledged commits may be lost; a store that never loses them leaves it out (LOC-019). */
  onDisruption?(listener: () => void): () => void;
  dispose(): Promise<void>;
}

/**
 * Stores that live in the memory of one process, for tests with several hosts in it.
 *
 * Owns the backend that the stores of several hosts share, and the stores in front of it. Leaves the data to
 * memory-records.ts and memory-blobs.ts, and the limits of arguments to store-arguments.ts.
 *
 * 1. A store is a handle: its end changes nothing of the backend (LOC-022).
 * 2. A call takes effect before it returns its promise, so nothing is ever `unknown`: an abort afterwards changes nothing.
 * 3. No commit is ever lost, so there is no disruption to report (LOC-019).
 */
import { ConfigurationError, describeValue } from '../errors/index.ts';
import { type Clock, systemClock } from '../internal/time/index.ts';
import type {
  CommitResult,
  LocationStore,
  StoreBatch,
  StoreRead,
  StoreReadResult,
  StoreScan,
  StoreScanResult,
} from './location-store.ts';
import { MemoryBlobs } from './memory-blobs.ts';
import { MemoryRecords } from './memory-records.ts';
import type { BlobPutResult, BlobReadResult, BlobRenewResult, RelocationStore } from './relocation-store.ts';
import {
  checkBatch,
  checkNotAborted,
  checkPayload,
  checkRead,
  checkRef,
  checkRetention,
  checkScan,
} from './store-arguments.ts';
import { StoreError } from './store-error.ts';

const maxBlobBytes = 8_388_608;

export interface MemoryStoreBackendOptions {
  /** The clock of the store; the default is the system's. */
  readonly clock?: Pick<Clock, 'nowMs'>;
  /** The version before the first commit's, 0..2^63-1; default 0. */
  readonly lastVersion?: bigint;
}

const inside: unique symbol = Symbol('inside');

interface Inside {
  readonly records: MemoryRecords;
  readonly blobs: MemoryBlobs;
  nowMs(): number;
}

/** What the stores of one process share; only they look inside. */
export interface MemoryStoreBackend {
  readonly [inside]: Inside;
}

export function createMemoryStoreBackend(options: MemoryStoreBackendOptions = {}): MemoryStoreBackend {
  const { clock = systemClock, lastVersion = 0n } = options;
  const nowMs = (): number => Math.floor(clock.nowMs());
  return Object.freeze({ [inside]: { records: new MemoryRecords(lastVersion), blobs: new MemoryBlobs(), nowMs } });
}

/**
 * One for each host; what one commits the others read.
 *
 * @throws ConfigurationError for anything but a backend
 */
export function createMemoryLocationStore(backend: MemoryStoreBackend): LocationStore {
  return new MemoryLocationStore(insideOf(backend, 'createMemoryLocationStore'));
}

/**
 * One for each host; what one puts the others read.
 *
 * @throws ConfigurationError for anything but a backend
 */
export function createMemoryRelocationStore(backend: MemoryStoreBackend): RelocationStore {
  return new MemoryRelocationStore(insideOf(backend, 'createMemoryRelocationStore'));
}

function insideOf(backend: MemoryStoreBackend | undefined, caller: string): Inside {
  const found = backend?.[inside];
  if (found !== undefined) return found;
  throw new ConfigurationError([
    `${caller}: ${describeValue(backend)} is not allowed, allowed: what createMemoryStoreBackend returns`,
  ]);
}

type HandleState = 'new' | 'open' | 'disposed';

/** The life of one handle. */
class Handle {
  readonly #store: string;
  #state: HandleState = 'new';

  constructor(store: string) {
    this.#store = store;
  }

  open(signal: AbortSignal | undefined): void {
    checkNotAborted(signal);
    if (this.#state === 'disposed') throw this.#unavailable();
    this.#state = 'open';
  }

  admit(signal: AbortSignal | undefined): void {
    checkNotAborted(signal);
    if (this.#state !== 'open') throw this.#unavailable();
  }

  dispose(): void {
    this.#state = 'disposed';
  }

  #unavailable(): StoreError {
    const state = this.#state === 'new' ? 'not open' : 'disposed';
    return new StoreError('unavailable', 'notApplied', `the ${this.#store} is ${state}`);
  }
}

class MemoryLocationStore implements LocationStore {
  readonly capabilities = Object.freeze({
    spiVersion: 1,
    compareAndSet: true,
    placementReservation: true,
    aggregateCommit: true,
    storeClock: true,
    operationReplay: true,
    scope: 'process',
  } as const);
  readonly #inside: Inside;
  readonly #handle = new Handle('location store');

  constructor(backend: Inside) {
    this.#inside = backend;
  }

  async open(signal?: AbortSignal): Promise<void> {
    this.#handle.open(signal);
  }

  async read(request: StoreRead, signal?: AbortSignal): Promise<StoreReadResult> {
    checkRead(request);
    this.#handle.admit(signal);
    return this.#inside.records.read(request, this.#inside.nowMs());
  }

  async commit(batch: StoreBatch, signal?: AbortSignal): Promise<CommitResult> {
    checkBatch(batch);
    this.#handle.admit(signal);
    return this.#inside.records.commit(batch, this.#inside.nowMs());
  }

  async scan(request: StoreScan, signal?: AbortSignal): Promise<StoreScanResult> {
    checkScan(request);
    this.#handle.admit(signal);
    return this.#inside.records.scan(request, this.#inside.nowMs());
  }

  async dispose(): Promise<void> {
    this.#handle.dispose();
  }
}

class MemoryRelocationStore implements RelocationStore {
  readonly capabilities = Object.freeze({ spiVersion: 1, scope: 'process', maxBlobBytes } as const);
  readonly #inside: Inside;
  readonly #handle = new Handle('relocation store');

  constructor(backend: Inside) {
    this.#inside = backend;
  }

  async open(signal?: AbortSignal): Promise<void> {
    this.#handle.open(signal);
  }

  async put(ref: string, payload: Uint8Array, retentionMs: number, signal?: AbortSignal): Promise<BlobPutResult> {
    checkRef(ref);
    checkPayload(payload, maxBlobBytes);
    checkRetention(retentionMs);
    this.#handle.admit(signal);
    return this.#inside.blobs.put(ref, payload, retentionMs, this.#inside.nowMs());
  }

  async read(ref: string, signal?: AbortSignal): Promise<BlobReadResult> {
    checkRef(ref);
    this.#handle.admit(signal);
    return this.#inside.blobs.read(ref, this.#inside.nowMs());
  }

  async renew(ref: string, retentionMs: number, signal?: AbortSignal): Promise<BlobRenewResult> {
    checkRef(ref);
    checkRetention(retentionMs);
    this.#handle.admit(signal);
    return this.#inside.blobs.renew(ref, retentionMs, this.#inside.nowMs());
  }

  async delete(ref: string, signal?: AbortSignal): Promise<void> {
    checkRef(ref);
    this.#handle.admit(signal);
    this.#inside.blobs.delete(ref);
  }

  async dispose(): Promise<void> {
    this.#handle.dispose();
  }
}

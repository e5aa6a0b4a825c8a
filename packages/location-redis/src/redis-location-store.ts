/**
 * The Location Store in Redis.
 *
 * Owns the order of steps of each call. Leaves names to keys.ts, bytes to record-codec.ts, atomicity to lua/, connections
 * and failures to redis-calls.ts.
 *
 * 1. A call that meets another store than the one it was made for changes nothing and looks again (REDIS-007). A page of a
 *    scan that may have been read from two of them is read again.
 * 2. Repeating a call under its operationId is up to the host; the store itself never repeats what may have been applied.
 */
import { randomUUID } from 'node:crypto';
import { type Clock, systemClock, type TimerHandle } from '@zlink/kernel/internal/time';
import {
  checkBatch,
  checkNotAborted,
  checkRead,
  checkScan,
  type CommitResult,
  type LocationStore,
  maxReadBytes,
  type StoreBatch,
  type StoreRead,
  type StoreReadResult,
  type StoreRecord,
  type StoreScan,
  type StoreScanResult,
} from '@zlink/kernel/location';
import type { Redis } from 'ioredis';
import { command } from './command.ts';
import { openConnection, type RedisConnection } from './connection.ts';
import { DisruptionWatch } from './disruption-watch.ts';
import { IndexSweep } from './index-sweep.ts';
import { type LocationKeys, locationKeys } from './keys.ts';
import { type RedisStoreOptions, type ResolvedRedisStoreOptions, resolveRedisStoreOptions } from './options.ts';
import { createPrimaryRoute } from './primary-route.ts';
import {
  decodeCommit,
  type DecodedRead,
  decodeRead,
  encodeBatch,
  isOtherStore,
  listOf,
  textOf,
} from './record-codec.ts';
import { OutdatedInspection, RedisCalls } from './redis-calls.ts';
import { ended } from './redis-errors.ts';
import { type ReplicaAcks, withReplicaAcks } from './replica-acks.ts';
import { loadScript, runScript, type Script, type ScriptArgument } from './script.ts';
import { findStore, inspectServer } from './server-inspection.ts';
import { admit, type StoreState } from './store-state.ts';

const commit = loadScript('commit');
const read = loadScript('read');
const prune = loadScript('prune');

const INSPECT_EVERY_MS = 30_000;
const SCAN_STEP = 64;

/** @throws ConfigurationError with every mistake in `options`; connects in `open`, not before */
export function createRedisLocationStore(options: RedisStoreOptions): LocationStore {
  return new RedisLocationStore(resolveRedisStoreOptions(options), systemClock);
}

type ReadMode = 'all' | 'fit' | 'fitKeys';

export class RedisLocationStore implements LocationStore {
  readonly capabilities = Object.freeze({
    spiVersion: 1,
    compareAndSet: true,
    placementReservation: true,
    aggregateCommit: true,
    storeClock: true,
    operationReplay: true,
    scope: 'shared',
  } as const);
  readonly #keys: LocationKeys;
  readonly #acks: ReplicaAcks;
  readonly #clock: Clock;
  readonly #connection: RedisConnection;
  readonly #calls: RedisCalls;
  readonly #disruption = new DisruptionWatch();
  readonly #sweep = new IndexSweep((after, count) => this.#sweepStep(after, count));
  #state: StoreState = 'new';
  #inspectTimer: TimerHandle | undefined;

  constructor(options: ResolvedRedisStoreOptions, clock: Clock) {
    this.#keys = locationKeys(options.keyPrefix);
    this.#acks = { count: options.replicaAcks, timeoutMs: options.replicaAckTimeoutMs };
    this.#clock = clock;
    this.#connection = openConnection(options, 'client', clock);
    this.#calls = new RedisCalls({
      connection: this.#connection,
      route: createPrimaryRoute(this.#connection),
      timeoutMs: options.operationTimeoutMs,
      clock,
      inspect: (node) => this.#inspect(node),
    });
  }

  async open(signal?: AbortSignal): Promise<void> {
    checkNotAborted(signal);
    if (this.#state === 'disposed') throw ended();
    await this.#calls.run(this.#keys.meta, (node) => command(node, 'PING'), signal);
    if (this.#state !== 'new') return;
    this.#state = 'open';
    this.#inspectLater();
  }

  async read(request: StoreRead, signal?: AbortSignal): Promise<StoreReadResult> {
    checkRead(request);
    admit(this.#state, signal);
    const { records = [], counters = [] } = request;
    const found = await this.#read(records, counters, 'all', maxReadBytes, signal);
    return { nowMs: found.nowMs, records: found.records, counters: found.counters };
  }

  async commit(batch: StoreBatch, signal?: AbortSignal): Promise<CommitResult> {
    checkBatch(batch);
    admit(this.#state, signal);
    const { keys, args } = encodeBatch(batch, this.#keys);
    const result = await this.#calls.run(
      this.#keys.meta,
      (node, asText) =>
        withReplicaAcks(
          node,
          this.#acks,
          async () => decodeCommit(await this.#runGuarded(node, asText, commit, keys, args)),
          ({ kind }) => kind === 'applied',
        ),
      signal,
    );
    if (result.kind === 'applied') this.#sweep.note(batch.mutations.filter(hasExpiry).length);
    return result;
  }

  async scan(request: StoreScan, signal?: AbortSignal): Promise<StoreScanResult> {
    checkScan(request);
    admit(this.#state, signal);
    for (;;) {
      const { storeId } = this.#disruption;
      const found = await this.#scanPage(request, signal);
      if (storeId === this.#disruption.storeId) return found; // 1: keys are listed without a look at the store's id
    }
  }

  async #scanPage(request: StoreScan, signal: AbortSignal | undefined): Promise<StoreScanResult> {
    const { prefix, limit, keysOnly } = request;
    const items: StoreRecord[] = [];
    let { after } = request;
    let bytes = 0;
    let nowMs: number | undefined;
    for (;;) {
      const count = Math.min(SCAN_STEP, limit - items.length + 1); // one more, to know whether another page follows
      const keys = await this.#keysBehind(prefix, after, count, signal);
      const found = await this.#read(keys, [], keysOnly ? 'fitKeys' : 'fit', maxReadBytes - bytes, signal);
      nowMs ??= found.nowMs; // the earliest: nothing in the page had expired then
      bytes += found.valueBytes;
      for (const record of found.records) {
        if (record === undefined) continue;
        if (items.length === limit) return page(nowMs, items, true);
        items.push(record);
      }
      if (found.records.includes(undefined)) await this.#prune(keys, signal);
      if (found.records.length < keys.length) return page(nowMs, items, true); // the next one would be too much
      if (keys.length < count) return page(nowMs, items, false);
      after = keys.at(-1);
    }
  }

  onDisruption(listener: () => void): () => void {
    return this.#disruption.add(listener);
  }

  async dispose(): Promise<void> {
    this.#state = 'disposed';
    if (this.#inspectTimer !== undefined) this.#clock.clearTimer(this.#inspectTimer);
    this.#calls.end();
    await this.#connection.close();
  }

  async #inspect(node: Redis): Promise<void> {
    const { runId, replicationId } = await inspectServer(node, [commit, read, prune], this.#connection.database);
    const storeId = await findStore(node, this.#keys.meta, randomUUID());
    this.#disruption.observe({ runId, replicationId, storeId });
  }

  /** Data can go without the connection going. */
  #inspectLater(): void {
    this.#inspectTimer = this.#clock.setBackgroundTimer(() => {
      this.#inspectLater();
      this.#calls.inspectAgain(this.#keys.meta).catch(() => undefined); // calls find out for themselves
    }, INSPECT_EVERY_MS);
  }

  async #read(
    records: readonly string[],
    counters: readonly string[],
    mode: ReadMode,
    budget: number,
    signal: AbortSignal | undefined,
  ): Promise<DecodedRead> {
    const { meta, record, counter } = this.#keys;
    const keys = [meta, ...records.map(record), ...counters.map(counter)];
    const args = [String(records.length), String(budget), mode];
    const reply = await this.#calls.run(
      meta,
      (node, asText) => this.#runGuarded(node, asText, read, keys, args),
      signal,
    );
    return decodeRead(reply, records);
  }

  /** @throws OutdatedInspection if the server holds another store than this connection was inspected for (1) */
  async #runGuarded(
    node: Redis,
    asText: boolean,
    script: Script,
    keys: readonly string[],
    args: readonly ScriptArgument[],
  ): Promise<unknown> {
    const call = { script, keys, args: [this.#disruption.storeId, ...args] };
    const reply = await runScript(node, call, asText);
    if (isOtherStore(reply)) throw new OutdatedInspection();
    return reply;
  }

  async #keysBehind(
    prefix: string,
    after: string | undefined,
    count: number,
    signal: AbortSignal | undefined,
  ): Promise<string[]> {
    const start = after === undefined || isBelow(after, prefix) ? `[${prefix}` : `(${after}`;
    const end = Buffer.concat([Buffer.from(`(${prefix}`), Buffer.of(0xff)]); // above every key: UTF-8 has no such byte
    const args = [this.#keys.index, start, end, 'LIMIT', 0, count];
    const reply = await this.#calls.run(this.#keys.meta, (node) => command(node, 'ZRANGEBYLEX', args), signal);
    return listOf(reply).map(textOf);
  }

  async #prune(keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const call = { script: prune, keys: [this.#keys.index, ...keys.map(this.#keys.record)], args: keys };
    await this.#calls.run(this.#keys.meta, (node, asText) => runScript(node, call, asText), signal);
  }

  async #sweepStep(after: string | undefined, count: number): Promise<string | undefined> {
    if (this.#state !== 'open') return after;
    const keys = await this.#keysBehind('', after, count, undefined);
    if (keys.length > 0) await this.#prune(keys, undefined);
    return keys.length < count ? undefined : keys.at(-1);
  }
}

function page(nowMs: number, items: readonly StoreRecord[], more: boolean): StoreScanResult {
  const last = items.at(-1);
  return { nowMs, items, ...(more && last !== undefined ? { next: last.key } : {}) };
}

function isBelow(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

function hasExpiry(mutation: StoreBatch['mutations'][number]): boolean {
  return mutation.kind === 'put' && mutation.ttlMs !== undefined;
}

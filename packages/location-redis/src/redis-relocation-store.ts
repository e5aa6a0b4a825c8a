/**
 * The Relocation Store in Redis.
 *
 * Owns the order of steps of each call. Leaves names to keys.ts, atomicity to lua/, connections and failures to
 * redis-calls.ts.
 *
 * 1. It has connections of its own, even beside a client that the application passed in: megabytes never delay the renewal
 *    of a lease (REDIS-009).
 */
import { createHash } from 'node:crypto';
import { type Clock, systemClock } from '@zlink/kernel/internal/time';
import {
  type BlobPutResult,
  type BlobReadResult,
  type BlobRenewResult,
  checkNotAborted,
  checkPayload,
  checkRef,
  checkRetention,
  type RelocationStore,
} from '@zlink/kernel/location';
import { command } from './command.ts';
import { openConnection, type RedisConnection } from './connection.ts';
import { blobKey } from './keys.ts';
import { type RedisStoreOptions, type ResolvedRedisStoreOptions, resolveRedisStoreOptions } from './options.ts';
import { createPrimaryRoute } from './primary-route.ts';
import { asBuffer, copyOf, listOf, textOf } from './record-codec.ts';
import { RedisCalls } from './redis-calls.ts';
import { ended, unexpectedReply } from './redis-errors.ts';
import { type ReplicaAcks, withReplicaAcks } from './replica-acks.ts';
import { loadScript, runScript, type Script, type ScriptArgument } from './script.ts';
import { inspectServer } from './server-inspection.ts';
import { admit, type StoreState } from './store-state.ts';

const put = loadScript('blob-put');
const read = loadScript('blob-read');
const renew = loadScript('blob-renew');

const MAX_BLOB_BYTES = 8_388_608;

/** @throws ConfigurationError with every mistake in `options`; connects in `open`, not before */
export function createRedisRelocationStore(options: RedisStoreOptions): RelocationStore {
  return new RedisRelocationStore(resolveRedisStoreOptions(options), systemClock);
}

class RedisRelocationStore implements RelocationStore {
  readonly capabilities = Object.freeze({ spiVersion: 1, scope: 'shared', maxBlobBytes: MAX_BLOB_BYTES } as const);
  readonly #prefix: string;
  readonly #acks: ReplicaAcks;
  readonly #connection: RedisConnection;
  readonly #calls: RedisCalls;
  #state: StoreState = 'new';

  constructor(options: ResolvedRedisStoreOptions, clock: Clock) {
    this.#prefix = options.keyPrefix;
    this.#acks = { count: options.replicaAcks, timeoutMs: options.replicaAckTimeoutMs };
    this.#connection = openConnection(options, 'configuration', clock); // 1
    this.#calls = new RedisCalls({
      connection: this.#connection,
      route: createPrimaryRoute(this.#connection),
      timeoutMs: options.operationTimeoutMs,
      clock,
      inspect: async (node) => void (await inspectServer(node, [put, read, renew], this.#connection.database)),
    });
  }

  async open(signal?: AbortSignal): Promise<void> {
    checkNotAborted(signal);
    if (this.#state === 'disposed') throw ended();
    await this.#calls.run(blobKey(this.#prefix, ''), (node) => command(node, 'PING'), signal);
    if (this.#state === 'new') this.#state = 'open';
  }

  async put(ref: string, payload: Uint8Array, retentionMs: number, signal?: AbortSignal): Promise<BlobPutResult> {
    checkRef(ref);
    checkPayload(payload, MAX_BLOB_BYTES);
    checkRetention(retentionMs);
    admit(this.#state, signal);
    const digest = createHash('sha256').update(payload).digest('hex');
    const args = [asBuffer(payload), digest, String(payload.byteLength), String(retentionMs)];
    return this.#write(ref, put, args, ['stored', 'alreadyStored', 'conflict'], signal);
  }

  async read(ref: string, signal?: AbortSignal): Promise<BlobReadResult> {
    checkRef(ref);
    admit(this.#state, signal);
    const call = { script: read, keys: [blobKey(this.#prefix, ref)], args: [] };
    const reply = await this.#calls.run(
      blobKey(this.#prefix, ref),
      (node, asText) => runScript(node, call, asText),
      signal,
    );
    const [now, expiry, bytes] = listOf(reply);
    const nowMs = Number(textOf(now));
    if (expiry === undefined) return { nowMs };
    return { bytes: copyOf(bytes), expiresAtMs: Number(textOf(expiry)), nowMs };
  }

  async renew(ref: string, retentionMs: number, signal?: AbortSignal): Promise<BlobRenewResult> {
    checkRef(ref);
    checkRetention(retentionMs);
    admit(this.#state, signal);
    return this.#write(ref, renew, [String(retentionMs)], ['renewed', 'missing'], signal);
  }

  async delete(ref: string, signal?: AbortSignal): Promise<void> {
    checkRef(ref);
    admit(this.#state, signal);
    const key = blobKey(this.#prefix, ref);
    await this.#calls.run(key, (node) => command(node, 'UNLINK', [key]), signal);
  }

  async dispose(): Promise<void> {
    this.#state = 'disposed';
    this.#calls.end();
    await this.#connection.close();
  }

  async #write<K extends string>(
    ref: string,
    script: Script,
    args: readonly ScriptArgument[],
    kinds: readonly K[],
    signal: AbortSignal | undefined,
  ): Promise<{ readonly kind: K; readonly nowMs: number; readonly expiresAtMs?: number }> {
    const key = blobKey(this.#prefix, ref);
    const call = { script, keys: [key], args };
    const reply = await this.#calls.run(
      key,
      (node, asText) =>
        withReplicaAcks(
          node,
          this.#acks,
          () => runScript(node, call, asText),
          () => true,
        ),
      signal,
    );
    const [kindText, now, expiry] = listOf(reply).map(textOf);
    const kind = kinds.find((known) => known === kindText);
    if (kind === undefined) throw unexpectedReply();
    return { kind, nowMs: Number(now), ...(expiry === undefined ? {} : { expiresAtMs: Number(expiry) }) };
  }
}

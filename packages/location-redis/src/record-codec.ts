/**
 * Batches as arguments of the commit script, and replies of all scripts as values of the contracts.
 *
 * Owns the order of keys and arguments that lua/*.lua expect, and what is read from their replies. Leaves sending them.
 *
 * 1. Versions travel as decimal text, never as numbers of JavaScript.
 * 2. Bytes in a result are a copy: nothing of the driver's buffers is kept alive or shared (LOC-018).
 */
import type { CommitResult, StoreBatch, StoreMutation, StoreRecord } from '@zlink/kernel/location';
import { StoreError } from '@zlink/kernel/location';
import type { LocationKeys } from './keys.ts';
import { unexpectedReply } from './redis-errors.ts';
import type { ScriptArgument } from './script.ts';

/** The server holds another store than the one that was found when the connection was made. */
const OTHER_STORE = 'otherStore';

export interface EncodedBatch {
  readonly keys: readonly string[];
  /** Without the storeId, which is the first one. */
  readonly args: readonly ScriptArgument[];
}

export function encodeBatch(batch: StoreBatch, names: LocationKeys): EncodedBatch {
  const { conditions, mutations } = batch;
  const keys = [names.meta, names.version, names.index, names.operation(batch.operationId)];
  const args: ScriptArgument[] = [String(conditions.length), String(mutations.length)];
  for (const condition of conditions) {
    keys.push(names.record(condition.key));
    args.push(condition.kind === 'version' ? String(condition.version) : condition.kind === 'absent' ? 'a' : 'p');
  }
  for (const mutation of mutations) {
    keys.push(mutation.kind === 'add' ? names.counter(mutation.counter) : names.record(mutation.key));
    encodeMutation(mutation, args);
  }
  return { keys, args };
}

function encodeMutation(mutation: StoreMutation, args: ScriptArgument[]): void {
  switch (mutation.kind) {
    case 'put':
      args.push('p', mutation.key, asBuffer(mutation.value), String(mutation.ttlMs ?? ''), mutation.fresh ? '1' : '');
      return;
    case 'touch':
      args.push('t', String(mutation.ttlMs));
      return;
    case 'delete':
      args.push('d', mutation.key);
      return;
    case 'add': {
      const { delta, min = 0, max = Number.MAX_SAFE_INTEGER } = mutation;
      args.push('a', String(delta), String(min), String(max));
    }
  }
}

/** @throws StoreError `exhausted` */
export function decodeCommit(reply: unknown): CommitResult {
  const [kind, ...rest] = listOf(reply).map(textOf);
  const [nowText = '', first = '', second = ''] = rest;
  const nowMs = Number(nowText);
  switch (kind) {
    case 'applied':
    case 'replayed': {
      const [version = '', counters = ''] = first.split('|');
      return {
        kind: 'applied',
        version: BigInt(version),
        nowMs,
        counters: counters === '' ? [] : counters.split(',').map(Number),
        replayed: kind === 'replayed',
      };
    }
    case 'conflict':
      return { kind, nowMs, conditionIndex: Number(first) };
    case 'bound':
      return { kind, nowMs, mutationIndex: Number(first), current: Number(second) };
    case 'exhausted':
      throw new StoreError('exhausted', 'notApplied', 'no version is left in this store');
    default:
      throw unexpectedReply();
  }
}

export interface DecodedRead {
  readonly nowMs: number;
  /** As many as were answered. */
  readonly records: (StoreRecord | undefined)[];
  readonly counters: number[];
  readonly valueBytes: number;
}

/** @throws StoreError `tooLarge` */
export function decodeRead(reply: unknown, keys: readonly string[]): DecodedRead {
  const [kind, now, records, counters] = listOf(reply);
  if (textOf(kind) === 'tooLarge')
    throw new StoreError('tooLarge', 'notApplied', 'the values of one read are larger than one answer carries');
  if (textOf(kind) !== 'read') throw unexpectedReply();
  const found = listOf(records).map((record, index) => decodeRecord(keys[index] ?? '', record));
  return {
    nowMs: Number(textOf(now)),
    records: found,
    counters: listOf(counters).map((counter) => Number(textOf(counter))),
    valueBytes: found.reduce((sum, record) => sum + (record?.value?.byteLength ?? 0), 0),
  };
}

function decodeRecord(key: string, record: unknown): StoreRecord | undefined {
  if (record === null) return undefined;
  const [version, createdVersion, expiry, value] = listOf(record);
  return {
    key,
    ...(value === undefined ? {} : { value: copyOf(value) }),
    version: BigInt(textOf(version)),
    createdVersion: BigInt(textOf(createdVersion)),
    ...(expiry === null ? {} : { expiresAtMs: Number(textOf(expiry)) }),
  };
}

/** Whether a script found another store and did nothing. */
export function isOtherStore(reply: unknown): boolean {
  return Array.isArray(reply) && reply.length === 1 && textOf(reply[0]) === OTHER_STORE;
}

/** A reply of strings, with the bytes of the elements kept for `copyOf`. */
export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw unexpectedReply();
  return reply;
}

export function textOf(element: unknown): string {
  if (element instanceof Uint8Array)
    return Buffer.from(element.buffer, element.byteOffset, element.byteLength).toString();
  if (typeof element === 'string' || typeof element === 'number') return String(element);
  throw unexpectedReply();
}

export function copyOf(element: unknown): Uint8Array {
  if (!(element instanceof Uint8Array)) throw unexpectedReply();
  return new Uint8Array(element); // 2
}

/** The same bytes as what the driver takes for bytes. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

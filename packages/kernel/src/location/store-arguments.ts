/**
 * What a store refuses before it does anything: arguments outside of the contract, and calls aborted beforehand.
 *
 * Owns every limit that can be judged without the data, for all implementations alike. Leaves to the store what only
 * the data tells: bounds of counters, and the size of what is read.
 *
 * 1. Every refusal is a `StoreError` with outcome `notApplied`, thrown synchronously: no I/O has happened (LOC-015).
 * 2. A text shows no key and no value, only what is wrong with it.
 * 3. Plain JavaScript can pass anything; a wrong type is refused like a wrong range.
 */
import { describeValue } from '../errors/index.ts';
import { isWellFormed, utf8ByteLength } from '../identity/index.ts';
import type { StoreBatch, StoreCondition, StoreMutation, StoreRead, StoreScan } from './location-store.ts';
import { StoreError } from './store-error.ts';
import {
  commitKeyOverheadBytes,
  maxCommitBytes,
  maxCommitKeys,
  maxKeyBytes,
  maxReadBytes,
  maxReadKeys,
  maxRefBytes,
  maxScanLimit,
  maxTtlMs,
  maxValueBytes,
  maxVersion,
} from './store-limits.ts';

const operationIdPattern = /^[0-9a-f]{32}$/;
// eslint-disable-next-line no-control-regex -- a ref is opaque, so every ASCII character may stand in it
const refPattern = /^[\x00-\x7f]+$/;

/** @throws StoreError `timeout`, `notApplied` if the caller has given up already (LOC-018) */
export function checkNotAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new StoreError('timeout', 'notApplied', 'aborted before the call', { cause: signal.reason });
}

/** @throws StoreError `invalidArgument`, or `tooLarge` for too many keys */
export function checkRead({ records = [], counters = [] }: StoreRead): void {
  if (!Array.isArray(records)) refuse('records of a read', records, 'an array of keys');
  if (!Array.isArray(counters)) refuse('counters of a read', counters, 'an array of keys');
  const count = records.length + counters.length;
  if (count > maxReadKeys) throw tooLarge(`a read of ${count} keys is larger than ${maxReadKeys}`);
  for (const key of records) checkKey(key, 'key of a record');
  for (const key of counters) checkKey(key, 'key of a counter');
}

/**
 * For what a store has found, before it answers.
 *
 * @throws StoreError `tooLarge` if the values of one read are more than an answer carries (LOC-011)
 */
export function checkReadBytes(valueBytes: number): void {
  if (valueBytes > maxReadBytes) throw tooLarge(`a read of ${valueBytes} bytes is larger than ${maxReadBytes}`);
}

/** @throws StoreError `invalidArgument` */
export function checkBatch({ operationId, conditions, mutations }: StoreBatch): void {
  if (typeof operationId !== 'string' || !operationIdPattern.test(operationId))
    refuse('operationId', operationId, '32 lowercase hex digits');
  if (!Array.isArray(conditions)) refuse('conditions', conditions, 'an array');
  if (!Array.isArray(mutations) || mutations.length === 0) refuse('mutations', mutations, 'an array of 1 at least');
  const bytesOf = new Map<string, number>(); // what a key adds to the commit, whether judged, changed or both
  checkConditions(conditions, bytesOf);
  checkMutations(mutations, bytesOf);
  if (bytesOf.size > maxCommitKeys)
    throw invalid(`a commit of ${bytesOf.size} different keys, allowed: ${maxCommitKeys}`);
  let bytes = 0;
  for (const part of bytesOf.values()) bytes += part;
  if (bytes > maxCommitBytes) throw invalid(`a commit of ${bytes} bytes, allowed: ${maxCommitBytes}`);
}

/** @throws StoreError `invalidArgument` */
export function checkScan({ prefix, after, limit, keysOnly }: StoreScan): void {
  if (prefix !== '') checkKey(prefix, 'prefix of a scan');
  if (after !== undefined) checkKey(after, 'after of a scan');
  if (!isCountUpTo(limit, maxScanLimit)) refuse('limit of a scan', limit, `1..${maxScanLimit}`);
  if (keysOnly !== undefined && typeof keysOnly !== 'boolean') refuse('keysOnly', keysOnly, 'true or false');
}

/** @throws StoreError `invalidArgument` */
export function checkRef(ref: string): void {
  if (typeof ref === 'string' && ref.length <= maxRefBytes && refPattern.test(ref)) return;
  throw invalid(`ref of a blob is not 1..${maxRefBytes} ASCII characters`);
}

/** @throws StoreError `invalidArgument` */
export function checkPayload(payload: Uint8Array, maxBlobBytes: number): void {
  if (!(payload instanceof Uint8Array)) refuse('payload of a blob', payload, 'a Uint8Array');
  if (payload.byteLength > maxBlobBytes)
    throw invalid(`payload of a blob has ${payload.byteLength} bytes, allowed: ${maxBlobBytes}`);
}

/** @throws StoreError `invalidArgument` */
export function checkRetention(retentionMs: number): void {
  if (!isCountUpTo(retentionMs, maxTtlMs)) refuse('retentionMs', retentionMs, `1..${maxTtlMs}`);
}

function checkConditions(conditions: readonly StoreCondition[], bytesOf: Map<string, number>): void {
  const seen = new Set<string>();
  for (const condition of conditions) {
    const bytes = checkKey(condition.key, 'key of a condition');
    if (seen.has(condition.key)) throw invalid('a key stands in two conditions of one commit');
    seen.add(condition.key);
    bytesOf.set(recordName(condition.key), bytes + commitKeyOverheadBytes);
    switch (condition.kind) {
      case 'absent':
      case 'present':
        break;
      case 'version':
        checkVersion(condition.version);
        break;
      default:
        refuse('kind of a condition', (condition as { kind?: unknown }).kind, 'absent, present, version');
    }
  }
}

function checkMutations(mutations: readonly StoreMutation[], bytesOf: Map<string, number>): void {
  const seen = new Set<string>();
  for (const mutation of mutations) {
    const isAdd = mutation.kind === 'add';
    const key = isAdd ? mutation.counter : mutation.key;
    const bytes = checkKey(key, isAdd ? 'key of a counter' : 'key of a mutation');
    const name = isAdd ? counterName(key) : recordName(key);
    if (seen.has(name)) throw invalid('a key stands in two mutations of one commit');
    seen.add(name);
    bytesOf.set(name, bytes + checkMutation(mutation) + commitKeyOverheadBytes);
  }
}

/** The bytes of its value. */
function checkMutation(mutation: StoreMutation): number {
  switch (mutation.kind) {
    case 'put':
      if (mutation.ttlMs !== undefined) checkTtl(mutation.ttlMs);
      return checkValue(mutation.value);
    case 'touch':
      checkTtl(mutation.ttlMs);
      return 0;
    case 'delete':
      return 0;
    case 'add':
      checkCount('delta of a counter', mutation.delta);
      if (mutation.min !== undefined) checkCount('min of a counter', mutation.min);
      if (mutation.max !== undefined) checkCount('max of a counter', mutation.max);
      return 0;
    default:
      return refuse('kind of a mutation', (mutation as { kind?: unknown }).kind, 'put, touch, delete, add');
  }
}

/** The bytes of `key` in UTF-8. */
function checkKey(key: unknown, what: string): number {
  if (typeof key !== 'string') return refuse(what, key, 'a string');
  if (key.length > maxKeyBytes || !isWellFormed(key)) throw keyError(what); // before the count: not shorter in bytes
  const bytes = utf8ByteLength(key);
  if (bytes < 1 || bytes > maxKeyBytes) throw keyError(what);
  return bytes;
}

function checkValue(value: unknown): number {
  if (!(value instanceof Uint8Array)) return refuse('value of a record', value, 'a Uint8Array');
  if (value.byteLength > maxValueBytes)
    throw invalid(`value of a record has ${value.byteLength} bytes, allowed: ${maxValueBytes}`);
  return value.byteLength;
}

function checkTtl(ttlMs: unknown): void {
  if (!isCountUpTo(ttlMs, maxTtlMs)) refuse('ttlMs', ttlMs, `1..${maxTtlMs}`);
}

function checkCount(what: string, count: unknown): void {
  if (!Number.isSafeInteger(count)) refuse(what, count, 'an integer up to 2^53-1 either way');
}

function checkVersion(version: unknown): void {
  if (typeof version !== 'bigint' || version < 1n || version > maxVersion) refuse('version', version, '1..2^63-1');
}

/** An integer from 1. */
function isCountUpTo(value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max; // a safe integer is a number
}

/** Records and counters are two key spaces: the same text is two keys. */
const recordName = (key: string): string => `r${key}`;
const counterName = (key: string): string => `c${key}`;

function keyError(what: string): StoreError {
  return invalid(`${what} is not 1..${maxKeyBytes} bytes of UTF-8`);
}

function refuse(what: string, value: unknown, allowed: string): never {
  throw invalid(`${what}: ${describeValue(value)} is not allowed, allowed: ${allowed}`);
}

function invalid(text: string): StoreError {
  return new StoreError('invalidArgument', 'notApplied', text);
}

function tooLarge(text: string): StoreError {
  return new StoreError('tooLarge', 'notApplied', text);
}

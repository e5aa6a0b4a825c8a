/**
 * Application metadata: a small set of texts that travels beside the payload.
 *
 * Owns: what keys and values may be, the immutable snapshot handlers read, the builder calls collect into, and the byte
 * layout below. Leaves to others: where the bytes stand in a record, and when metadata may be set at all.
 *
 * Layout (entries follow each other until the end of the field; no count, no padding)
 *   entry   = keyLength key valueLength value
 *   lengths = unsigned LEB128 in its shortest form, here one or two bytes
 *   key, value = UTF-8 without NUL
 *
 * Invariants
 * M1 The whole field, lengths included, is at most 1,024 bytes (MSG-010).
 * M2 Of one key the last value counts; so a field on the wire never holds a key twice.
 * M3 A snapshot cannot change: nothing reaches the map inside it (MSG-011).
 * M4 Keys live in a Map only; `__proto__` is a key like any other.
 */
import { describeValue, ZLinkError } from '../errors/index.ts';
import { isWellFormed, utf8ByteLength } from '../identity/index.ts';
import { decodeUtf8, newBytes, writeUtf8 } from './text.ts';

/** Largest encoded metadata of one message: keys, values and lengths (MSG-010). */
export const METADATA_BYTES = 1_024;

/**
 * Immutable set of texts by key, in the order in which the keys were set first. Reading never throws.
 *
 * @see MSG-011
 */
export interface Metadata extends Iterable<readonly [string, string]> {
  /** Undefined for a key that was not set. */
  get(key: string): string | undefined;
  has(key: string): boolean;
  /** Number of keys. */
  readonly size: number;
}

class MetadataSnapshot implements Metadata {
  readonly #entries: ReadonlyMap<string, string>;

  /** The map is handed over: its maker keeps no reference (M3). */
  constructor(entries: ReadonlyMap<string, string>) {
    this.#entries = entries;
    Object.freeze(this);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): string | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  [Symbol.iterator](): Iterator<readonly [string, string]> {
    return this.#entries[Symbol.iterator]();
  }
}

/** Shared by every message without metadata. */
export const EMPTY_METADATA: Metadata = new MetadataSnapshot(new Map());

/**
 * Makes metadata that several calls can share.
 *
 * @param entries - keys and values of UTF-8 without NUL; of one key the last value counts; all together take at most
 *   1,024 bytes encoded: every key and value counts its bytes and one for its length, from 128 bytes on two
 * @throws ZLinkError `InvalidOperation` if a key or value is not allowed or the whole exceeds 1,024 bytes
 * @see MSG-010
 */
export function metadata(entries: Record<string, string> | Iterable<readonly [string, string]>): Metadata {
  if (typeof entries !== 'object' || entries === null) {
    throw new ZLinkError('InvalidOperation', `metadata ${describeValue(entries)} is no set of entries`);
  }
  const collected = new Map<string, string>();
  for (const entry of Symbol.iterator in entries ? entries : Object.entries(entries)) {
    if (!Array.isArray(entry)) throw new ZLinkError('InvalidOperation', 'metadata entry is no pair of key and value');
    setChecked(collected, entry[0], entry[1]);
  }
  requireSize(encodedSize(collected));
  return collected.size === 0 ? EMPTY_METADATA : new MetadataSnapshot(collected);
}

/** Collects the metadata of one call; a call without any keeps no map. */
export class MetadataBuilder {
  #entries: Map<string, string> | undefined;

  /** @throws ZLinkError `InvalidOperation` if key or value is no text, holds NUL or has no UTF-8 form */
  set(key: string, value: string): void {
    setChecked((this.#entries ??= new Map<string, string>()), key, value);
  }

  /** Sets every entry of `all`; keys set before and not in it stay. Same errors as `set`. */
  setAll(all: Metadata): void {
    if (typeof all !== 'object' || all === null || !(Symbol.iterator in all)) {
      throw new ZLinkError('InvalidOperation', `metadata ${describeValue(all)} was not made by metadata()`);
    }
    const entries = (this.#entries ??= new Map<string, string>());
    for (const [key, value] of all) setChecked(entries, key, value);
  }

  /**
   * The bytes to send, undefined when nothing was set.
   *
   * @throws ZLinkError `InvalidOperation` if they are more than 1,024 (M1)
   */
  encode(): Uint8Array | undefined {
    return this.#entries === undefined || this.#entries.size === 0 ? undefined : encodeEntries(this.#entries);
  }
}

function setChecked(entries: Map<string, string>, key: unknown, value: unknown): void {
  const keyText = requireText('key', key, key);
  entries.set(keyText, requireText('value', value, key)); // M2
}

function requireText(part: 'key' | 'value', text: unknown, key: unknown): string {
  const subject = part === 'key' ? 'metadata key' : `metadata value of ${describeValue(key)}`;
  if (typeof text !== 'string')
    throw new ZLinkError('InvalidOperation', `${subject} is of type ${typeof text}, not text`);
  if (text.includes('\0')) throw new ZLinkError('InvalidOperation', `${subject} holds NUL`);
  if (!isWellFormed(text)) throw new ZLinkError('InvalidOperation', `${subject} holds a lone surrogate`);
  return text;
}

function requireSize(sizeBytes: number): void {
  if (sizeBytes <= METADATA_BYTES) return;
  throw new ZLinkError('InvalidOperation', `metadata takes ${sizeBytes} bytes, allowed: ${METADATA_BYTES}`);
}

function encodedSize(entries: ReadonlyMap<string, string>): number {
  let size = 0;
  for (const [key, value] of entries) size += textSize(key) + textSize(value);
  return size;
}

function textSize(text: string): number {
  const length = utf8ByteLength(text);
  return (length < 0x80 ? 1 : 2) + length;
}

function encodeEntries(entries: ReadonlyMap<string, string>): Uint8Array {
  const size = encodedSize(entries);
  requireSize(size);
  const bytes = newBytes(size);
  let offset = 0;
  for (const [key, value] of entries) {
    offset = writeText(bytes, key, offset);
    offset = writeText(bytes, value, offset);
  }
  return bytes;
}

function writeText(bytes: Uint8Array, text: string, offset: number): number {
  const length = utf8ByteLength(text);
  let at = offset;
  if (length >= 0x80) bytes[at++] = (length & 0x7f) | 0x80; // M1: no length needs a third byte
  bytes[at++] = length < 0x80 ? length : length >> 7;
  return at + writeUtf8(bytes, text, at);
}

/**
 * Reads a metadata field, which is not empty. Undefined when it is malformed: too large, a length that is not in its
 * shortest form or leads past the end, bytes that are no UTF-8, NUL, or a key that stands twice.
 */
export function decodeMetadata(bytes: Uint8Array): Metadata | undefined {
  if (bytes.length > METADATA_BYTES) return undefined; // M1
  const entries = new Map<string, string>();
  const reader = new EntryReader(bytes);
  while (!reader.atEnd) {
    const key = reader.text();
    if (key === undefined || entries.has(key)) return undefined; // M2
    const value = reader.text();
    if (value === undefined) return undefined;
    entries.set(key, value);
  }
  return new MetadataSnapshot(entries);
}

class EntryReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The next length and text; undefined when malformed. */
  text(): string | undefined {
    const length = this.#length();
    if (length === undefined || length > this.#bytes.length - this.#at) return undefined;
    const start = this.#at;
    this.#at += length;
    const text = decodeUtf8(this.#bytes, start, this.#at);
    return text === undefined || text.includes('\0') ? undefined : text;
  }

  #length(): number | undefined {
    const low = this.#byte();
    if (low === undefined || low < 0x80) return low;
    const high = this.#byte();
    // Zero would be a longer form of a one-byte length. With a third byte the length would lead past the end (M1).
    if (high === undefined || high === 0) return undefined;
    return (low & 0x7f) | (high << 7);
  }

  #byte(): number | undefined {
    return this.#bytes[this.#at++]; // undefined past the end
  }
}

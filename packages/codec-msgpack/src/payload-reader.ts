/**
 * Reads one MessagePack payload.
 *
 * Owns the format and every bound on what is made of it. Leaves the meaning of extensions to extension-table.ts.
 *
 * The library's decoder does not serve here: it makes room for announced counts before it has seen an item, knows no limit of
 * depth, reads invalid UTF-8 as text, refuses a key `__proto__`, and returns views of the bytes it was given.
 *
 *   00-7f  int       80-8f  map, size in low bits     90-9f  array     a0-bf  str        e0-ff  int, negative
 *   c0 nil   c2 false   c3 true     c4 c5 c6  bin 8 16 32         c7 c8 c9  ext 8 16 32      c1  never used
 *   ca cb  float 32 64     cc cd ce cf  uint 8 16 32 64     d0 d1 d2 d3  int 8 16 32 64     d4-d8  ext of 1 2 4 8 16
 *   d9 da db  str 8 16 32     dc dd  array 16 32     de df  map 16 32               all big-endian
 *
 * Invariants
 * R1 A count or size is checked against the bytes that are left, and against the bounds, before anything is made for it.
 * R2 An integer in a 64-bit format is a bigint; all other numbers are exact as they are.
 * R3 Keys become own properties and never reach a prototype; of equal keys the last one wins.
 * R4 Nothing that is returned refers to the source.
 * R5 Whatever the bytes are, the outcome is a value or a `ProtocolError` that shows none of them.
 */
import { ZLinkError } from '@zlink/kernel/errors';
import type { ExtensionTable } from './extension-table.ts';
import { OBJECT_VALUES, type ResolvedMsgpackOptions } from './options.ts';

type Bounds = Pick<ResolvedMsgpackOptions, 'maxDepth' | 'maxValues'>;

/** Up to this size a loop over ASCII beats the decoder's overhead. */
const shortTextBytes = 32;

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class PayloadReader {
  readonly #extensions: ExtensionTable;
  readonly #bounds: Bounds;
  readonly #source: Uint8Array;
  readonly #end: number;
  #position: number;
  #valueCount = 0;
  #sourceView: DataView | undefined;

  /** For the payload in `source[start, end)`. */
  constructor(extensions: ExtensionTable, bounds: Bounds, source: Uint8Array, start: number, end: number) {
    this.#extensions = extensions;
    this.#bounds = bounds;
    this.#source = source;
    this.#position = start;
    this.#end = end;
  }

  /** @throws ZLinkError `ProtocolError` (R5) */
  read(): unknown {
    const value = this.#value(0);
    if (this.#position !== this.#end) throw malformed('bytes are left behind its end');
    return value;
  }

  #value(depth: number): unknown {
    const head = this.#unsigned(1);
    if (head < 0x80) return head;
    if (head < 0x90) return this.#map(head & 0x0f, depth);
    if (head < 0xa0) return this.#array(head & 0x0f, depth);
    if (head < 0xc0) return this.#text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this.#valueOf(head, depth);
  }

  /** One line for each row of the format. */
  #valueOf(head: number, depth: number): unknown {
    switch (head) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#bytes(this.#unsigned(1 << (head - 0xc4)));
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#extension(this.#unsigned(1 << (head - 0xc7)));
      case 0xca:
        return this.#view.getFloat32(this.#take(4));
      case 0xcb:
        return this.#view.getFloat64(this.#take(8));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.#unsigned(1 << (head - 0xcc));
      case 0xcf:
        return this.#view.getBigUint64(this.#take(8)); // R2
      case 0xd0:
        return this.#view.getInt8(this.#take(1));
      case 0xd1:
        return this.#view.getInt16(this.#take(2));
      case 0xd2:
        return this.#view.getInt32(this.#take(4));
      case 0xd3:
        return this.#view.getBigInt64(this.#take(8)); // R2
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#extension(1 << (head - 0xd4));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(this.#unsigned(1 << (head - 0xd9)));
      case 0xdc:
      case 0xdd:
        return this.#array(this.#unsigned(2 << (head - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return this.#map(this.#unsigned(2 << (head - 0xde)), depth);
      default:
        throw malformed('it has a byte that starts nothing');
    }
  }

  #array(count: number, depth: number): unknown[] {
    this.#open(count, count, depth);
    const items: unknown[] = [];
    for (let index = 0; index < count; index++) items.push(this.#value(depth + 1));
    return items;
  }

  #map(count: number, depth: number): Record<string, unknown> {
    this.#open(count, 2 * count, depth);
    const members: Record<string, unknown> = {};
    for (let index = 0; index < count; index++) {
      const key = this.#key(depth);
      const value = this.#value(depth + 1);
      if (key !== '__proto__') members[key] = value;
      else Object.defineProperty(members, key, { value, writable: true, enumerable: true, configurable: true }); // R3
    }
    return members;
  }

  /** Integers occur as keys with other encoders; as keys of an object they are texts. */
  #key(depth: number): string {
    const key = this.#value(depth + 1);
    if (typeof key === 'string') return key;
    if (typeof key === 'bigint' || Number.isInteger(key)) return String(key);
    throw malformed('a key of a map is neither text nor integer');
  }

  #text(sizeBytes: number): string {
    const start = this.#take(sizeBytes);
    const end = this.#position;
    if (sizeBytes > shortTextBytes) return this.#decodeText(start, end);
    let text = '';
    for (let at = start; at < end; at++) {
      const byte = this.#source[at] ?? 0; // `take` has checked that it is there
      if (byte > 0x7f) return this.#decodeText(start, end);
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #decodeText(start: number, end: number): string {
    try {
      return strictDecoder.decode(this.#source.subarray(start, end));
    } catch {
      throw malformed('a text is not UTF-8');
    }
  }

  #extension(sizeBytes: number): unknown {
    const type = this.#view.getInt8(this.#take(1));
    const bytes = this.#bytes(sizeBytes);
    const extension = this.#extensions.forType(type);
    if (extension === undefined) throw malformed(`extension type ${type} is unknown here`);
    try {
      return extension.decode(bytes);
    } catch {
      // No cause: it may quote the bytes (R5).
      throw malformed(`extension type ${type} could not be read`);
    }
  }

  /** R4; not the source's own `slice`, which of a Buffer is a view. */
  #bytes(sizeBytes: number): Uint8Array {
    this.#count(OBJECT_VALUES);
    const start = this.#take(sizeBytes);
    return new Uint8Array(this.#source.subarray(start, this.#position));
  }

  /** R1: each of `count` values and their keys takes a byte or more. */
  #open(count: number, leastBytes: number, depth: number): void {
    const { maxDepth } = this.#bounds;
    if (depth >= maxDepth) throw malformed(`it is nested deeper than ${maxDepth}`);
    if (leastBytes > this.#end - this.#position) throw malformed('it ends early');
    this.#count(count);
  }

  #count(values: number): void {
    const { maxValues } = this.#bounds;
    this.#valueCount += values;
    if (this.#valueCount > maxValues) throw malformed(`it has more than ${maxValues} values`);
  }

  /** An unsigned integer of 1, 2 or 4 bytes. */
  #unsigned(sizeBytes: number): number {
    let value = 0;
    const start = this.#take(sizeBytes);
    for (let at = start; at < this.#position; at++) value = value * 0x100 + (this.#source[at] ?? 0); // it is there
    return value;
  }

  /** Where the next `sizeBytes` begin, which the caller reads. */
  #take(sizeBytes: number): number {
    const start = this.#position;
    if (sizeBytes > this.#end - start) throw malformed('it ends early');
    this.#position = start + sizeBytes;
    return start;
  }

  /** Made for the first value that needs it. */
  get #view(): DataView {
    const { buffer, byteOffset, byteLength } = this.#source;
    return (this.#sourceView ??= new DataView(buffer, byteOffset, byteLength));
  }
}

function malformed(why: string): ZLinkError {
  return new ZLinkError('ProtocolError', `payload cannot be read as MessagePack: ${why}`);
}

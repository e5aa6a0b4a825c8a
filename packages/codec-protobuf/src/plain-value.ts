/**
 * The last step of decoding: what the library leaves in a plain object becomes what an application gets.
 *
 * Owns the form of 64-bit integers and bytes. Leaves defaults of absent fields to the library, which fills them in as
 * Longs and Buffers.
 */
import { util } from 'protobufjs/minimal.js';
import { bigintOf } from './strict-reader.ts';

type Int64Form = 'bigint' | 'string';

/** Changes `value`, which nobody else has, in place. Messages are nested 100 levels at most. */
export function plainValue(value: unknown, int64: Int64Form): unknown {
  if (typeof value === 'bigint') return int64 === 'bigint' ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof util.Long) return plainValue(bigintOf(value), int64);
  if (ArrayBuffer.isView(value)) return bytesOf(value as Uint8Array); // no other view comes out of a decoder
  // Arrays have keys as well; a key `__proto__` is an own property here, and stays one when it is assigned to.
  const members = value as Record<string, unknown>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    const plain = plainValue(member, int64);
    if (plain !== member) members[key] = plain;
  }
  return value;
}

/** The default of a field is a Buffer where there are Buffers, and may lie in memory that others use. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes);
}

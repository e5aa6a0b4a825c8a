/**
 * JSON, the codec every message has without registration (CODEC-001, CODEC-005).
 *
 * Owns: the choice between the native encoder and our own writer, strict decoding, and the errors of both. Leaves to
 * others: telling native values apart (json-native.ts), writing all others (json-writer.ts), the words of a refusal
 * (encode-refusal.ts), types of decoded values (a packet's schema).
 *
 * Invariants
 * J1 The native encoder sees only values whose native form is the faithful one.
 * J2 Decoding is strict: UTF-8 without a byte order mark, nothing besides one JSON text.
 * J3 Keys of a payload become own properties and never reach a prototype.
 * J4 An error shows no part of the payload. The native syntax error quotes it, so it is no cause either.
 * J5 A refusal to encode names the packet that the declared type stands for.
 */
import { isZLinkError, ZLinkError } from '../errors/index.ts';
import { decodeUtf8, encodeUtf8 } from '../message/text.ts';
import type { Codec, PayloadSink } from './codec.ts';
import { encodeRefusal } from './encode-refusal.ts';
import { isNative } from './json-native.ts';
import { JsonRefusal, JsonWriter } from './json-writer.ts';

export const jsonCodec: Codec = Object.freeze({
  contentType: 'application/json',

  matches(): boolean {
    return true;
  },

  encode(value: unknown, declaredType: unknown): Uint8Array {
    return encodeUtf8(toJson(value, declaredType));
  },

  encodeInto(value: unknown, declaredType: unknown, sink: PayloadSink): void {
    sink.writeText(toJson(value, declaredType));
  },

  decode(bytes: Uint8Array): unknown {
    return fromJson(bytes, 0, bytes.byteLength);
  },

  decodeRange(source: Uint8Array, start: number, end: number): unknown {
    return fromJson(source, start, end);
  },
});

/** `undefined`, what a handler without a result returns, is null on the wire. */
function toJson(value: unknown, declaredType: unknown): string {
  if (value === undefined) return 'null';
  try {
    return isNative(value, 0) ? JSON.stringify(value) : new JsonWriter().write(value);
  } catch (error) {
    if (error instanceof JsonRefusal) throw encodeRefusal(error.message, declaredType); // J5
    if (isZLinkError(error)) throw error;
    // A getter, a proxy or a toJSON of the application failed, or the text would be longer than a string can be.
    throw encodeRefusal('value cannot be read as JSON', declaredType, error);
  }
}

function fromJson(bytes: Uint8Array, start: number, end: number): unknown {
  const text = decodeUtf8(bytes, start, end);
  if (text === undefined) throw new ZLinkError('ProtocolError', 'payload is not UTF-8 text');
  try {
    // J2: a byte order mark is no white space to it. J3: it defines properties and never assigns them.
    return JSON.parse(text);
  } catch {
    throw new ZLinkError('ProtocolError', 'payload is not JSON'); // J4
  }
}

/**
 * What messages carry: opaque bytes or the JSON object that all sides share.
 *
 * Owns making, encoding and checking of messages. Every side that has no codec of its own uses this one, so that all pay
 * for the same `JSON.stringify` and `JSON.parse`.
 *
 * 1. A message that arrives with another size than it left with ends the run: a figure that counts wrong messages is none.
 */
export type CargoSpec =
  | { readonly kind: 'bytes'; readonly sizeBytes: number }
  /** An object `{ id, name, body }` whose body has `bodyBytes` ASCII characters. */
  | { readonly kind: 'json'; readonly bodyBytes: number };

export interface Entry {
  readonly id: number;
  readonly name: string;
  readonly body: string;
}

export type Message = Uint8Array | Entry;

export interface Cargo {
  readonly spec: CargoSpec;
  /** Bytes of all messages are one and the same buffer; an object is new each time. */
  make(id: number): Message;
  /** A string stands for its UTF-8 bytes. */
  encode(message: Message): Uint8Array | string;
  decode(source: Uint8Array, start: number, end: number): Message;
  /** @throws if it is not what `make` made (1) */
  check(message: Message): void;
}

export function createCargo(spec: CargoSpec): Cargo {
  return spec.kind === 'bytes' ? bytesCargo(spec, spec.sizeBytes) : jsonCargo(spec, spec.bodyBytes);
}

function bytesCargo(spec: CargoSpec, sizeBytes: number): Cargo {
  const payload = Buffer.from(textOf(sizeBytes));
  return {
    spec,
    make: () => payload,
    encode: (message) => message as Uint8Array, // made by this cargo
    decode: (source, start, end) => source.subarray(start, end),
    check: (message) => {
      if ((message as Uint8Array).byteLength !== sizeBytes) throw new Error('payload arrived with another size');
    },
  };
}

function jsonCargo(spec: CargoSpec, bodyBytes: number): Cargo {
  const body = textOf(bodyBytes);
  return {
    spec,
    make: (id) => ({ id, name: 'Ada Lovelace', body }),
    encode: (message) => JSON.stringify(message),
    // What `JSON.parse` makes of it is checked by `check`.
    decode: (source, start, end) => JSON.parse(textBetween(source, start, end)) as Entry,
    check: (message) => {
      const { id, body: arrived } = message as Entry;
      if (typeof id !== 'number' || arrived.length !== bodyBytes) throw new Error('object arrived with other fields');
    },
  };
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

function textOf(length: number): string {
  return alphabet.repeat(Math.ceil(length / alphabet.length)).slice(0, length);
}

function textBetween(source: Uint8Array, start: number, end: number): string {
  const buffer = Buffer.isBuffer(source)
    ? source
    : Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  return buffer.toString('utf8', start, end);
}

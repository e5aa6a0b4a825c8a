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
  /** Objects `{ id, name, body }`; bodies have as many ASCII characters as the list says, in turn. */
  | { readonly kind: 'json'; readonly bodyBytes: readonly number[] };

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
  /** As `check` of the decoded message, without a view of bytes that nobody needs. */
  inspect(source: Uint8Array, start: number, end: number): void;
}

export function createCargo(spec: CargoSpec): Cargo {
  return spec.kind === 'bytes' ? bytesCargo(spec, spec.sizeBytes) : jsonCargo(spec, spec.bodyBytes);
}

function bytesCargo(spec: CargoSpec, sizeBytes: number): Cargo {
  const payload = Buffer.from(textOf(sizeBytes));
  const checkSize = (arrivedBytes: number): void => {
    if (arrivedBytes !== sizeBytes) throw new Error('payload arrived with another size');
  };
  return {
    spec,
    make: () => payload,
    encode: (message) => message as Uint8Array, // made by this cargo
    decode: (source, start, end) => source.subarray(start, end),
    check: (message) => checkSize((message as Uint8Array).byteLength),
    inspect: (_source, start, end) => checkSize(end - start),
  };
}

function jsonCargo(spec: CargoSpec, bodyBytes: readonly number[]): Cargo {
  const bodies = bodyBytes.map(textOf);
  // What `JSON.parse` makes of it is checked below.
  const decode = (source: Uint8Array, start: number, end: number): Entry =>
    JSON.parse(textBetween(source, start, end)) as Entry;
  const check = (message: Message): void => {
    const { id, body } = message as Entry;
    if (typeof id !== 'number' || !bodyBytes.includes(body.length)) throw new Error('object arrived with other fields');
  };
  return {
    spec,
    make: (id) => ({ id, name: 'Ada Lovelace', body: bodies[id % bodies.length]! }),
    encode: (message) => JSON.stringify(message),
    decode,
    check,
    inspect: (source, start, end) => check(decode(source, start, end)),
  };
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

function textOf(length: number): string {
  return alphabet.repeat(Math.ceil(length / alphabet.length)).slice(0, length);
}

function textBetween(source: Uint8Array, start: number, end: number): string {
  const buffer = Buffer.isBuffer(source) ? source : Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  return buffer.toString('utf8', start, end);
}

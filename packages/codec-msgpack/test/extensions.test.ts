import type { MsgpackExtension } from '../src/index.ts';
import { codecOf, thrownBy } from './the-codec.ts';

class Money {
  readonly cents: bigint;
  constructor(cents: bigint) {
    this.cents = cents;
  }
}

const money: MsgpackExtension<Money> = {
  type: 5,
  matches: (value) => value instanceof Money,
  encode: ({ cents }) => new TextEncoder().encode(String(cents)),
  decode: (bytes) => new Money(BigInt(new TextDecoder().decode(bytes))),
};
/** Keys and values, as a payload of their own. */
const map: MsgpackExtension<Map<unknown, unknown>> = {
  type: 0,
  matches: (value) => value instanceof Map,
  encode: (value) => codec.encode([...value], undefined),
  decode: (bytes) => new Map(codec.decode(bytes, undefined) as [unknown, unknown][]),
};
const codec = codecOf({ extensions: [money, map] });
const overTheWire = (value: unknown): unknown => codec.decode(codec.encode(value, undefined), undefined);

test('[CODEC-006] an extension carries a class of the application, at any place', () => {
  const value = { price: new Money(5n), all: [new Money(-7n)], rest: 1 };
  expect(overTheWire(value)).toStrictEqual(value);
  expect(overTheWire(new Money(12n))).toStrictEqual(new Money(12n));
  expect(Buffer.from(codec.encode(new Money(5n), undefined)).toString('hex')).toBe('d40535');
  expect(overTheWire(new Date(7))).toStrictEqual(new Date(7));
});

test('[CODEC-006] an extension may use the codec that it belongs to', () => {
  const value = new Map<unknown, unknown>([
    ['a', new Map([[1, new Money(3n)]])],
    [2, { b: [new Map()] }],
  ]);
  expect(overTheWire({ value })).toStrictEqual({ value });
});

test('[CODEC-006] of several extensions the first one encodes; one may take over dates', () => {
  const late: MsgpackExtension<Date> = {
    type: 9,
    matches: (value) => value instanceof Date,
    encode: (date) => Uint8Array.of(date.getTime()),
    decode: ([ms = 0]) => `date ${ms}`,
  };
  const first = codecOf({ extensions: [late, { ...late, type: 10 }] });
  expect(Buffer.from(first.encode(new Date(7), undefined)).toString('hex')).toBe('d40907');
  expect(first.decode(first.encode([new Date(7)], undefined), undefined)).toEqual(['date 7']);
});

test('[CODEC-006] extensions are not asked about arrays, plain objects and primitives', () => {
  const asked: unknown[] = [];
  const curious: MsgpackExtension = {
    type: 1,
    matches: (value) => (asked.push(value), false),
    encode: () => new Uint8Array(),
    decode: () => undefined,
  };
  const value = { a: [1, 'b', null, { c: true }], d: Object.create(null) as object };
  codecOf({ extensions: [curious] }).encode(value, undefined);
  expect(asked).toEqual([]);
});

test('[CODEC-006] the bytes that an extension gets are its own', () => {
  const kept: Uint8Array[] = [];
  const keeping: MsgpackExtension = {
    type: 1,
    matches: () => false,
    encode: () => new Uint8Array(),
    decode: (bytes) => kept.push(bytes),
  };
  const payload = Buffer.from('d5010203', 'hex');
  codecOf({ extensions: [keeping] }).decode(payload, undefined);
  payload.fill(0xff);
  expect(kept).toStrictEqual([Uint8Array.of(2, 3)]);
});

test('[CODEC-006] an extension that fails is an error of the codec', () => {
  const failing: MsgpackExtension<Money> = {
    ...money,
    encode: () => 'text' as unknown as Uint8Array,
    decode: () => {
      throw new Error('secret');
    },
  };
  const codecWith = codecOf({ extensions: [failing] });
  const refusal = thrownBy(() => codecWith.encode([new Money(1n)], undefined));
  expect(refusal.kind).toBe('InvalidOperation');
  expect(String(refusal.cause)).toBe('TypeError: extension type 5 gave "text" instead of bytes');
  const error = thrownBy(() => codecWith.decode(Buffer.from('d40531', 'hex'), undefined));
  expect(error.message).toBe(
    '[ProtocolError] payload cannot be read as MessagePack: extension type 5 could not be read',
  );
  expect(error.cause).toBeUndefined();
});

import { runInNewContext } from 'node:vm';
import { emptyOrder } from './order-values.ts';
import {
  codecOf,
  decode,
  encode,
  hexOf,
  PlaceOrder,
  refusalOf,
  root,
  rootOf,
  shopTypes,
  thrownBy,
} from './the-codec.ts';

const overTheWire = (value: unknown): Record<string, unknown> => decode(encode(value));

describe('64-bit integers', () => {
  const inputs = [
    9_007_199_254_740_993n,
    -9_007_199_254_740_993n,
    9_223_372_036_854_775_807n,
    -9_223_372_036_854_775_808n,
    6_221_929_103_415_579_899n,
    0n,
  ];

  test.each(inputs)('[CODEC-006] [C23] %d comes back as a bigint, or as its decimal text', (id) => {
    const value = { ...emptyOrder, cents: id, change: id, offset: id, ids: [id, id], totals: { 7: id } };
    expect(overTheWire(value)).toStrictEqual(value);
    const codec = codecOf({ ...shopTypes, int64: 'string' });
    const text = String(id);
    const texts = codec.decode(codec.encode(value, PlaceOrder), PlaceOrder);
    expect(texts).toMatchObject({ cents: text, change: text, ids: [text, text], totals: { 7: text }, serial: '0' });
    expect(codec.decode(codec.encode(texts, PlaceOrder), PlaceOrder)).toStrictEqual(texts);
  });

  test('[CODEC-006] [C23] unsigned ones reach 2^64-1', () => {
    const most = 18_446_744_073_709_551_615n;
    const value = { serial: most, mark: most, marks: [most, 0n], first: { sku: '', count: most } };
    expect(overTheWire(value)).toMatchObject(value);
  });

  test('[CODEC-006] [C23] those beyond their range are refused by the number of their field', () => {
    const fits = (field: string, what: string, scalar: string): string =>
      `field ${field}: this ${what} does not fit ${scalar}`;
    expect(refusalOf({ cents: 2n ** 63n })).toBe(fits('2', 'bigint', 'int64'));
    expect(refusalOf({ serial: -1n })).toBe(fits('3', 'bigint', 'uint64'));
    expect(refusalOf({ first: { count: 2n ** 64n } })).toBe(fits('17.2', 'bigint', 'uint64'));
    expect(refusalOf({ ids: [1n, -(2n ** 63n) - 1n] })).toBe(fits('19', 'bigint', 'int64'));
    expect(refusalOf({ totals: { 1: 2n ** 64n } })).toBe(fits('25.2', 'bigint', 'int64'));
    expect(refusalOf({ notes: { 9223372036854775808: 'x' } })).toBe(fits('23.1', 'string', 'int64'));
    expect(refusalOf({ cents: '99999999999999999999' })).toBe(fits('2', 'string', 'int64'));
    expect(refusalOf({ cents: 2 ** 53 })).toBe(fits('2', 'number', 'int64'));
  });

  test('[CODEC-006] safe integers, decimal texts and Longs are taken, too', () => {
    const long = { low: -1, high: 0x7fff_ffff, unsigned: false };
    expect(overTheWire({ cents: 5, change: '-7', ids: [1, '2', 3n], offset: long })).toMatchObject({
      cents: 5n,
      change: -7n,
      ids: [1n, 2n, 3n],
      offset: 2n ** 63n - 1n,
    });
    expect(overTheWire({ serial: { low: -1, high: -1, unsigned: true } })['serial']).toBe(2n ** 64n - 1n);
  });

  test('[CODEC-006] a key of a map is decimal digits, also where its bytes look like digits', () => {
    const notes = {
      '3544668469065756977': 'is 11111111 in bytes',
      '-1': 'b',
      '9223372036854775807': 'c',
      '12345678': 'd',
    };
    expect(overTheWire({ notes })['notes']).toEqual(notes);
  });
});

test.each(['small', 'delta', 'shift'])('[CODEC-006] [C23] a number that does not fit %s is refused', (field) => {
  for (const number of [2 ** 31, -(2 ** 31) - 1]) expect(refusalOf({ [field]: number })).toContain('does not fit');
  expect(refusalOf({ [field]: 0.5 })).toBe(`${field}: integer expected`);
});

test('[CODEC-006] [C23] what does not fit a field is refused', () => {
  expect(refusalOf({ large: -1 })).toBe('field 8: this number does not fit uint32');
  expect(refusalOf({ stamp: 2 ** 32 })).toBe('field 10: this number does not fit fixed32');
  expect(refusalOf({ ratio: 1e300 })).toBe('field 13: this number does not fit float');
  expect(refusalOf({ ratios: [1, -1e39] })).toBe('field 31: this number does not fit float');
  expect(refusalOf({ color: 2 ** 31 })).toBe('color: enum value expected');
  expect(refusalOf({ color: 'RED' })).toBe('color: enum value expected');
  expect(refusalOf({ paid: 1 })).toBe('paid: boolean expected');
  expect(refusalOf({ id: 5 })).toBe('id: string expected');
  expect(refusalOf({ words: ['ok', 'half \ud800'] })).toBe('field 21: this string does not fit string');
  expect(refusalOf({ tags: { '\udc00': 1 } })).toBe('field 22.1: this string does not fit string');
  expect(refusalOf({ proof: 'AQI=' })).toBe('field 15: this string does not fit bytes');
  expect(refusalOf({ proof: [1, 2] })).toBe('field 15: this object does not fit bytes');
  expect(refusalOf({ exact: 5n })).toBe('exact: number expected');
  expect(refusalOf({ small: 5n })).toBe('small: integer expected');
  expect(refusalOf({ first: 5n })).toBe('first.object expected');
  expect(refusalOf({ cents: true })).toBe('cents: integer|Long expected');
});

test('[CODEC-006] what would get lost is refused by the way to it', () => {
  expect(refusalOf({ tags: new Map([['secret', 1]]) })).toBe('tags: Map has no form in a message');
  expect(refusalOf({ lines: [{ sku: 'a' }, new Date(0)] })).toBe('lines.1: Date has no form in a message');
  expect(refusalOf({ ids: new Set([1n]) })).toBe('ids: Set has no form in a message');
  expect(refusalOf({ proof: new Float64Array(1) })).toBe('proof: Float64Array has no form in a message');
  expect(refusalOf(new Map())).toBe('value: Map has no form in a message');
  expect(refusalOf({ lines: { length: 1 } })).toBe('lines: array expected');
  expect(refusalOf({ lines: ['text'] })).toBe('lines.object expected');
  expect(refusalOf('text')).toBe('object expected');
  expect(refusalOf(undefined)).toBe('object expected');
  expect(refusalOf({ tags: 'text' })).toBe('tags: object expected');
  expect(refusalOf({ totals: { 'no number': 1n } })).toBe('totals: integer key{k:uint32} expected');
});

test('[CODEC-006] a value inside itself is refused, with the end of a long way', () => {
  const ring: Record<string, unknown> = {};
  ring['next'] = ring;
  expect(refusalOf(ring)).toMatch(/^….{1,200}: nested deeper than 512, or inside itself$/);
});

test('[CODEC-006] of a oneof one member is sent, two are refused', () => {
  expect(overTheWire({ voucher: 0 })).toStrictEqual({ ...emptyOrder, voucher: 0 });
  expect(overTheWire({ card: '', voucher: undefined })).toStrictEqual({ ...emptyOrder, card: '' });
  expect(refusalOf({ card: 'a', voucher: 1 })).toBe('how: multiple values');
  expect(decode(Buffer.from('d2010161d80107', 'hex'))).toStrictEqual({
    ...emptyOrder,
    voucher: 7,
  }); // the last
});

test('[CODEC-006] absent fields have their defaults; undefined and null are absent', () => {
  expect(overTheWire({})).toStrictEqual(emptyOrder);
  expect(overTheWire({ id: undefined, cents: null, lines: null, tip: undefined, first: null })).toStrictEqual(
    emptyOrder,
  );
  expect(overTheWire({ tip: 0 })).toStrictEqual({ ...emptyOrder, tip: 0 }); // optional: presence is kept
  expect(hexOf({ id: '', small: 0, paid: false, exact: 0, proof: new Uint8Array() })).toBe('');
});

test('[CODEC-006] an entry of a map without its value has the default', () => {
  expect(decode(Buffer.from('ca01020807ba0100', 'hex'))).toMatchObject({ totals: { 7: 0n }, notes: { 0: '' } });
});

test('[CODEC-006] fields that the type does not have are ignored, on either side', () => {
  expect(overTheWire({ id: 'a', other: 5 })).toStrictEqual({ ...emptyOrder, id: 'a' });
  const unknown = Buffer.from('0a0161c03e05c13e0000000000000000c23e0161c33e083cc43ec53e00000000', 'hex');
  expect(decode(unknown)).toStrictEqual({ ...emptyOrder, id: 'a' });
});

test('[CODEC-006] bytes of every class come back as a Uint8Array', () => {
  const bytes = Uint8Array.of(0, 255, 7);
  for (const proof of [bytes, Buffer.from(bytes), runInNewContext('Uint8Array.of(0, 255, 7)') as Uint8Array]) {
    expect(overTheWire({ proof, proofs: [proof] })).toMatchObject({ proof: bytes, proofs: [bytes] });
    expect(overTheWire({ proof })['proof']?.constructor).toBe(Uint8Array);
  }
  expect(overTheWire({})['proof']?.constructor).toBe(Uint8Array);
});

test('[CODEC-006] an open enum keeps values that it does not name', () => {
  expect(overTheWire({ color: 77, colors: [-1, 5] })).toMatchObject({ color: 77, colors: [-1, 5] });
});

test('[CODEC-006] a message of the library is encoded as its fields', () => {
  const type = root.lookupType('shop.Order');
  const message = type.create({ id: 'a', cents: 5n, lines: [{ sku: 'b' }] });
  expect(overTheWire(message)).toMatchObject({ id: 'a', cents: 5n, lines: [{ sku: 'b', count: 0n }] });
  const decoded = type.decode(encode({ id: 'a', cents: -5n }));
  expect(overTheWire(decoded)).toMatchObject({ id: 'a', cents: -5n });
});

test('[CODEC-006] what an application throws is an InvalidOperation with its cause', () => {
  const cause = new Error('from the getter');
  const value = {
    get id(): never {
      throw cause;
    },
  };
  const error = thrownBy(() => encode(value));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.cause).toBe(cause);
});

test('[CODEC-006] the number of values is bounded', () => {
  const codec = codecOf({ ...shopTypes, maxValues: 100 });
  const decodes = (value: unknown): void => void codec.decode(encode(value), PlaceOrder);
  const many = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
  const limits: [string, (count: number) => unknown, number][] = [
    ['fields of messages', (count) => ({ lines: many(count).map(() => ({ count: 1n })) }), 14], // 5, and 2 for the field
    ['texts', (count) => ({ words: many(count).map(String) }), 20],
    ['64-bit integers', (count) => ({ ids: many(count) }), 95],
    ['fixed 64-bit integers', (count) => ({ marks: many(count) }), 95],
    ['booleans', (count) => ({ flags: many(count).map(() => true) }), 95],
    ['floats', (count) => ({ ratios: many(count) }), 95],
    ['doubles', (count) => ({ samples: many(count) }), 95],
    ['enum values', (count) => ({ colors: many(count).map((at) => at - 50) }), 47],
  ];
  for (const [what, value, most] of limits) {
    decodes(value(most));
    const error = thrownBy(() => decodes(value(Math.max(most + 1, 96))));
    expect([what, error.message]).toEqual([what, expect.stringContaining('it holds more than 100 values')]);
  }
});

describe('proto2', () => {
  const old = rootOf(`syntax = "proto2";
    package old;
    enum Size { SMALL = 1; LARGE = 2; }
    message Box {
      required int32 id = 1;
      optional string label = 2;
      optional Size size = 3 [default = LARGE];
      repeated Size sizes = 4 [packed = true];
      optional int64 limit = 5 [default = -5];
      optional bytes mark = 6 [default = "ab"];
      optional group Inner = 7 { optional string text = 1; }
    }`);
  class Box {}
  const codec = codecOf({ root: old, types: [[Box, 'old.Box']] });
  const boxOver = (value: unknown): unknown => codec.decode(codec.encode(value, Box), Box);
  const decodeHex = (hex: string): unknown => codec.decode(Buffer.from(hex, 'hex'), Box);
  const defaults = {
    label: '',
    size: 2,
    sizes: [],
    limit: -5n,
    mark: Uint8Array.of(0x61, 0x62),
    inner: null,
  };

  test('[CODEC-006] values, defaults and groups come back', () => {
    expect(boxOver({ id: 1 })).toStrictEqual({ ...defaults, id: 1 });
    const value = {
      id: 1,
      label: 'é',
      size: 1,
      sizes: [2, 1],
      limit: 5n,
      mark: Uint8Array.of(9),
      inner: { text: 'deep' },
    };
    expect(boxOver(value)).toStrictEqual(value);
  });

  test('[CODEC-006] a required field is required on both sides', () => {
    expect(thrownBy(() => codec.encode({ label: 'a' }, Box)).message).toContain('id: integer expected');
    expect(thrownBy(() => decodeHex('120161')).message).toContain("cannot be read as old.Box: missing required 'id'");
  });

  test('[CODEC-006] [C22] texts are strict here, too', () => {
    expect(thrownBy(() => decodeHex('08011202c328')).kind).toBe('ProtocolError');
    expect(decodeHex('08011203efbfbd')).toMatchObject({ label: '\ufffd' });
  });

  test('[CODEC-006] a closed enum has no values but its own', () => {
    expect(thrownBy(() => codec.encode({ id: 1, size: 3 }, Box)).message).toContain('size: enum value expected');
    expect(decodeHex('080118032203010302')).toMatchObject({ size: 2, sizes: [1, 2] });
  });
});

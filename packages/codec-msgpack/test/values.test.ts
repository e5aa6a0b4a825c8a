import { runInNewContext } from 'node:vm';
import { request } from '@zlink/kernel/message';
import { codecOf, decodeHex, encode, hexOf, overTheWire, thrownBy } from './the-codec.ts';

const refusalOf = (value: unknown, declaredType?: unknown): string =>
  thrownBy(() => encode(value, declaredType)).message;

test.each([
  9_007_199_254_740_993n,
  -9_007_199_254_740_993n,
  9_223_372_036_854_775_807n,
  -9_223_372_036_854_775_808n,
  18_446_744_073_709_551_615n,
  6_221_929_103_415_579_899n,
  0n,
])('[CODEC-006] [C23] the integer %d comes back as the bigint it was', (id) => {
  expect(overTheWire({ id, all: [id] })).toEqual({ id, all: [id] });
});

test.each([0, -0, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 2 ** 32, -(2 ** 31) - 1, 5e-324])(
  '[CODEC-006] [C23] the number %d comes back as the number it was',
  (value) => {
    expect(overTheWire(value)).toBe(value);
    expect(overTheWire({ value, others: [1, -1, 300] })).toEqual({ value, others: [1, -1, 300] });
  },
);

test.each([2n ** 64n, -(2n ** 63n) - 1n, 10n ** 400n])('[CODEC-006] [C23] %d is refused, never wrapped', (value) => {
  const error = thrownBy(() => encode({ ids: [1n, value] }));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.message).toContain('ids[1] cannot be encoded as MessagePack: bigint beyond 64 bits');
});

test('[CODEC-006] bigints are 64-bit integers, numbers the shortest exact form', () => {
  expect(hexOf(5n)).toBe('cf0000000000000005');
  expect(hexOf(-5n)).toBe('d3fffffffffffffffb');
  expect(hexOf([5, -5, 200, 70_000, 1.5])).toBe('9505fbccc8ce00011170cb3ff8000000000000');
  expect(hexOf(2 ** 40)).toBe('cb4270000000000000');
  expect(hexOf([-0, 5])).toBe('92cb8000000000000000cb4014000000000000');
});

test('[CODEC-006] bytes of every class come back as a Uint8Array', () => {
  const bytes = Uint8Array.of(0, 255, 7);
  for (const sent of [bytes, Buffer.from(bytes), runInNewContext('Uint8Array.of(0, 255, 7)') as Uint8Array]) {
    expect(overTheWire([sent])).toStrictEqual([bytes]);
  }
  expect(overTheWire(new Uint8Array(70_000))).toStrictEqual(new Uint8Array(70_000));
});

test('[CODEC-006] dates keep their milliseconds; those of another realm are dates, too', () => {
  for (const ms of [0, 1, -1, -1_001, 1_700_000_000_123, 2 ** 34 * 1_000 + 5, -8.64e15, 8.64e15]) {
    expect(overTheWire({ at: new Date(ms) })).toStrictEqual({ at: new Date(ms) });
  }
  expect(overTheWire(runInNewContext('new Date(7)'))).toStrictEqual(new Date(7));
  expect(refusalOf({ at: new Date(NaN) })).toContain('at cannot be encoded as MessagePack: Date; it is invalid');
});

test('[CODEC-006] a timestamp finer than a millisecond is cut, one that is no date is refused', () => {
  expect(decodeHex('d7ff 005b8d8000000001')).toStrictEqual(new Date(1_001)); // 1,500,000 ns
  expect(decodeHex('c70cff 3b9ac9ff fffffffffffffffe')).toStrictEqual(new Date(-1_001));
  for (const hex of [
    'd7ff ee6b280000000000', // 1,000,000,000 ns
    'c70cff 3b9aca00 0000000000000000',
    'c70cff 00000000 7fffffffffffffff',
    'c70cff 00000000 8000000000000000',
    'c70cff 00000001 000007dba8218001',
    'd5ff 0000',
    'd4ff 00',
    'c700ff',
  ]) {
    expect([hex, thrownBy(() => decodeHex(hex)).kind]).toEqual([hex, 'ProtocolError']);
  }
});

test('[CODEC-006] undefined is left out of objects and null elsewhere', () => {
  expect(overTheWire({ a: undefined, b: [undefined, 1], c: null })).toStrictEqual({ b: [null, 1], c: null });
  const withHole = Object.assign(new Array<number>(3), { 0: 1, 2: 3 });
  expect(overTheWire(withHole)).toStrictEqual([1, null, 3]);
  expect(overTheWire(undefined)).toBeNull();
});

test('[CODEC-006] an instance is its own properties', () => {
  class Order {
    readonly id = 7n;
    readonly #note = 'private';
    get note(): string {
      return this.#note;
    }
  }
  expect(overTheWire(new Order())).toStrictEqual({ id: 7n });
  expect(overTheWire(Object.assign(Object.create(null) as object, { a: 1 }))).toStrictEqual({ a: 1 });
  expect(overTheWire(runInNewContext('({ a: [1] })'))).toStrictEqual({ a: [1] });
  expect(overTheWire({ toJSON: 'a name like any other' })).toStrictEqual({ toJSON: 'a name like any other' });
});

test('[CODEC-006] [ERR-002] a refusal names the packet, the way to the value, and what to send instead', () => {
  const Charge = request<unknown, unknown>('billing.charge');
  const text = (rest: string): string => `[InvalidOperation] packet "billing.charge": ${rest}`;
  const ring: { self?: unknown } = {};
  ring.self = ring;
  expect(refusalOf({ tags: new Map() }, Charge)).toBe(
    text('tags cannot be encoded as MessagePack: Map; send Object.fromEntries(map) or [...map], or add an extension'),
  );
  expect(refusalOf([{ 'two words': [0, new Set()] }], Charge)).toBe(
    text('[0]["two words"][1] cannot be encoded as MessagePack: Set; send [...set], or add an extension'),
  );
  expect(refusalOf(ring, Charge)).toContain(': nested deeper than 512, or inside itself; send it flatter');
  expect(refusalOf(() => 1, Charge)).toBe(text('value cannot be encoded as MessagePack: function; leave it out'));
  class Parcel {
    later = Promise.resolve();
  }
  expect(refusalOf(new Parcel(), Parcel)).toContain('packet "Parcel": later cannot');
  expect(refusalOf(new Map())).toContain('[InvalidOperation] value cannot be encoded as MessagePack: Map'); // a reply
  expect(refusalOf(new Map(), () => 1)).toContain('[InvalidOperation] function: value cannot');
  expect(refusalOf({ ['k'.repeat(100_000)]: new Map() }).length).toBeLessThan(400);
});

test.each([
  ['a RegExp', /secret/],
  ['a Promise', Promise.resolve('secret')],
  ['an Error', new Error('secret')],
  ['a WeakMap', new WeakMap()],
  ['a boxed number', Object(5) as unknown],
  ['an ArrayBuffer', new ArrayBuffer(1)],
  ['a Float64Array', new Float64Array(1)],
  ['a DataView', new DataView(new ArrayBuffer(1))],
  ['a Map of another realm', runInNewContext('new Map([["secret", 1]])') as unknown],
  ['a symbol', Symbol('secret')],
  ['half of a surrogate pair', 'secret\ud83d'],
])('[CODEC-006] %s has no form and is refused', (_what, value) => {
  for (const whole of [value, [value], { a: { b: value } }]) {
    const error = thrownBy(() => encode(whole));
    expect(error.kind).toBe('InvalidOperation');
    expect(error.message).not.toContain('secret');
  }
});

test('[CODEC-006] half of a surrogate pair is refused as a key, too', () => {
  expect(refusalOf({ a: { '\ud800': 1 } })).toContain('a["\\ud800"] cannot be encoded as MessagePack: text with half');
});

test('[CODEC-006] what an application throws is an InvalidOperation with its cause', () => {
  const cause = new Error('from the getter');
  const value = {
    get broken(): never {
      throw cause;
    },
  };
  const error = thrownBy(() => encode(value));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.cause).toBe(cause);
});

test('[CODEC-006] the number of values is bounded, both ways', () => {
  const codec = codecOf({ maxValues: 10 });
  const values = (count: number): unknown => ({ a: [1, 2], b: Array.from({ length: count - 4 }, () => 0) });
  const objects = (count: number): unknown => [...Array.from({ length: count }, () => new Date(0)), new Uint8Array()];
  expect(codec.decode(codec.encode(values(10), undefined), undefined)).toEqual(values(10));
  expect(thrownBy(() => codec.encode(values(11), undefined)).message).toContain('b cannot be encoded');
  const error = thrownBy(() => codec.decode(encode(values(11)), undefined));
  expect(error.message).toBe('[ProtocolError] payload cannot be read as MessagePack: it has more than 10 values');
  const counting = codecOf({ maxValues: 15 }); // three items, and four for each of them
  expect(counting.decode(counting.encode(objects(2), undefined), undefined)).toEqual(objects(2));
  expect(thrownBy(() => counting.encode(objects(3), undefined)).message).toContain('[2] cannot be encoded');
  expect(thrownBy(() => counting.decode(encode(objects(3)), undefined)).kind).toBe('ProtocolError');
});

test('[CODEC-006] 1,000 levels can be allowed, whatever else is on the stack', () => {
  const codec = codecOf({ maxDepth: 1_000 });
  let value: unknown = { end: 'reached' };
  for (let level = 1; level < 1_000; level++) value = level % 2 === 0 ? [value] : { value };
  expect(codec.encode(codec.decode(codec.encode(value, undefined), undefined), undefined)).toEqual(
    codec.encode(value, undefined),
  );
  expect(thrownBy(() => codec.encode([value], undefined)).message).toContain('nested deeper than 1000');
  const deeper = Uint8Array.from([0x91, ...codec.encode(value, undefined)]);
  expect(thrownBy(() => codec.decode(deeper, undefined)).kind).toBe('ProtocolError');
});

import fc from 'fast-check';
import { METADATA_BYTES } from '../../src/internal/wire/limits.ts';
import { decodeMetadata, EMPTY_METADATA, metadata, MetadataBuilder } from '../../src/message/index.ts';
import type { Metadata } from '../../src/message/index.ts';
import { thrownBy } from '../thrown.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0'));
const entryLists = fc.array(fc.tuple(text, text), { maxLength: 10 });

const lengthOf = (value: string): number => Buffer.byteLength(value) + (Buffer.byteLength(value) < 128 ? 1 : 2);
const sizeOf = (entries: Iterable<readonly [string, string]>): number => {
  let size = 0;
  for (const [key, value] of entries) size += lengthOf(key) + lengthOf(value);
  return size;
};

function encode(...entries: readonly (readonly [string, string])[]): Uint8Array | undefined {
  const builder = new MetadataBuilder();
  for (const [key, value] of entries) builder.set(key, value);
  return builder.encode();
}

function decodeHex(hex: string): Metadata | undefined {
  return decodeMetadata(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
}

test('[MSG-010] the bytes are length and text, key before value', () => {
  expect(Buffer.from(encode(['id', 'é'], ['n', '']) ?? []).toString('hex')).toBe('026964' + '02c3a9' + '016e' + '00');
  expect(decodeHex('026964 02c3a9 016e 00')).toEqual(metadata({ id: 'é', n: '' }));
});

test('[MSG-010] a text of 128 bytes or more has a length of two bytes', () => {
  const value = 'v'.repeat(300);
  const bytes = Buffer.from(encode(['k', value]) ?? []);
  expect(bytes.subarray(0, 4).toString('hex')).toBe('016b' + 'ac02');
  expect(decodeMetadata(bytes)?.get('k')).toBe(value);
});

test('[MSG-010] what was set comes back, the last value of a key, set singly or as a whole', () => {
  fc.assert(
    fc.property(entryLists, entryLists, entryLists, (before, whole, after) => {
      const expected = new Map([...before, ...whole, ...after]);
      fc.pre(sizeOf(expected) <= 1_024);
      const builder = new MetadataBuilder();
      for (const [key, value] of before) builder.set(key, value);
      builder.setAll(metadata(whole));
      for (const [key, value] of after) builder.set(key, value);
      const bytes = builder.encode();
      const read = bytes === undefined ? EMPTY_METADATA : decodeMetadata(bytes);
      expect(bytes?.byteLength ?? 0).toBe(sizeOf(expected));
      expect(new Map(read)).toEqual(expected);
      expect(read?.size).toBe(expected.size);
    }),
  );
});

test('[MSG-010] 1,024 bytes with all structure are allowed, 1,025 are not', () => {
  expect(METADATA_BYTES).toBe(1_024);
  const key = 'k'.repeat(100);
  const fits = 'v'.repeat(1_024 - 101 - 2);
  expect(encode([key, fits])?.byteLength).toBe(1_024);
  expect(decodeMetadata(encode([key, fits]) ?? new Uint8Array())?.get(key)).toBe(fits);
  const error = thrownBy(() => encode([key, `${fits}v`]));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.message).toContain('1025');
  expect(thrownBy(() => metadata([[key, `${fits}v`]])).kind).toBe('InvalidOperation');
  expect(metadata([[key, fits]]).size).toBe(1);
});

test('[MSG-010] many small entries are bounded with their lengths', () => {
  const entries = Array.from({ length: 256 }, (_, index) => [String.fromCodePoint(0x100 + index), ''] as const);
  expect(encode(...entries)?.byteLength).toBe(1_024);
  expect(thrownBy(() => encode(...entries, ['', ''])).kind).toBe('InvalidOperation');
});

test('[MSG-010] a value that was replaced does not count', () => {
  expect(encode(['k', 'v'.repeat(2_000)], ['k', 'short'])?.byteLength).toBe(8);
});

test.each([
  ['NUL', 'a\0b'],
  ['a lone surrogate', 'a\uDC00'],
  ['a number', 7],
  ['a bigint', 7n],
  ['undefined', undefined],
  ['a symbol', Symbol('s')],
])('[MSG-010] [C22] [C23] %s is refused as key and as value', (_case, wrong) => {
  const builder = new MetadataBuilder();
  expect(thrownBy(() => builder.set(wrong as string, 'v')).kind).toBe('InvalidOperation');
  const error = thrownBy(() => builder.set('tenant-id', wrong as string));
  expect(error.kind).toBe('InvalidOperation');
  expect(error.message).toContain('tenant-id');
  expect(thrownBy(() => metadata({ 'tenant-id': wrong as string })).kind).toBe('InvalidOperation');
  expect(builder.encode()).toBeUndefined();
});

test('[MSG-010] what is no set of entries is refused', () => {
  for (const wrong of [undefined, null, 'ab', 7, [1], ['ab']]) {
    expect(thrownBy(() => metadata(wrong as unknown as Record<string, string>)).kind).toBe('InvalidOperation');
  }
  for (const wrong of [undefined, null, { a: 'b' }]) {
    expect(thrownBy(() => new MetadataBuilder().setAll(wrong as unknown as Metadata)).kind).toBe('InvalidOperation');
  }
});

test('[MSG-010] metadata of the application is checked again when it is set as a whole', () => {
  const forged = new Map([['k', 'a\0b']]);
  expect(thrownBy(() => new MetadataBuilder().setAll(forged)).kind).toBe('InvalidOperation');
});

test('[MSG-010] nothing set is no field at all', () => {
  const builder = new MetadataBuilder();
  expect(builder.encode()).toBeUndefined();
  builder.setAll(EMPTY_METADATA);
  expect(builder.encode()).toBeUndefined();
  expect(metadata({})).toBe(EMPTY_METADATA);
});

test('[MSG-011] a snapshot is frozen, without a way to its entries', () => {
  const source = new Map([['locale', 'ko-KR']]);
  const snapshot = metadata(source);
  source.set('locale', 'changed');
  expect(Object.isFrozen(snapshot)).toBe(true);
  expect(Reflect.ownKeys(snapshot)).toEqual([]);
  for (const pair of snapshot) (pair as [string, string])[1] = 'changed';
  expect('set' in snapshot).toBe(false);
  expect('set' in snapshot[Symbol.iterator]()).toBe(false);
  expect(snapshot.get('locale')).toBe('ko-KR');
  expect(snapshot.get('other')).toBeUndefined();
  expect([snapshot.has('locale'), snapshot.has('other'), snapshot.size]).toEqual([true, false, 1]);
  expect([...snapshot]).toEqual([['locale', 'ko-KR']]);
});

test('[MSG-011] a snapshot outlives the bytes it came from', () => {
  const bytes = Buffer.from('01610162', 'hex');
  const snapshot = decodeMetadata(bytes);
  bytes.fill(0);
  expect(snapshot?.get('a')).toBe('b');
});

test.each([
  ['a key without value', '0161'],
  ['a key cut short', '0261'],
  ['a value cut short', '016102 62'],
  ['a length cut short', '016180'],
  ['a length past the end', '0161 7f62'],
  ['a length in a longer form than needed', '0161 8100 62'],
  ['a length of three bytes', '0161 818001 62'],
  ['a key that stands twice', '01610162 01610163'],
  ['NUL in a key', '0100 0162'],
  ['NUL in a value', '0161 0100'],
])('[MSG-011] %s is malformed', (_case, hex) => {
  expect(decodeHex(hex)).toBeUndefined();
});

test.each(['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff', 'e282'])(
  '[MSG-011] [C22] bytes %s are malformed as key and as value',
  (hex) => {
    const length = (hex.length / 2).toString(16).padStart(2, '0');
    expect(decodeHex(`${length}${hex} 0162`)).toBeUndefined();
    expect(decodeHex(`0161 ${length}${hex}`)).toBeUndefined();
  },
);

test('[C22] the replacement character is a text; normal forms are different keys', () => {
  expect(decodeHex('03efbfbd 0162')?.get('\uFFFD')).toBe('b');
  const bytes = encode(['\u00e9', 'composed'], ['e\u0301', 'decomposed']) ?? new Uint8Array();
  expect(decodeMetadata(bytes)?.get('\u00e9')).toBe('composed');
  expect(decodeMetadata(bytes)?.get('e\u0301')).toBe('decomposed');
});

test('[MSG-011] more than 1,024 bytes are malformed', () => {
  const bytes = Buffer.concat([encode(['k', 'v'.repeat(1_020)]) ?? Buffer.alloc(0), Buffer.from('0000', 'hex')]);
  expect(decodeMetadata(bytes.subarray(0, 1_024))?.size).toBe(1);
  expect(decodeMetadata(bytes)).toBeUndefined();
});

test('[MSG-011] arbitrary and damaged bytes are read or refused, never more than that', () => {
  const readsFaithfully = (bytes: Uint8Array): void => {
    const read = decodeMetadata(bytes);
    if (read === undefined) return;
    // Exactly one form: what was accepted encodes to the same bytes.
    expect(Buffer.from(encode(...read) ?? []).equals(bytes)).toBe(true);
  };
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), readsFaithfully));
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40, max: 4 }), readsFaithfully));
  fc.assert(
    fc.property(entryLists, fc.nat(), fc.nat(255), (entries, position, byte) => {
      const bytes = Uint8Array.from(encode(...entries) ?? []);
      if (bytes.length > 0) bytes[position % bytes.length] = byte;
      readsFaithfully(bytes);
    }),
  );
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('[C24] %s is a key like any other', (key) => {
  const before = Reflect.ownKeys(Object.prototype);
  const bytes = encode([key, 'polluted']) ?? new Uint8Array();
  const snapshot = decodeMetadata(bytes);
  expect(snapshot?.get(key)).toBe('polluted');
  expect([...(snapshot ?? [])]).toEqual([[key, 'polluted']]);
  expect(metadata([[key, 'polluted']]).get(key)).toBe('polluted');
  expect(EMPTY_METADATA.get(key)).toBeUndefined();
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});

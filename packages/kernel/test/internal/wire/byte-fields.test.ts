import fc from 'fast-check';
import { ByteReader } from '../../../src/internal/wire/byte-reader.ts';
import { ByteWriter } from '../../../src/internal/wire/byte-writer.ts';

type Field =
  | { readonly kind: 'u8' | 'u16' | 'u32'; readonly value: number }
  | { readonly kind: 'u64'; readonly value: bigint }
  | { readonly kind: 'text8'; readonly value: string }
  | { readonly kind: 'bytes8'; readonly value: Uint8Array };

const field: fc.Arbitrary<Field> = fc
  .oneof(
    fc.record({ kind: fc.constant('u8' as const), value: fc.integer({ min: 0, max: 0xff }) }),
    fc.record({ kind: fc.constant('u16' as const), value: fc.integer({ min: 0, max: 0xffff }) }),
    fc.record({ kind: fc.constant('u32' as const), value: fc.integer({ min: 0, max: 0xffff_ffff }) }),
    fc.record({ kind: fc.constant('u64' as const), value: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    fc.record({ kind: fc.constant('text8' as const), value: fc.string({ unit: 'grapheme', maxLength: 60 }) }),
    fc.record({ kind: fc.constant('bytes8' as const), value: fc.uint8Array({ maxLength: 255, size: 'max' }) }),
  )
  .filter(({ value }) => typeof value !== 'string' || Buffer.byteLength(value) <= 255);

function write(writer: ByteWriter, { kind, value }: Field): void {
  switch (kind) {
    case 'u8':
    case 'u16':
    case 'u32':
      return writer[kind](value);
    case 'u64':
      return writer.u64(value);
    case 'text8':
      return writer.text8(value);
    case 'bytes8':
      return writer.bytes8(value);
  }
}

function encode(fields: readonly Field[]): Uint8Array {
  const writer = new ByteWriter();
  for (const one of fields) write(writer, one);
  return writer.written();
}

test('[WIRE-002] what was written field by field is read back, to the last byte', () => {
  fc.assert(
    fc.property(fc.array(field, { maxLength: 40, size: 'max' }), (fields) => {
      const reader = new ByteReader(encode(fields));
      for (const { kind, value } of fields) expect(reader[kind]()).toEqual(value);
      expect([reader.ok, reader.atEnd]).toEqual([true, true]);
    }),
  );
});

test('[WIRE-003] a structure that is cut off anywhere is noticed, and nothing behind the cut is read', () => {
  fc.assert(
    fc.property(fc.array(field, { minLength: 1, maxLength: 10 }), fc.nat(), (fields, cut) => {
      const whole = encode(fields);
      // A view: the missing bytes lie right behind it.
      const reader = new ByteReader(whole.subarray(0, cut % whole.length));
      for (const { kind } of fields) reader[kind]();
      expect(reader.ok).toBe(false);
      expect(reader.position).toBeLessThanOrEqual(cut % whole.length);
    }),
  );
});

test('[WIRE-003] after the first fault everything is zero', () => {
  const reader = new ByteReader(Uint8Array.of(1, 2, 3));
  expect(reader.u8()).toBe(1);
  expect(reader.u32()).toBe(0);
  expect([reader.u8(), reader.u16(), reader.u64(), reader.text8(), reader.bytes(2).length]).toEqual([0, 0, 0n, '', 0]);
  expect([reader.ok, reader.position]).toEqual([false, 1]);
});

test('[WIRE-003] a length beyond the end is a fault, however large', () => {
  for (const length of [3, 0xffff_ffff, Number.MAX_SAFE_INTEGER]) {
    const reader = new ByteReader(Uint8Array.of(1, 2));
    expect(reader.bytes(length)).toHaveLength(0);
    expect(reader.ok).toBe(false);
  }
});

test.each(['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff', 'e282'])(
  '[WIRE-003] [C22] text of bytes %s is a fault, not a replacement',
  (hex) => {
    const bytes = Buffer.from(hex, 'hex');
    const reader = new ByteReader(Buffer.concat([Buffer.of(bytes.length), bytes, Buffer.of(7)]));
    expect(reader.text8()).toBe('');
    expect(reader.ok).toBe(false);
    expect(reader.u8()).toBe(0);
  },
);

test('[WIRE-003] bytes are a view of what was received, not a copy', () => {
  const bytes = Uint8Array.of(2, 8, 9, 1);
  const view = new ByteReader(bytes).bytes8();
  bytes[1] = 5;
  expect([...view]).toEqual([5, 9]);
});

test('[WIRE-001] what a writer has shown does not change when it goes on', () => {
  const writer = new ByteWriter();
  writer.text('abc');
  const shown = writer.written();
  const copy = Uint8Array.from(shown);
  for (let at = 0; at < 1_000; at++) writer.u64(BigInt(at));
  expect(shown).toEqual(copy);
  expect(writer.written()).toHaveLength(8_003);
});

test('[WIRE-002] numbers are little-endian', () => {
  const writer = new ByteWriter();
  writer.u16(0x0102);
  writer.u32(0x0304_0506);
  writer.u64(0x0708_090a_0b0c_0d0en);
  expect(Buffer.from(writer.written()).toString('hex')).toBe('0201060504030e0d0c0b0a090807');
});

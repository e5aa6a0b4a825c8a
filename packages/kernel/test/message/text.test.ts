import fc from 'fast-check';
import { isWellFormed } from '../../src/identity/index.ts';
import { decodeUtf8, encodeUtf8, writeUtf8 } from '../../src/message/text.ts';

const invalid = ['c328', 'a0a1', 'e228a1', 'eda080', 'f0288c28', 'fefeffff', 'e282', '41e2'];

const decodeAll = (bytes: Uint8Array): string | undefined => decodeUtf8(bytes, 0, bytes.byteLength);
const wellFormedText = fc.string({ unit: 'binary' }).filter(isWellFormed);

test.each(invalid)('[WIRE-003] [C22] bytes %s are no text', (hex) => {
  const bytes = Buffer.from(hex, 'hex');
  expect(decodeAll(bytes)).toBeUndefined();
  expect(decodeAll(new Uint8Array(bytes))).toBeUndefined();
});

test('[C22] the replacement character itself is text', () => {
  expect(decodeAll(Buffer.from('efbfbd', 'hex'))).toBe('\uFFFD');
});

test('[CODEC-005] a byte order mark is kept', () => {
  expect(decodeAll(Buffer.from('efbbbf41', 'hex'))).toBe('\uFEFFA');
  expect(decodeAll(Buffer.from('efbbbfefbfbd', 'hex'))).toBe('\uFEFF\uFFFD');
});

test('[WIRE-003] only the given range is read', () => {
  const bytes = Buffer.from('ff68c3a9ff', 'hex');
  expect(decodeUtf8(bytes, 1, 4)).toBe('hé');
  expect(decodeUtf8(new Uint8Array(bytes), 1, 4)).toBe('hé');
  expect(decodeUtf8(bytes, 1, 3)).toBeUndefined();
});

test('[WIRE-003] every well-formed text comes back, and no other bytes become text', () => {
  fc.assert(
    fc.property(wellFormedText, (text) => {
      expect(decodeAll(encodeUtf8(text))).toBe(text);
    }),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 16 }), (bytes) => {
      const text = decodeAll(bytes);
      if (text !== undefined) expect(Buffer.from(encodeUtf8(text)).equals(bytes)).toBe(true);
    }),
  );
});

test('[WIRE-002] writing fills a buffer or a plain array alike and says how much', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const expected = Buffer.from(encodeUtf8(text));
      expect(expected.byteLength).toBeLessThanOrEqual(text.length * 3);
      for (const target of [Buffer.alloc(text.length * 3 + 3), new Uint8Array(text.length * 3 + 3)]) {
        expect(writeUtf8(target, text, 3)).toBe(expected.byteLength);
        expect(
          Buffer.from(target)
            .subarray(3, 3 + expected.byteLength)
            .equals(expected),
        ).toBe(true);
      }
    }),
  );
});

test('[C22] a lone surrogate is told apart from text', () => {
  expect(isWellFormed('a\uD800')).toBe(false);
  expect(isWellFormed('\uDC00\uD800')).toBe(false);
  expect(isWellFormed('😀')).toBe(true);
});

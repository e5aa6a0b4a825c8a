import fc from 'fast-check';
import { compareUtf8, isWellFormed, utf8ByteLength } from '../../src/identity/index.ts';

/** Whole code points of one to four bytes, boundaries often. */
const codePoint = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    '\x7f',
    '\x80',
    '\u07ff',
    '\u0800',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{10ffff}',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const text = fc.array(codePoint, { maxLength: 6 }).map((points) => points.join(''));
const units = fc
  .array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd7f0, max: 0xe010 })), { maxLength: 8 })
  .map((codes) => String.fromCharCode(...codes));

test('[NET-003] strings compare as their UTF-8 bytes, a prefix first', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2_000 },
  );
  expect(compareUtf8('node', 'node-1')).toBeLessThan(0);
  expect(compareUtf8('\uffff', '\u{10000}')).toBeLessThan(0); // the other way round in UTF-16
});

test('[MSG-005] the byte length is what an encoder writes', () => {
  fc.assert(
    fc.property(units, (s) => expect(utf8ByteLength(s)).toBe(Buffer.byteLength(s))),
    { numRuns: 2_000 },
  );
});

test('[MSG-005] well formed is what survives encoding', () => {
  fc.assert(
    fc.property(units, (s) => expect(isWellFormed(s)).toBe(Buffer.from(s).toString() === s)),
    {
      numRuns: 2_000,
    },
  );
});

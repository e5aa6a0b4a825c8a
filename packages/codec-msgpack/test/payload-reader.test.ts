import { decode as decodeByLibrary, encode as encodeByLibrary } from '@msgpack/msgpack';
import fc from 'fast-check';
import { decode, decodeHex, thrownBy } from './the-codec.ts';

const failureOf = (hex: string): string => thrownBy(() => decodeHex(hex)).message;
const prefix = '[ProtocolError] payload cannot be read as MessagePack: ';

test.each([
  ['00', 0],
  ['7f', 127],
  ['e0', -32],
  ['ff', -1],
  ['c0', null],
  ['c2', false],
  ['c3', true],
  ['ccff', 255],
  ['cdffff', 65_535],
  ['ceffffffff', 4_294_967_295],
  ['cfffffffffffffffff', 18_446_744_073_709_551_615n],
  ['d080', -128],
  ['d18000', -32_768],
  ['d280000000', -2_147_483_648],
  ['d38000000000000000', -9_223_372_036_854_775_808n],
  ['ca3fc00000', 1.5],
  ['cb3ff8000000000000', 1.5],
  ['a161', 'a'],
  ['d90161', 'a'],
  ['da000161', 'a'],
  ['db0000000161', 'a'],
  ['c4020102', Uint8Array.of(1, 2)],
  ['c500020102', Uint8Array.of(1, 2)],
  ['c6000000020102', Uint8Array.of(1, 2)],
  ['9101', [1]],
  ['dc000101', [1]],
  ['dd0000000101', [1]],
  ['81a16101', { a: 1 }],
  ['de0001a16101', { a: 1 }],
  ['df00000001a16101', { a: 1 }],
  ['d6ff00000007', new Date(7_000)],
  ['c704ff00000007', new Date(7_000)],
  ['c80004ff00000007', new Date(7_000)],
  ['c900000004ff00000007', new Date(7_000)],
])('[CODEC-006] %s is read as its format says', (hex, value) => {
  expect(decodeHex(hex)).toStrictEqual(value);
});

test('[CODEC-006] what the library writes is read as the library reads it', () => {
  const leaf = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 300 }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }),
    fc.date({ noInvalidDate: true }),
  );
  const key = fc.string({ maxLength: 40 }).filter((text) => text !== '__proto__'); // which the library does not read
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 5 }, leaf, fc.array(tie('value'), { maxLength: 20 }), fc.dictionary(key, tie('value'))),
  }));
  fc.assert(
    fc.property(value, (sent) => {
      const bytes = encodeByLibrary(sent, { useBigInt64: true });
      expect(decode(bytes)).toEqual(decodeByLibrary(bytes, { useBigInt64: true }));
    }),
    { numRuns: 500 },
  );
});

test('[CODEC-006] integers are texts as keys, of equal keys the last one wins', () => {
  expect(decodeHex('84 01a161 ff a162 cf0000000000000001 a163 a131 a164')).toEqual({ 1: 'd', '-1': 'b' });
  for (const key of ['c0', 'c3', '90', '80', 'c40101', 'cb3ff8000000000000', 'd6ff00000007']) {
    expect(failureOf(`81${key}01`)).toBe(`${prefix}a key of a map is neither text nor integer`);
  }
});

test('[CODEC-006] [C24] the key __proto__ is own data', () => {
  const decoded = decodeHex('81 a9 5f5f70726f746f5f5f 81 a8 706f6c6c75746564 01') as Record<string, unknown>;
  expect(Object.keys(decoded)).toEqual(['__proto__']);
  expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  expect({ ...decoded }['__proto__']).toEqual({ polluted: 1 });
  expect(() => JSON.stringify(decoded)).not.toThrow();
});

test.each([
  ['', 'it ends early'],
  ['c1', 'it has a byte that starts nothing'],
  ['9201', 'it ends early'],
  ['dd ffffffff', 'it ends early'],
  ['df 7fffffff', 'it ends early'],
  ['db ffffffff 61', 'it ends early'],
  ['c6 ffffffff 61', 'it ends early'],
  ['c9 ffffffff 01 61', 'it ends early'],
  ['cf 00000000', 'it ends early'],
  ['81a161', 'it ends early'],
  ['0101', 'bytes are left behind its end'],
  ['c0c0', 'bytes are left behind its end'],
  ['a1ff', 'a text is not UTF-8'],
  ['81a1ff01', 'a text is not UTF-8'],
  ['d40100', 'extension type 1 is unknown here'],
  ['d4fe00', 'extension type -2 is unknown here'],
])('[CODEC-006] %s is refused: %s', (hex, why) => {
  expect(failureOf(hex)).toBe(prefix + why);
});

test('[CODEC-006] a byte order mark is text like any other', () => {
  expect(decodeHex('a4efbbbf61')).toBe('\ufeffa');
});

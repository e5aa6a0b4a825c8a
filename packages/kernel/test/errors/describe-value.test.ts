import fc from 'fast-check';
import { describeValue } from '../../src/errors/index.ts';

class Wallet {
  readonly pin = '1234';
}

test.each([
  ['text', '"text"'],
  ['', '""'],
  [7, '7'],
  [-0, '-0'],
  [NaN, 'NaN'],
  [5n, '5n'],
  [2n ** 70n, 'a bigint beyond 64 bits'],
  [true, 'true'],
  [undefined, 'undefined'],
  [null, 'null'],
  [Symbol('s'), 'symbol "s"'],
  [[1, 2, 3], 'array of 3'],
  [{ password: 'secret' }, 'object'],
  [Object.create(null), 'object'],
  [new Wallet(), 'object Wallet'],
  [new Date(0), 'object Date'],
  [Buffer.from('secret'), 'Buffer of 6 bytes'],
  [new Uint8Array(32), 'Uint8Array of 32 bytes'],
  [Wallet, 'function Wallet'],
  [() => 0, 'function'],
] as const)('[ERR-002] a value is described by what it is: %#', (value, expected) => {
  expect(describeValue(value)).toBe(expected);
});

test('[ERR-002] a long text is cut and its length told', () => {
  expect(describeValue('x'.repeat(10_000))).toBe(`"${'x'.repeat(64)}"… (10000 characters)`);
});

test('[ERR-002] secrets in texts are left out', () => {
  expect(describeValue('redis://user:p@ss@cache:6379')).toBe('"redis://***@cache:6379"');
  expect(describeValue(`redis://${'p'.repeat(5_000)}@cache`)).not.toContain('p');
  expect(describeValue('-----BEGIN PRIVATE KEY-----\nMIIE')).toBe('PEM text of 32 characters');
});

test('[ERR-002] line ends and direction marks of a value cannot forge a log line', () => {
  expect(describeValue('a\nb\u2028c\u202ed\u0085e')).toBe('"a\\nb\\u2028c\\u202ed\\u0085e"');
});

test('[ERR-002] no code of the value runs and nothing it does makes describing throw', () => {
  const fail = (): never => {
    throw new Error('ran');
  };
  const hostile = {
    get constructor(): unknown {
      return fail();
    },
    toString: fail,
    toJSON: fail,
    [Symbol.toPrimitive]: fail,
    get [Symbol.toStringTag](): string {
      return fail();
    },
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  expect(describeValue(hostile)).toBe('object');
  expect(describeValue(Object.create(hostile))).toBe('object');
  expect(describeValue(proxy)).toBe('an unreadable value');
  expect(describeValue(cyclic)).toBe('array of 1');
  expect(
    describeValue(
      class {
        static get name(): string {
          return fail();
        }
      },
    ),
  ).toBe('function');
});

test('[ERR-002] any value gives one bounded line', () => {
  const anyValue = fc.oneof(fc.anything({ withBigInt: true, withTypedArray: true }), fc.string({ maxLength: 500 }));
  fc.assert(
    fc.property(anyValue, (value) => {
      const text = describeValue(value);
      expect(text.length).toBeGreaterThan(0);
      expect(text.length).toBeLessThanOrEqual(120);
      expect(text).not.toMatch(/[\n\r\u2028\u2029]/);
    }),
  );
});

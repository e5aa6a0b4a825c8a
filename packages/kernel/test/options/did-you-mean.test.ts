import { didYouMean } from '../../src/internal/options/index.ts';

const known = ['billing', 'Orders', 'requestTimeoutMs', 'sendTimeoutMs'];

test.each([
  ['biling', 'billing'],
  ['bililng', 'billing'],
  ['BILLING', 'billing'],
  ['orders', 'Orders'],
  ['order', 'Orders'],
  ['requestTimeoutMS', 'requestTimeoutMs'],
  ['requestTimeout', 'requestTimeoutMs'],
  ['sendTimeout', 'sendTimeoutMs'],
])('[ERR-002] %s was meant to be %s', (name, meant) => {
  expect(didYouMean(name, known)).toBe(`, did you mean "${meant}"?`);
});

test.each(['', 'b', 'bill', 'stock', 'colour', 7, undefined, null, {}])('[ERR-002] for %p there is no hint', (name) => {
  expect(didYouMean(name, known)).toBe('');
});

test('[ERR-002] of several names the nearest one is suggested, of equally near ones the first', () => {
  expect(didYouMean('billin', ['bill', 'billings', 'billing'])).toBe(', did you mean "billing"?');
  expect(didYouMean('shop-3', ['shop-1', 'shop-2'])).toBe(', did you mean "shop-1"?');
  expect(didYouMean('billing', [])).toBe('');
});

test('[ERR-002] a hint stays small: long names are not looked at', () => {
  const long = 'x'.repeat(65);
  expect(didYouMean(long, [`${long}y`, long])).toBe('');
  expect(didYouMean('x'.repeat(64), [long])).toBe('');
  expect(didYouMean('x'.repeat(63), ['x'.repeat(64)])).toBe(`, did you mean "${'x'.repeat(64)}"?`);
});

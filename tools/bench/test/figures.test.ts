import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { median, ratioSpread, slope } from '../src/figures.ts';

test('[CORE-001] the median is the middle value, or the mean of the two in the middle', () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 100])).toBe(3.5);
  expect(median([7])).toBe(7);
  expect(median([])).toBeNaN();
});

test('[CORE-001] the median does not depend on the order of rounds and leaves them as they are', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
      const before = [...values];
      expect(median([...values].reverse())).toBe(median(values));
      expect(values).toEqual(before);
    }),
  );
});

test('[CORE-001] a ratio is taken within each round: a slow round of both sides changes nothing', () => {
  const spread = ratioSpread([200, 20, 220], [100, 10, 100]);
  expect(spread).toEqual({ median: 2, low: 2, high: 2.2 });
});

test('[CORE-001] rounds that do not pair up are an error', () => {
  expect(() => ratioSpread([1, 2], [1])).toThrow('rounds do not pair up: 2 and 1');
});

test('[CORE-004] the slope of a series ignores a single outlier', () => {
  const points = [0, 1, 2, 3, 4, 5, 6].map((x) => ({ x, y: x === 3 ? 1_000 : 10 + 2 * x }));
  expect(slope(points)).toBe(2);
});

test('[CORE-004] a series without two different moments has no slope', () => {
  expect(slope([{ x: 1, y: 1 }])).toBeNaN();
  expect(
    slope([
      { x: 1, y: 1 },
      { x: 1, y: 5 },
    ]),
  ).toBeNaN();
});

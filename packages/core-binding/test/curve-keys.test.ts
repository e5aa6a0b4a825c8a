import { createCurveKeys, curveProblems } from '../src/index.ts';

test('[SEC-001] a new pair is one that hosts accept, and no two are the same', () => {
  const pairs = Array.from({ length: 20 }, createCurveKeys);
  expect(pairs.flatMap((pair) => curveProblems(pair))).toEqual([]);
  expect(new Set(pairs.flatMap(({ publicKey, secretKey }) => [publicKey, secretKey])).size).toBe(40);
  const [first, second] = pairs;
  const mixed = curveProblems({ publicKey: first?.publicKey ?? '', secretKey: second?.secretKey ?? '' });
  expect(mixed).not.toEqual([]);
});

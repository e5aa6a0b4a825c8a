import { Backoff } from '../../src/internal/time/index.ts';

const delays = (backoff: Backoff, count: number): number[] => Array.from({ length: count }, () => backoff.next());

test('[CORE-009] delays double from 100 ms to 5 s and stay there', () => {
  expect(delays(new Backoff(() => 1), 8)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

test('[CORE-009] jitter spreads a delay over the upper half of its step', () => {
  expect(delays(new Backoff(() => 0), 7)).toEqual([50, 100, 200, 400, 800, 1_600, 2_500]);
  expect(new Backoff(() => 0.5).next()).toBe(75);
});

test('[CORE-009] after a success it starts small again', () => {
  const backoff = new Backoff(() => 1, 10, 40);
  expect(delays(backoff, 4)).toEqual([10, 20, 40, 40]);
  backoff.reset();
  expect(delays(backoff, 2)).toEqual([10, 20]);
});

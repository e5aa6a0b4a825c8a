import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { waveSize, WaveSum } from '../src/fanout/waves.ts';

/** What may wait for one subscriber. */
const markBytes = 64 * 1_048_576;

test('[FAN-004] a wave is as long as the wanted time, and no one begins with nothing', () => {
  expect(waveSize(0, 500, 64)).toBe(50);
  expect(waveSize(100_000, 500, 64)).toBe(50_000);
  expect(waveSize(100_000, 80, 64)).toBe(8_000);
});

test('[FAN-004] a wave always is far below the mark of a subscriber, so that none is lost', () => {
  const rates = fc.double({ min: 0, max: 1e9, noNaN: true });
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 60_000 }), fc.integer({ min: 0, max: 65_536 }), (rate, ms, bytes) => {
      const count = waveSize(rate, ms, bytes);
      expect(Number.isInteger(count)).toBe(true);
      expect(count).toBeGreaterThanOrEqual(50);
      expect(count * (bytes + 128)).toBeLessThan(markBytes / 2);
    }),
  );
});

test('[FAN-004] a wave ends with the slowest subscriber, and pauses between waves count for nobody', () => {
  const sum = new WaveSum();
  expect([sum.elapsedMs, sum.perSecond]).toEqual([0, 0]);
  sum.add(1_000, 100, [150, 200, 120]);
  expect([sum.elapsedMs, sum.perSecond]).toEqual([100, 10_000]);
  sum.add(500, 5_000, [5_100, 5_020]);
  expect([sum.elapsedMs, sum.perSecond]).toEqual([200, 7_500]);
});

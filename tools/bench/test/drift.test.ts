import { expect, test } from '@jest/globals';
import { judgeDrift } from '../src/drift.ts';

const hourMs = 3_600_000;
const series = (values: readonly number[]) => values.map((value, index) => ({ atMs: index * hourMs, value }));
const tolerance = { share: 0.05, least: 1 };

test('[CORE-004] growth at the beginning of a run is settling and does not count', () => {
  const drift = judgeDrift(series([10, 60, 100, 100, 101, 99, 100, 100]), tolerance);
  expect(drift).toMatchObject({ verdict: 'level', mean: 100 });
});

test('[CORE-004] steady growth beyond the tolerance is called growing, with its slope per hour', () => {
  const drift = judgeDrift(series([100, 102, 104, 106, 108, 110, 112, 114]), tolerance);
  expect(drift).toMatchObject({ verdict: 'growing', mean: 109 });
  expect(drift.perHour).toBeCloseTo(2);
  expect(drift.growth).toBeCloseTo(10);
});

test('[CORE-004] growth within the absolute tolerance is level even if the mean is small', () => {
  expect(judgeDrift(series([0, 0, 0, 0.2, 0.4, 0.6, 0.8, 1]), tolerance).verdict).toBe('level');
  expect(judgeDrift(series([0, 0, 0, 0.4, 0.8, 1.2, 1.6, 2]), tolerance).verdict).toBe('growing');
});

test('[CORE-004] a shrinking series is level', () => {
  expect(judgeDrift(series([100, 90, 80, 70, 60, 50, 40, 30]), tolerance).verdict).toBe('level');
});

test('[CORE-004] too few samples give no verdict', () => {
  expect(judgeDrift(series([1, 1, 1, 1, 1]), tolerance).verdict).toBe('unknown');
  expect(judgeDrift([], tolerance).verdict).toBe('unknown');
});

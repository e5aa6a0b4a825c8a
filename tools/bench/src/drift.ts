/**
 * Whether a series of measurements stays level.
 *
 * Owns the verdict on one series. Pure.
 *
 * 1. The first part of a run does not count: caches fill, code is compiled, heaps find their size.
 * 2. The slope comes from all pairs of points, so that one late collection decides nothing.
 */
import { slope } from './figures.ts';

export interface SeriesPoint {
  readonly atMs: number;
  readonly value: number;
}

export interface Tolerance {
  /** Growth over the judged part of the run, relative to its mean, that still is level. */
  readonly share: number;
  /** Growth that is level whatever the mean is. */
  readonly least: number;
}

export interface Drift {
  readonly perHour: number;
  /** Slope times the length of the judged part. */
  readonly growth: number;
  readonly mean: number;
  /** `unknown`: too few points to tell. */
  readonly verdict: 'level' | 'growing' | 'unknown';
}

const settlingShare = 0.25;
const minPoints = 5;
const hourMs = 3_600_000;

export function judgeDrift(series: readonly SeriesPoint[], tolerance: Tolerance): Drift {
  const judged = series.slice(Math.floor(series.length * settlingShare)); // 1
  const perMs = slope(judged.map(({ atMs, value }) => ({ x: atMs, y: value }))); // 2
  const growth = perMs * ((judged.at(-1)?.atMs ?? 0) - (judged[0]?.atMs ?? 0));
  const mean = judged.reduce((sum, { value }) => sum + value, 0) / judged.length;
  const allowed = Math.max(tolerance.least, mean * tolerance.share);
  const verdict = judged.length < minPoints ? 'unknown' : growth <= allowed ? 'level' : 'growing';
  return { perHour: perMs * hourMs, growth, mean, verdict };
}

/**
 * Arithmetic over the figures of a run.
 *
 * Owns medians, ratios and slopes. Pure: no clock, no I/O.
 *
 * 1. A ratio is taken within a round and then the median over the rounds: whatever slows the machine down for a while
 *    slows both sides of a round.
 */

/** What each contestant reached, round by round; all lists are equally long. */
export type Figures = ReadonlyMap<string, readonly number[]>;

export interface RatioSpread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** NaN for no values. Of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

export function ratioSpread(subject: readonly number[], reference: readonly number[]): RatioSpread {
  if (subject.length !== reference.length) {
    throw new Error(`rounds do not pair up: ${subject.length} and ${reference.length}`);
  }
  const ratios = subject.map((value, round) => value / (reference[round] ?? NaN)); // 1
  return { median: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}

/**
 * Slope of a series that a single outlier cannot bend: the median of the slopes between all pairs of points
 * (the estimator of Theil and Sen).
 */
export function slope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const slopes: number[] = [];
  for (const [index, a] of points.entries()) {
    for (const b of points.slice(index + 1)) if (b.x !== a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  }
  return median(slopes);
}

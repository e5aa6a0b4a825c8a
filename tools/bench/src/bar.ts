/**
 * What a ratio has to reach.
 *
 * Owns the verdict. Leaves to the report what a verdict means for the exit code.
 *
 * 1. A ratio that is no number has not reached anything.
 */
export interface Bar {
  readonly kind: 'atLeast' | 'atMost';
  readonly ratio: number;
  /** What `docs/benchmarks.md` shows where the bar is missed: the mark that a regression is measured against. */
  readonly recorded: number;
}

/** `farOff`: half of the bar, or of what was recorded, is not reached, which no noise of a busy machine explains. */
export type Verdict = 'met' | 'missed' | 'farOff';

/** @param recorded - given only where the bar is missed; the bar itself stays what it is */
export const atLeast = (ratio: number, recorded = ratio): Bar => ({ kind: 'atLeast', ratio, recorded });
export const atMost = (ratio: number): Bar => ({ kind: 'atMost', ratio, recorded: ratio });

export function judge(ratio: number, bar: Bar): Verdict {
  // 1: written so that every comparison with NaN is false.
  if (bar.kind === 'atLeast') return ratio >= bar.ratio ? 'met' : ratio >= bar.recorded / 2 ? 'missed' : 'farOff';
  return ratio <= bar.ratio ? 'met' : ratio <= bar.recorded * 2 ? 'missed' : 'farOff';
}

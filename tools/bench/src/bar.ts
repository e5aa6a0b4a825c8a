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
}

/** `farOff`: not even half of what the bar asks for, which no noise of a busy machine explains. */
export type Verdict = 'met' | 'missed' | 'farOff';

export const atLeast = (ratio: number): Bar => ({ kind: 'atLeast', ratio });
export const atMost = (ratio: number): Bar => ({ kind: 'atMost', ratio });

export function judge(ratio: number, bar: Bar): Verdict {
  // 1: written so that every comparison with NaN is false.
  if (bar.kind === 'atLeast') return ratio >= bar.ratio ? 'met' : ratio >= bar.ratio / 2 ? 'missed' : 'farOff';
  return ratio <= bar.ratio ? 'met' : ratio <= bar.ratio * 2 ? 'missed' : 'farOff';
}

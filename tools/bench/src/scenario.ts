/**
 * What a scenario is to the run and to the report.
 *
 * Owns the vocabulary. Leaves measuring to `scenarios/`.
 */
import type { Bar } from './bar.ts';
import type { Figures } from './figures.ts';

export type Unit = 'bytes' | 'perSecond' | 'megabytesPerSecond' | 'microseconds' | 'nanoseconds' | 'mebibytes';

/** How long a run takes and how often it repeats. */
export interface Conditions {
  /** How often each contestant is measured; the report shows medians. */
  readonly rounds: number;
  /** Wanted length of one measurement. */
  readonly sliceMs: number;
  /** Time each contestant runs before anything counts. */
  readonly warmUpMs: number;
  /** How long a receiver stands still in the memory scenario; below the 15 s after which a link is given up. */
  readonly stallMs: number;
  /** Repetitions of the memory scenario, each of which takes `stallMs` per contestant. */
  readonly stalls: number;
}

export const fullConditions: Conditions = {
  rounds: 7,
  sliceMs: 500,
  warmUpMs: 1_000,
  stallMs: 6_000,
  stalls: 3,
};

/** Under a minute for everything, for CI: enough to notice a collapse, not to judge a bar. */
export const quickConditions: Conditions = {
  rounds: 5,
  sliceMs: 80,
  warmUpMs: 200,
  stallMs: 1_500,
  stalls: 1,
};

/** `subject` divided by `reference`; without a bar it is information. */
export interface Comparison {
  readonly subject: string;
  readonly reference: string;
  readonly bar?: Bar;
}

export interface Scenario {
  /** Chosen by `--only`; lower case words joined by hyphens, then the size. */
  readonly name: string;
  /** What is measured, in one line. */
  readonly says: string;
  readonly unit: Unit;
  readonly comparisons: readonly Comparison[];
  /** Takes too long for a quick run, which leaves it out unless it is named. */
  readonly isLong?: boolean;
  measure(conditions: Conditions): Promise<Figures>;
}

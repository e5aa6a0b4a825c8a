/**
 * What a run has found out, as data: the JSON of `--json` is exactly this.
 *
 * Owns the shape, the comparisons and the outcome of a whole run. Leaves showing it to `table.ts`.
 *
 * 1. A quick run fails only for what no noise explains: a ratio below half of its bar, or of what was
 *    recorded where the bar is missed.
 */
import { type Bar, judge, type Verdict } from './bar.ts';
import { type Figures, median, ratioSpread } from './figures.ts';
import type { MachineFacts } from './machine.ts';
import type { Comparison, Conditions, Scenario, Unit } from './scenario.ts';

/** `subject` divided by `reference`: median and extremes over the rounds. */
export interface ComparedPair {
  readonly subject: string;
  readonly reference: string;
  readonly subjectFigure: number;
  readonly referenceFigure: number;
  readonly ratio: number;
  readonly lowestRatio: number;
  readonly highestRatio: number;
  readonly bar: Bar | undefined;
  readonly verdict: Verdict | undefined;
}

export interface ScenarioReport {
  readonly name: string;
  readonly says: string;
  readonly unit: Unit;
  readonly pairs: readonly ComparedPair[];
  /** Every measured figure, by contestant and round. */
  readonly figures: Readonly<Record<string, readonly number[]>>;
}

export interface RunReport {
  readonly takenAt: string;
  readonly mode: 'quick' | 'full';
  readonly conditions: Conditions;
  readonly machine: MachineFacts;
  readonly scenarios: readonly ScenarioReport[];
}

export function reportOf(
  { name, says, unit, comparisons }: Omit<Scenario, 'measure'>,
  figures: Figures,
): ScenarioReport {
  return {
    name,
    says,
    unit,
    pairs: comparisons.map((comparison) => compare(comparison, figures)),
    figures: Object.fromEntries(figures),
  };
}

function compare({ subject, reference, bar }: Comparison, figures: Figures): ComparedPair {
  const subjectValues = figuresOf(subject, figures);
  const referenceValues = figuresOf(reference, figures);
  const ratio = ratioSpread(subjectValues, referenceValues);
  return {
    subject,
    reference,
    subjectFigure: median(subjectValues),
    referenceFigure: median(referenceValues),
    ratio: ratio.median,
    lowestRatio: ratio.low,
    highestRatio: ratio.high,
    bar,
    verdict: bar === undefined ? undefined : judge(ratio.median, bar),
  };
}

function figuresOf(contestant: string, figures: Figures): readonly number[] {
  const values = figures.get(contestant);
  if (values === undefined) throw new Error(`"${contestant}" was not measured`);
  return values;
}

export type Verdicts = Readonly<Record<Verdict, number>>;

export function countVerdicts(scenarios: readonly ScenarioReport[]): Verdicts {
  const counts = { met: 0, missed: 0, farOff: 0 };
  for (const { verdict } of scenarios.flatMap(({ pairs }) => pairs)) if (verdict !== undefined) counts[verdict]++;
  return counts;
}

/** Whether the process should exit with an error. */
export function hasFailed(counts: Verdicts, mode: { readonly quick: boolean; readonly strict: boolean }): boolean {
  if (mode.strict && counts.missed + counts.farOff > 0) return true;
  return mode.quick && counts.farOff > 0; // 1
}

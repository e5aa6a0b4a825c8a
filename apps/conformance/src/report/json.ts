/** The same for programs. */
import { nameOf } from '../matrix.ts';
import type { Outcome } from '../runner/outcome.ts';
import type { Summary } from './summary.ts';

export function jsonReport(summary: Summary, outcomes: readonly Outcome[], startedAt: Date, ms: number): string {
  const requirements = summary.rows.map(({ topic, id, verdicts }) => ({
    topic,
    id,
    verdicts: Object.fromEntries(verdicts),
  }));
  const runs = outcomes.map(({ run, ms: runMs, failure }) => ({
    topic: run.topic,
    ids: run.scenario.ids,
    title: run.scenario.title,
    column: nameOf(run.cell),
    cell: run.cell,
    outcome: failure === undefined ? 'ok' : 'failed',
    ms: Math.round(runMs),
    ...(failure === undefined ? {} : { failure }),
  }));
  const report = {
    version: 1,
    startedAt: startedAt.toISOString(),
    ms: Math.round(ms),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    passed: summary.runs - summary.failed.length,
    failed: summary.failed.length,
    columns: summary.columns,
    requirements,
    runs,
  };
  return `${JSON.stringify(report, undefined, 2)}\n`;
}

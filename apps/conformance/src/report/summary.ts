/**
 * Outcomes by topic, requirement and column: what all reports are made of.
 *
 * Owns that a requirement holds in a column if every scenario that names it went well there.
 */
import { nameOf } from '../matrix.ts';
import type { Outcome } from '../runner/outcome.ts';
import type { Topic } from '../scenario.ts';

type Verdict = 'ok' | 'failed';

interface RequirementRow {
  readonly topic: Topic;
  readonly id: string;
  /** By column; absent: no scenario of the requirement depends on that setting. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

export interface Summary {
  readonly columns: readonly string[];
  readonly rows: readonly RequirementRow[];
  readonly runs: number;
  readonly failed: readonly Outcome[];
}

export function summarize(outcomes: readonly Outcome[]): Summary {
  const columns: string[] = [];
  const rows = new Map<string, { topic: Topic; id: string; verdicts: Map<string, Verdict> }>();
  for (const { run, failure } of outcomes) {
    const column = nameOf(run.cell);
    if (!columns.includes(column)) columns.push(column);
    for (const id of run.scenario.ids) {
      const key = `${run.topic} ${id}`;
      const row = rows.get(key) ?? { topic: run.topic, id, verdicts: new Map<string, Verdict>() };
      rows.set(key, row);
      if (failure !== undefined) row.verdicts.set(column, 'failed');
      else if (!row.verdicts.has(column)) row.verdicts.set(column, 'ok');
    }
  }
  const topics: Topic[] = [];
  for (const { topic } of rows.values()) if (!topics.includes(topic)) topics.push(topic);
  const sorted = [...rows.values()].sort(
    (a, b) => topics.indexOf(a.topic) - topics.indexOf(b.topic) || (a.id < b.id ? -1 : 1),
  );
  return {
    columns,
    rows: sorted,
    runs: outcomes.length,
    failed: outcomes.filter(({ failure }) => failure !== undefined),
  };
}

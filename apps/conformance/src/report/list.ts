/** What there is to run: `--list`. */
import { nameOf } from '../matrix.ts';
import type { Run } from '../runner/outcome.ts';

export function listLines(runs: readonly Run[]): readonly string[] {
  const columnsOf = new Map<Run['scenario'], string[]>();
  for (const { scenario, cell } of runs) columnsOf.set(scenario, [...(columnsOf.get(scenario) ?? []), nameOf(cell)]);
  const lines: string[] = [];
  let topic: string | undefined;
  for (const run of runs) {
    const columns = columnsOf.get(run.scenario);
    if (columns === undefined) continue;
    columnsOf.delete(run.scenario);
    if (run.topic !== topic) lines.push((topic = run.topic));
    lines.push(`  [${run.scenario.ids.join(' ')}] ${run.scenario.title} (${columns.join(', ')})`);
  }
  const ids = new Set(runs.flatMap(({ scenario }) => scenario.ids));
  const scenarios = new Set(runs.map(({ scenario }) => scenario));
  lines.push(`${scenarios.size} scenarios, ${runs.length} runs, ${ids.size} requirements`);
  return lines;
}

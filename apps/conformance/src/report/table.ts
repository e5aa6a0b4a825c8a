/** The table that people read: a row per requirement, a column per setting, and the failures below. */
import { nameOf } from '../matrix.ts';
import type { Outcome } from '../runner/outcome.ts';
import type { Summary } from './summary.ts';

const cellText = { ok: 'ok', failed: 'FAIL', none: '·' } as const;

export function tableLines(summary: Summary): readonly string[] {
  const widths = summary.columns.map((column) => Math.max(column.length, 4));
  const firstWidth = Math.max(...summary.rows.flatMap(({ topic, id }) => [topic.length, id.length]));
  const line = (id: string, cells: readonly string[]): string =>
    [id.padEnd(firstWidth), ...cells.map((cell, at) => cell.padEnd(widths[at] ?? 0))].join('  ').trimEnd();
  const lines: string[] = [];
  let topic: string | undefined;
  for (const row of summary.rows) {
    if (row.topic !== topic) {
      if (topic !== undefined) lines.push('');
      topic = row.topic;
      lines.push(line(topic, summary.columns));
    }
    lines.push(
      line(
        row.id,
        summary.columns.map((column) => cellText[row.verdicts.get(column) ?? 'none']),
      ),
    );
  }
  return lines;
}

export function failureLines(failed: readonly Outcome[]): readonly string[] {
  return failed.flatMap(({ run, failure, ms }) => [
    '',
    `FAIL [${run.scenario.ids.join(' ')}] ${run.scenario.title} (${nameOf(run.cell)}, ${Math.round(ms)} ms)`,
    ...(failure?.text ?? '').split('\n').map((text) => `  ${text}`),
    ...(failure === undefined || failure.logs.length === 0 ? [] : ['  what the roles logged:']),
    ...(failure?.logs ?? []).map((text) => `    ${text}`),
  ]);
}

export function closingLine(summary: Summary, ms: number): string {
  const bad = summary.rows.filter((row) => [...row.verdicts.values()].includes('failed')).length;
  const seconds = (ms / 1_000).toFixed(1);
  return (
    `conformance: ${summary.runs - summary.failed.length} runs passed, ${summary.failed.length} failed; ` +
    `${summary.rows.length - bad} requirements hold, ${bad} do not; ${seconds} s`
  );
}

/**
 * A conformance run: what is chosen is performed, and reported.
 *
 * Owns the exit code: 0 everything passed, 1 something failed, or nothing was there to run, or it was interrupted.
 * Leaves the scenarios to the catalogue, so that others can be run in its place.
 *
 * 1. However it ends, no process, server or proxy is left.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunOptions } from './arguments.ts';
import { nameOf } from './matrix.ts';
import { jsonReport } from './report/json.ts';
import { junitReport } from './report/junit.ts';
import { listLines } from './report/list.ts';
import { summarize } from './report/summary.ts';
import { closingLine, failureLines, tableLines } from './report/table.ts';
import { RunRedis } from './run-redis.ts';
import { chooseRuns, unknownIds } from './runner/choice.ts';
import type { Outcome, Run } from './runner/outcome.ts';
import { ProcessPool } from './runner/process-pool.ts';
import { perform } from './runner/perform.ts';
import { performAll } from './runner/schedule.ts';
import type { Chapter } from './scenario.ts';

export interface RunPorts {
  readonly print: (line: string) => void;
  /** Shown while it runs, where somebody looks on. */
  readonly progress: (line: string) => void;
  /** Ends the run early. */
  readonly signal: AbortSignal;
}

export async function runConformance(
  chapters: readonly Chapter[],
  options: RunOptions,
  ports: RunPorts,
): Promise<number> {
  const unknown = unknownIds(chapters, options.only);
  if (unknown.length > 0) {
    ports.print(`conformance: no scenario has an id that begins with ${unknown.join(', ')}; --list shows them`);
    return 1;
  }
  const runs = chooseRuns(chapters, options);
  if (options.list) {
    for (const line of listLines(runs)) ports.print(line);
    return runs.length === 0 ? 1 : 0;
  }
  if (runs.length === 0) {
    ports.print('conformance: nothing to run: no scenario is all that was asked for; --list shows what there is');
    return 1;
  }
  const startedAt = new Date();
  const startedAtMs = performance.now();
  const { outcomes, problems } = await performRuns(runs, options, ports);
  const ms = performance.now() - startedAtMs;
  const summary = summarize(outcomes);
  for (const line of [...tableLines(summary), ...failureLines(summary.failed), '']) ports.print(line);
  await mkdir(options.out, { recursive: true });
  await writeFile(join(options.out, 'report.json'), jsonReport(summary, outcomes, startedAt, ms));
  await writeFile(join(options.out, 'junit.xml'), junitReport(outcomes, startedAt, ms));
  if (outcomes.length < runs.length) ports.print(`conformance: ${runs.length - outcomes.length} runs were not begun`);
  for (const problem of problems) ports.print(`conformance: ${problem}`);
  ports.print(closingLine(summary, ms));
  return summary.failed.length > 0 || problems.length > 0 || outcomes.length < runs.length ? 1 : 0;
}

async function performRuns(
  runs: readonly Run[],
  { against, full, lanes }: RunOptions,
  { progress, signal }: RunPorts,
): Promise<{ readonly outcomes: readonly Outcome[]; readonly problems: readonly string[] }> {
  const redis = new RunRedis();
  const pool = new ProcessPool(full);
  let begun = 0;
  let done = 0;
  try {
    const outcomes = await performAll(runs, {
      lanes,
      signal,
      perform: (run) => {
        const namespace = `conformance-${process.pid}-${++begun}`;
        return perform(run, { cell: run.cell, redisUrl: () => redis.url(), pool, namespace, against }, signal);
      },
      onOutcome: ({ run, failure, ms }) => {
        const what = `[${run.scenario.ids[0] ?? ''}] ${run.scenario.title} (${nameOf(run.cell)})`;
        progress(`${++done}/${runs.length} ${failure === undefined ? 'ok  ' : 'FAIL'} ${Math.round(ms)} ms ${what}`);
      },
    });
    return { outcomes, problems: await pool.end() };
  } finally {
    await pool.end();
    await redis.close(); // 1: runs have cleared their stages
  }
}

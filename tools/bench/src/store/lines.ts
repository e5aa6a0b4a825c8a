/**
 * What was measured at the stores, as text for people.
 *
 * Owns columns and rounding. Pure: strings out of reports.
 */
import { formatFigure } from '../table.ts';
import type { DelaySummary } from './delays.ts';
import type { IdleReport } from './idle.ts';
import type { LoadReport, LoadRow } from './load-contests.ts';

const minuteMs = 60_000;

export function loadLines({ name, rows }: LoadReport): readonly string[] {
  return [
    loadLine(name, 'rate', 'p50', 'p99', 'in Redis', 'client', 'ratio of rates (lowest-highest)'),
    ...rows.map((row) =>
      loadLine(
        `  ${row.name}`,
        formatFigure(row.perSecond, 'perSecond'),
        formatFigure(row.p50Us, 'microseconds'),
        formatFigure(row.p99Us, 'microseconds'),
        row.serverUs === undefined ? '' : formatFigure(row.serverUs, 'microseconds'),
        `${Math.round(row.processorShare * 100)} %`,
        ratioText(row),
      ),
    ),
    '',
  ];
}

export function delayLines(summaries: readonly DelaySummary[]): readonly string[] {
  return [
    delayLine('delay', 'median', 'lowest', 'highest', 'count'),
    ...summaries.map(({ what, medianMs, lowestMs, highestMs, count }) =>
      delayLine(`  ${what}`, msText(medianMs), msText(lowestMs), msText(highestMs), String(count)),
    ),
    '',
  ];
}

export function idleLines(report: IdleReport): readonly string[] {
  const { hostCount, processCount, serverCount, elapsedMs, commands, redisShare, hostShare } = report;
  const perHostAndMinute = (calls: number): string =>
    (calls / hostCount / (elapsedMs / minuteMs)).toFixed(1).padStart(8);
  const sent = commands.filter(({ isSent }) => isSent);
  const inScripts = commands.filter(({ isSent }) => !isSent);
  const rows = (counts: typeof commands): string[] =>
    counts.map(({ name, calls }) => `  ${name.padEnd(16)}${perHostAndMinute(calls)}`);
  const sum = sent.reduce((total, { calls }) => total + calls, 0);
  return [
    `${hostCount} idle hosts in ${processCount} processes, ${serverCount} of them servers; ${Math.round(elapsedMs / 1_000)} s`,
    `commands sent per host and minute ${perHostAndMinute(sum).trim()}`,
    ...rows(sent),
    'run by scripts, per host and minute',
    ...rows(inScripts),
    `processor time of Redis   ${percentText(redisShare)} of one processor`,
    `processor time of hosts   ${percentText(hostShare / hostCount)} of one processor per host, ${percentText(hostShare)} together`,
    '',
  ];
}

function ratioText({ ratios }: LoadRow): string {
  return Object.entries(ratios)
    .map(([other, { median, low, high }]) => `${ratio(median)} (${ratio(low)}-${ratio(high)}) of ${other}`)
    .join(', ');
}

function ratio(value: number): string {
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

function loadLine(name: string, ...cells: readonly string[]): string {
  const widths = [12, 10, 10, 10, 8];
  const padded = cells.map((cell, column) => cell.padStart(widths[column] ?? 0));
  return [name.padEnd(43), ...padded].join('  ').trimEnd();
}

function delayLine(what: string, ...cells: readonly string[]): string {
  return [what.padEnd(52), ...cells.map((cell) => cell.padStart(10))].join('');
}

function msText(ms: number): string {
  return ms >= 9_995 ? `${(ms / 1_000).toFixed(1)} s` : `${ms.toFixed(ms < 9.95 ? 1 : 0)} ms`;
}

function percentText(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

/**
 * The report as text for people.
 *
 * Owns columns, units and rounding. Pure: strings out of a report.
 */
import type { Bar, Verdict } from './bar.ts';
import type { MachineFacts } from './machine.ts';
import type { ComparedPair, ScenarioReport, Verdicts } from './report.ts';
import type { Comparison, Scenario, Unit } from './scenario.ts';

const widths = [31, 32, 32, 24, 9] as const;

export function machineLines(machine: MachineFacts): readonly string[] {
  const memoryGib = Math.round(machine.memoryBytes / 2 ** 30);
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${machine.processor}, ${machine.processorCount} processors, ${memoryGib} GiB, ${machine.system}`,
    versions.join(', '),
  ];
}

export const headerLine = row('pattern', 'subject', 'reference', 'ratio (lowest-highest)', 'bar', 'verdict');

/** One line per comparison; the name stands on the first. */
export function scenarioLines({ name, unit, pairs }: ScenarioReport): readonly string[] {
  return pairs.map((pair, index) => pairLine(index === 0 ? name : '', unit, pair));
}

/** What a scenario measures and what it has to reach. */
export function listLines({ name, says, comparisons }: Scenario): readonly string[] {
  return [name, `  ${says}`, ...comparisons.map((comparison) => `  ${describe(comparison)}`)];
}

export function closingLine({ met, missed, farOff }: Verdicts): string {
  return `${met} bars met, ${missed} missed, ${farOff} below half`;
}

export function formatFigure(value: number, unit: Unit): string {
  switch (unit) {
    case 'bytes':
      return `${digits(value)} B`;
    case 'perSecond':
      return `${scaled(value)}/s`;
    case 'megabytesPerSecond':
      return `${digits(value)} MB/s`;
    case 'microseconds':
      return `${digits(value)} µs`;
    case 'nanoseconds':
      return `${digits(value)} ns`;
    case 'mebibytes':
      return `${digits(value)} MiB`;
  }
}

function pairLine(name: string, unit: Unit, pair: ComparedPair): string {
  const ratio = `${digits(pair.ratio)} (${digits(pair.lowestRatio)}-${digits(pair.highestRatio)})`;
  return row(
    name,
    `${pair.subject} ${formatFigure(pair.subjectFigure, unit)}`,
    `${pair.reference} ${formatFigure(pair.referenceFigure, unit)}`,
    ratio,
    pair.bar === undefined ? '' : formatBar(pair.bar),
    pair.verdict === undefined ? '' : verdictTexts[pair.verdict],
  );
}

function describe({ subject, reference, bar }: Comparison): string {
  return `${subject} over ${reference}: ${bar === undefined ? 'information' : formatBar(bar)}`;
}

function formatBar({ kind, ratio }: Bar): string {
  return `${kind === 'atLeast' ? '>=' : '<='} ${ratio}`;
}

const verdictTexts: Readonly<Record<Verdict, string>> = { met: 'met', missed: 'missed', farOff: 'BELOW HALF' };

function row(...cells: readonly string[]): string {
  return cells
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join(' ')
    .trimEnd();
}

function scaled(value: number): string {
  if (Math.abs(value) >= 999_500) return `${digits(value / 1e6)} M`;
  if (Math.abs(value) >= 999.5) return `${digits(value / 1e3)} k`;
  return digits(value);
}

/** Three significant digits, of what is below one in ten four decimals; without exponent. */
function digits(value: number): string {
  if (!Number.isFinite(value)) return 'none';
  const size = Math.abs(value);
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  return value.toFixed(size >= 0.0995 || size === 0 ? 2 : 4);
}

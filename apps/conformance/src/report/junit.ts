/**
 * The same for whatever reads JUnit XML: a suite per topic and column, a case per run.
 *
 * Owns the format, as far as readers agree on it: counts, seconds, class and name, failure and output.
 */
import { nameOf } from '../matrix.ts';
import type { Outcome } from '../runner/outcome.ts';

export function junitReport(outcomes: readonly Outcome[], startedAt: Date, ms: number): string {
  const suites = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const name = `${outcome.run.topic} ${nameOf(outcome.run.cell)}`;
    suites.set(name, [...(suites.get(name) ?? []), outcome]);
  }
  const counts = `tests="${outcomes.length}" failures="${failures(outcomes)}" errors="0" skipped="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conformance" ${counts} time="${seconds(ms)}">`,
    ...[...suites].flatMap(([name, cases]) => suiteLines(name, cases, startedAt)),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteLines(name: string, cases: readonly Outcome[], startedAt: Date): readonly string[] {
  const counts = `tests="${cases.length}" failures="${failures(cases)}" errors="0" skipped="0"`;
  const time = `time="${seconds(cases.reduce((sum, { ms }) => sum + ms, 0))}"`;
  const timestamp = `timestamp="${startedAt.toISOString().slice(0, 19)}"`;
  return [
    `  <testsuite name="${escaped(name)}" ${counts} ${time} ${timestamp}>`,
    ...cases.flatMap((outcome) => caseLines(name, outcome)),
    '  </testsuite>',
  ];
}

function caseLines(suite: string, { run, ms, failure }: Outcome): readonly string[] {
  const name = `[${run.scenario.ids.join(' ')}] ${run.scenario.title}`;
  const opening = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}" time="${seconds(ms)}"`;
  if (failure === undefined) return [`${opening}/>`];
  const message = failure.text.split('\n')[0] ?? '';
  return [
    `${opening}>`,
    `      <failure message="${escaped(message)}">${escaped(failure.text)}</failure>`,
    `      <system-out>${escaped(failure.logs.join('\n'))}</system-out>`,
    '    </testcase>',
  ];
}

function failures(outcomes: readonly Outcome[]): number {
  return outcomes.filter(({ failure }) => failure !== undefined).length;
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Characters that XML 1.0 has no place for are shown as a question mark. */
function escaped(text: string): string {
  return [...text]
    .map((char) => (isXmlChar(char.codePointAt(0) ?? 0) ? (entities[char] ?? char) : '?'))
    .join('')
    .replaceAll('\n', '&#10;');
}

function isXmlChar(code: number): boolean {
  return (
    code === 0x9 ||
    code === 0xa ||
    code === 0xd ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    code >= 0x10000
  );
}

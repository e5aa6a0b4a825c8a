import { expect, test } from '@jest/globals';
import { atLeast, atMost } from '../src/bar.ts';
import { countVerdicts, hasFailed, reportOf } from '../src/report.ts';
import { closingLine, formatFigure, headerLine, listLines, scenarioLines } from '../src/table.ts';

const scenario = {
  name: 'link-one-way-64B',
  says: 'messages per second',
  unit: 'perSecond',
  comparisons: [
    { subject: 'link', reference: 'zeromq.js', bar: atLeast(25) },
    { subject: 'link', reference: 'node:net' },
  ],
} as const;

const figures = new Map([
  ['link', [3_000_000, 2_000_000, 2_500_000]],
  ['zeromq.js', [100_000, 100_000, 125_000]],
  ['node:net', [4_000_000, 4_000_000, 4_000_000]],
]);

test('[CORE-001] a report compares medians, round by round ratios and the bar', () => {
  const [first, second] = reportOf(scenario, figures).pairs;
  expect(first).toEqual({
    subject: 'link',
    reference: 'zeromq.js',
    subjectFigure: 2_500_000,
    referenceFigure: 100_000,
    ratio: 20,
    lowestRatio: 20,
    highestRatio: 30,
    bar: atLeast(25),
    verdict: 'missed',
  });
  expect(second).toMatchObject({ ratio: 0.625, bar: undefined, verdict: undefined });
});

test('[CORE-001] a contestant that was not measured is an error, not an empty figure', () => {
  expect(() => reportOf(scenario, new Map([['link', [1]]]))).toThrow('"zeromq.js" was not measured');
});

test('[CORE-001] the table has one line per comparison, the name on the first', () => {
  const lines = scenarioLines(reportOf(scenario, figures));
  expect(lines).toEqual([
    'link-one-way-64B                link 2.50 M/s                    zeromq.js 100 k/s                20.0 (20.0-30.0)         >= 25     missed',
    '                                link 2.50 M/s                    node:net 4.00 M/s                0.63 (0.50-0.75)',
  ]);
  expect(headerLine.indexOf('reference')).toBe(lines[0]?.indexOf('zeromq.js'));
});

test('[CORE-001] figures have three digits and their unit', () => {
  expect(formatFigure(64_960, 'perSecond')).toBe('65.0 k/s');
  expect(formatFigure(999, 'perSecond')).toBe('999/s');
  expect(formatFigure(999_900, 'perSecond')).toBe('1.00 M/s');
  expect(formatFigure(1_234.5, 'megabytesPerSecond')).toBe('1235 MB/s');
  expect(formatFigure(163.2, 'microseconds')).toBe('163 µs');
  expect(formatFigure(2.984, 'nanoseconds')).toBe('2.98 ns');
  expect(formatFigure(NaN, 'mebibytes')).toBe('none MiB');
});

test('[CORE-001] the list names each comparison and its bar', () => {
  expect(listLines({ ...scenario, measure: async () => figures })).toEqual([
    'link-one-way-64B',
    '  messages per second',
    '  link over zeromq.js: >= 25',
    '  link over node:net: information',
  ]);
});

test('[CORE-001] verdicts are counted over all scenarios', () => {
  const limits = { ...scenario, comparisons: [{ subject: 'node:net', reference: 'link', bar: atMost(0.5) }] };
  const counts = countVerdicts([reportOf(scenario, figures), reportOf(limits, figures)]);
  expect(counts).toEqual({ met: 0, missed: 1, farOff: 1 });
  expect(closingLine(counts)).toBe('0 bars met, 1 missed, 1 below half');
});

test('[CORE-001] a quick run fails only below half of a bar, a strict one at every missed bar', () => {
  const missed = { met: 3, missed: 1, farOff: 0 };
  const farOff = { met: 3, missed: 0, farOff: 1 };
  expect(hasFailed(missed, { quick: true, strict: false })).toBe(false);
  expect(hasFailed(farOff, { quick: true, strict: false })).toBe(true);
  expect(hasFailed(farOff, { quick: false, strict: false })).toBe(false);
  expect(hasFailed(missed, { quick: false, strict: true })).toBe(true);
  expect(hasFailed({ met: 3, missed: 0, farOff: 0 }, { quick: true, strict: true })).toBe(false);
});

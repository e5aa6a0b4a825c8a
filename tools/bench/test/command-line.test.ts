import { expect, test } from '@jest/globals';
import { parseCommandLine, UsageError } from '../src/command-line.ts';
import { fullConditions, quickConditions } from '../src/scenario.ts';
import { catalogue } from '../src/scenarios/catalogue.ts';

const parse = (...args: readonly string[]) => parseCommandLine(args, catalogue);

test('[CORE-001] without options everything is measured under full conditions', () => {
  expect(parse()).toMatchObject({ quick: false, strict: false, list: false, conditions: fullConditions });
  expect(parse().scenarios).toBe(catalogue);
});

test('[CORE-001] quick measures all but the long ones, unless they are named, and for a shorter time', () => {
  const short = catalogue.filter(({ isLong }) => isLong !== true);
  expect(short.length).toBeGreaterThan(10);
  expect(parse('--quick')).toMatchObject({ quick: true, conditions: quickConditions, scenarios: short });
  const named = parse('--quick', '--only', 'fanout').scenarios.map(({ name }) => name);
  expect(named).toEqual(['fanout-64B', 'fanout-1KiB', 'fanout-stopped-64B']);
  expect(quickConditions.rounds).toBeGreaterThanOrEqual(5);
});

test('[CORE-001] scenarios are chosen by part of their name, in the order of the catalogue', () => {
  const names = parse('--only', 'selection', '--only', 'one-way').scenarios.map(({ name }) => name);
  expect(names).toEqual(['link-one-way-64B', 'link-one-way-1KiB', 'selection', 'mesh-selection']);
});

test('[CORE-001] rounds replace those of either mode', () => {
  expect(parse('--quick', '--rounds', '9').conditions).toEqual({ ...quickConditions, rounds: 9 });
});

test.each([['--rounds', '4'], ['--rounds', 'many'], ['--only', 'nothing'], ['--fast'], ['quick']])(
  '[CORE-001] %s %s is refused',
  (...args) => {
    expect(() => parse(...args)).toThrow(UsageError);
  },
);

test('[CORE-001] every pattern has a name of its own and at least one bar, but for codecs, which are told apart', () => {
  const names = catalogue.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { name, comparisons } of catalogue) {
    expect(comparisons.length).toBeGreaterThan(0);
    const hasBar = comparisons.some(({ bar }) => bar !== undefined);
    expect([name, hasBar]).toEqual([name, !name.startsWith('codec-')]);
  }
});

import { readArguments, usage } from '../src/arguments.ts';
import { catalogue } from '../src/catalogue.ts';
import { topics } from '../src/scenario.ts';

test('[CALL-004] without arguments everything runs, and reports have their place', () => {
  expect(readArguments([])).toMatchObject({ list: false, full: false, only: [], topics: [], filter: {} });
  expect(readArguments([])).toMatchObject({ against: undefined, out: '.cache/conformance' });
});

test('[CALL-004] ids may be repeated or listed, in any case', () => {
  const options = readArguments(['--only', 'wrr, cs-008', '--only', 'LOC']);
  expect(options).toMatchObject({ only: ['WRR', 'CS-008', 'LOC'] });
});

test('[CALL-004] topics may be repeated or listed, in any case', () => {
  const options = readArguments(['--topic', 'channels, Location', '--topic', 'observability']);
  expect(options).toMatchObject({ only: [], topics: ['channels', 'location', 'observability'] });
});

test('[CALL-004] the topics that are known are those of the catalogue, in its order', () => {
  expect(catalogue.map(({ topic }) => topic)).toEqual(topics);
});

test('[CALL-004] help is no run', () => {
  expect(readArguments(['--help'])).toBe('help');
  for (const option of ['--list', '--only', '--topic', '--matrix', '--full', '--against', '--out', '--jobs']) {
    expect(usage).toContain(option);
  }
});

test.each([
  [['--matrix', 'redis,xml'], /--matrix: "xml" is not allowed, allowed: manual, memory, redis; json, .*; plain, curve/],
  [['--against', 'somewhere'], /--against: "somewhere" is not allowed, allowed: tcp:\/\/host:port/],
  [['--jobs', '0'], /--jobs: "0" is not allowed, allowed: integer 1\.\.32/],
  [['--jobs', ''], /--jobs: "" is not allowed/],
  [['--only', ''], /--only: "" is not allowed/],
  [
    ['--topic', 'channels,chanels'],
    /--topic: "chanels" is not allowed, allowed: foundation, transport, channels, location, lifecycle, observability/,
  ],
  [['--topic', ''], /--topic: "" is not allowed, allowed: foundation, /],
  [['--out', ' '], /--out: "" is not allowed/],
  [['--nonsense'], /--nonsense/],
  [['nonsense'], /nonsense/],
])('[ERR-002] %j is refused with the option, its value and what is allowed', (args, text) => {
  expect(() => readArguments(args)).toThrow(text);
});

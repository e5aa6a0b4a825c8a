import { expect, test } from '@jest/globals';
import { UsageError } from '../src/command-line.ts';
import { delayLines, idleLines, loadLines } from '../src/store/lines.ts';
import { parseOrder } from '../src/store/order.ts';
import { commandCounts, processorMs } from '../src/store/server-counts.ts';

const commandStats = [
  '$400',
  '# Commandstats',
  'cmdstat_hmget:calls=300,usec=450,usec_per_call=1.50,rejected_calls=0,failed_calls=0',
  'cmdstat_evalsha:calls=120,usec=6000,usec_per_call=50.00,rejected_calls=0,failed_calls=1',
  'cmdstat_config|resetstat:calls=1,usec=60,usec_per_call=60.00,rejected_calls=0,failed_calls=0',
  '',
].join('\r\n');

test('[REDIS-006] counts of commands are read as the server tells them, most calls first', () => {
  expect(commandCounts(commandStats)).toEqual([
    { name: 'hmget', calls: 300, totalUs: 450, isSent: false },
    { name: 'evalsha', calls: 120, totalUs: 6_000, isSent: true },
    { name: 'config|resetstat', calls: 1, totalUs: 60, isSent: true },
  ]);
  expect(commandCounts('$0\r\n\r\n')).toEqual([]);
});

test('[REDIS-006] the processor time of a server is that of all its threads, without its children', () => {
  const info =
    'used_cpu_sys:1.500000\r\nused_cpu_user:2.250000\r\nused_cpu_sys_children:9.0\r\nused_cpu_user_children:9.0\r\n' +
    'used_cpu_sys_main_thread:1.4\r\nused_cpu_user_main_thread:2.2\r\n';
  expect(processorMs(info)).toBe(3_750);
  expect(() => processorMs('-NOAUTH\r\n')).toThrow('does not tell');
});

test('[REDIS-006] a table of load has one line per contestant, with its time in Redis and its ratios', () => {
  const row = { p50Us: 812, p99Us: 1_530, processorShare: 0.914 };
  const ratios = { SET: { median: 0.183, low: 0.17, high: 0.2 } };
  const [head, redis, set, end] = loadLines({
    name: 'reservations, 16 in flight',
    inFlight: 16,
    rows: [
      { name: 'Redis store', ...row, perSecond: 11_234, serverUs: 61.4, ratios },
      { name: 'SET', ...row, perSecond: 61_000, serverUs: undefined, ratios: {} },
    ],
    rounds: {},
  });
  expect(head?.startsWith('reservations, 16 in flight ')).toBe(true);
  expect(redis?.split(/ {2,}/)).toEqual([
    '',
    'Redis store',
    '11.2 k/s',
    '812 µs',
    '1530 µs',
    '61.4 µs',
    '91 %',
    '0.18 (0.17-0.20) of SET',
  ]);
  expect(set?.split(/ {2,}/)).toEqual(['', 'SET', '61.0 k/s', '812 µs', '1530 µs', '91 %']);
  expect(redis?.indexOf('91 %')).toBe(set?.indexOf('91 %'));
  expect(end).toBe('');
});

test('[LOC-061] a table of delays has median and extremes, in seconds from ten on', () => {
  const [, line] = delayLines([{ what: 'gone', count: 7, medianMs: 612.4, lowestMs: 1.26, highestMs: 32_450 }]);
  expect(line?.split(/ {2,}/)).toEqual(['', 'gone', '612 ms', '1.3 ms', '32.5 s', '7']);
});

test('[LOC-050] a table of idle hosts counts commands per host and minute, those of scripts apart', () => {
  const lines = idleLines({
    hostCount: 30,
    processCount: 30,
    restMs: 120_000,
    elapsedMs: 120_000,
    serverCount: 10,
    commands: commandCounts(commandStats).filter(({ name }) => !name.startsWith('config')),
    redisShare: 0.0123,
    hostShare: 0.06,
  });
  expect(lines).toEqual([
    '30 idle hosts in 30 processes, 10 of them servers; 120 s',
    'commands sent per host and minute 2.0',
    '  evalsha              2.0',
    'run by scripts, per host and minute',
    '  hmget                5.0',
    'processor time of Redis   1.23 % of one processor',
    'processor time of hosts   0.20 % of one processor per host, 6.00 % together',
    '',
  ]);
});

test('[REDIS-006] without options everything is measured, with 30 hosts in 30 processes', () => {
  expect(parseOrder([])).toEqual({
    parts: ['commits', 'reads', 'delays', 'idle'],
    rounds: 7,
    idle: { hostCount: 30, processCount: 30, restMs: 60_000 },
    json: undefined,
  });
});

test('[REDIS-006] parts, rounds and hosts are chosen', () => {
  const args = '--only idle --only commits --rounds 9 --hosts 12 --processes 3 --rest 5 --json out.json'.split(' ');
  expect(parseOrder(args)).toEqual({
    parts: ['commits', 'idle'],
    rounds: 9,
    idle: { hostCount: 12, processCount: 3, restMs: 5_000 },
    json: 'out.json',
  });
});

test.each([
  ['--only', 'everything'],
  ['--rounds', '4'],
  ['--hosts', '1'],
  ['--processes', '31'],
  ['--rest', 'long'],
  ['--fast', ''],
])('[REDIS-006] %s %s is refused', (...args) => {
  expect(() => parseOrder(args)).toThrow(UsageError);
});

import { expect, test } from '@jest/globals';
import { atLeast, atMost, judge } from '../src/bar.ts';

test('[CORE-001] a ratio at its bar meets it, from half of it on it is missed, below it is far off', () => {
  expect([10, 9.99, 5, 4.99].map((ratio) => judge(ratio, atLeast(10)))).toEqual(['met', 'missed', 'missed', 'farOff']);
});

test('[CORE-001] a limit is met at its value, missed up to twice as much, above it is far off', () => {
  expect([1.1, 1.11, 2.2, 2.21].map((ratio) => judge(ratio, atMost(1.1)))).toEqual([
    'met',
    'missed',
    'missed',
    'farOff',
  ]);
});

test('[CORE-001] a ratio that is no number is far off whatever the bar', () => {
  expect([judge(NaN, atLeast(0.5)), judge(NaN, atMost(2))]).toEqual(['farOff', 'farOff']);
});

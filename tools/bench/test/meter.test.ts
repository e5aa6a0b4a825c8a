import { expect, test } from '@jest/globals';
import { Meter } from '../src/meter.ts';

function meterAt() {
  const clock = { nowMs: 0 };
  return { clock, meter: new Meter(() => clock.nowMs) };
}

test('[CORE-002] a measurement ends with the last announced message, at its moment', async () => {
  const { clock, meter } = meterAt();
  meter.arm(3);
  const finished = meter.finished();
  for (const atMs of [5, 7, 11]) {
    clock.nowMs = atMs;
    meter.tick();
  }
  clock.nowMs = 100;
  expect(await finished).toBe(11);
  expect(await meter.finished()).toBe(11);
});

test('[CORE-002] a second measurement counts anew', async () => {
  const { clock, meter } = meterAt();
  for (const atMs of [1, 2]) {
    meter.arm(2);
    clock.nowMs = atMs;
    meter.tick();
    meter.tick();
    expect(await meter.finished()).toBe(atMs);
  }
});

test('[CORE-002] a measurement that got too few messages cannot be followed by another', () => {
  const { meter } = meterAt();
  meter.arm(2);
  meter.tick();
  expect(() => meter.arm(2)).toThrow('1 messages arrived, 2 were announced');
});

test('[CORE-002] a message too many is noticed', () => {
  const { meter } = meterAt();
  meter.arm(1);
  meter.tick();
  meter.tick();
  expect(() => meter.arm(1)).toThrow('2 messages arrived, 1 were announced');
});

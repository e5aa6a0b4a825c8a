import { ManualClock } from '@zlink/testing';
import { LoopWatch } from '@zlink/kernel/observe';

function watch() {
  const clock = new ManualClock();
  const stalls: number[] = [];
  return { clock, stalls, loopWatch: new LoopWatch(clock, (stalledMs) => stalls.push(stalledMs)) };
}

test('[C16] a loop that turns is no stall, however long', () => {
  const { clock, stalls } = watch();
  clock.advance(600_000);
  expect(stalls).toEqual([]);
});

test.each([
  [0, 1_500],
  [0, 4_000],
  [250, 1_500],
  [499, 1_500],
])('[C16] %d ms after a check, a stall of %d ms is reported once', (sinceMs, stallMs) => {
  const { clock, stalls } = watch();
  clock.advance(10_000 + sinceMs);
  clock.stall(stallMs);
  clock.advance(60_000);
  expect(stalls).toEqual([stallMs - (500 - sinceMs)]);
});

test('[C16] a stall below a second is none, and two stalls are two', () => {
  const { clock, stalls } = watch();
  clock.advance(499);
  clock.stall(1_000);
  clock.advance(500);
  expect(stalls).toEqual([]);
  for (const stallMs of [3_000, 2_000]) {
    clock.stall(stallMs);
    clock.advance(500);
  }
  expect(stalls).toHaveLength(2);
});

test('[C16] once stopped it leaves no timer', () => {
  const { clock, stalls, loopWatch } = watch();
  expect(clock.pendingTimers).toBe(1);
  loopWatch.stop();
  loopWatch.stop();
  expect(clock.pendingTimers).toBe(0);
  clock.stall(5_000);
  clock.advance(5_000);
  expect(stalls).toEqual([]);
});

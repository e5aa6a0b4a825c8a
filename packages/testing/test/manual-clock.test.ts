import { DeadlineWheel } from '@zlink/kernel/internal/time';
import { ManualClock } from '../src/index.ts';

test('[LIVE-004] timers fire in the order of their due time, those set while advancing included', () => {
  const clock = new ManualClock(0);
  const fired: string[] = [];
  const note = (what: string) => () => fired.push(`${what}@${clock.nowMs()}`);
  clock.setTimer(note('late'), 30);
  clock.setTimer(note('first of two'), 10);
  clock.setTimer(note('second of two'), 10);
  clock.setTimer(() => clock.setTimer(note('nested'), 5), 12);
  clock.advance(29);
  expect(fired).toEqual(['first of two@10', 'second of two@10', 'nested@17']);
  expect(clock.nowMs()).toBe(29);
  expect(clock.pendingTimers).toBe(1);
  expect(clock.nextDueAtMs).toBe(30);
  clock.advance(1);
  expect(fired.at(-1)).toBe('late@30');
  expect(clock.pendingTimers).toBe(0);
});

test('[LIVE-004] a cleared timer never fires, clearing twice or after firing does nothing', () => {
  const clock = new ManualClock();
  let count = 0;
  const cleared = clock.setTimer(() => count++, 1);
  const fires = clock.setTimer(() => count++, 1);
  clock.clearTimer(cleared);
  clock.clearTimer(cleared);
  clock.advance(5);
  clock.clearTimer(fires);
  expect(count).toBe(1);
});

test('[LIVE-004] a timer that sets itself again with no delay still lets an advance end', () => {
  const clock = new ManualClock();
  let count = 0;
  const again = (): void => {
    count++;
    clock.setTimer(again, 0);
  };
  clock.setTimer(again, 0);
  clock.advance(10);
  expect(count).toBe(10);
});

test('[LIVE-004] what the platform would misread is refused: delays out of range, time backwards', () => {
  const clock = new ManualClock();
  for (const delayMs of [NaN, Infinity, 2_147_483_648]) {
    expect(() => clock.setTimer(() => undefined, delayMs)).toThrow(RangeError);
  }
  for (const ms of [-1, NaN, Infinity]) expect(() => clock.advance(ms)).toThrow(RangeError);
  expect(clock.pendingTimers).toBe(0);
});

test('[LIVE-004] advanceAsync lets promises and setImmediate callbacks run before the next timer', async () => {
  const clock = new ManualClock(0);
  const order: string[] = [];
  clock.setTimer(() => {
    order.push('first');
    void Promise.resolve().then(() => order.push('promise'));
    setImmediate(() => {
      order.push('immediate');
      clock.setTimer(() => order.push(`set by immediate@${clock.nowMs()}`), 5);
    });
  }, 10);
  clock.setTimer(() => order.push('last'), 20);
  await clock.advanceAsync(20);
  expect(order).toEqual(['first', 'promise', 'immediate', 'set by immediate@15', 'last']);
  expect(clock.nowMs()).toBe(20);
});

test('[LIVE-002] after a stall due timers fire late, and a deadline wheel lets the reads go first', async () => {
  const clock = new ManualClock();
  const order: string[] = [];
  const wheel = new DeadlineWheel({
    clock,
    onError: () => undefined,
    afterReads: (callback) => {
      order.push('reads');
      callback();
    },
  });
  let firedAtMs = 0;
  wheel.add({
    deadlineAtMs: clock.nowMs() + 100,
    wheelSlot: -1,
    wheelNext: undefined,
    wheelPrevious: undefined,
    onDeadline: (nowMs) => {
      order.push('deadline');
      firedAtMs = nowMs;
    },
  });
  const startMs = clock.nowMs();
  clock.stall(4_000);
  expect(firedAtMs).toBe(0);
  await clock.advanceAsync(50);
  expect(firedAtMs).toBeGreaterThanOrEqual(startMs + 4_000);
  expect(order).toEqual(['reads', 'deadline']);
  wheel.close();
});

test('[LIVE-004] a callback that stalls beyond the end of an advance does not turn time back', async () => {
  const clock = new ManualClock(0);
  clock.setTimer(() => clock.stall(100), 5);
  clock.advance(10);
  expect(clock.nowMs()).toBe(105);
  clock.setTimer(() => clock.stall(100), 5);
  await clock.advanceAsync(10);
  expect(clock.nowMs()).toBe(210);
});

test('[LIVE-004] steps that are no number, or longer than ten years, are refused at once', async () => {
  const clock = new ManualClock(0);
  clock.setTimer(function again() {
    clock.setTimer(again, 1);
  }, 1);
  for (const bad of ['5', 5n, null, 1e12, 315_576_000_001] as number[]) {
    await expect(clock.advanceAsync(bad)).rejects.toThrow(RangeError);
    expect(() => clock.advance(bad)).toThrow(RangeError);
    expect(() => clock.stall(bad)).toThrow(RangeError);
    expect(() => clock.setTimer(() => undefined, bad)).toThrow(RangeError);
  }
  for (const bad of ['5', NaN] as number[]) expect(() => new ManualClock(bad)).toThrow(RangeError);
  expect(clock.nowMs()).toBe(0);
  clock.stall(315_576_000_000);
  expect(clock.nowMs()).toBe(315_576_000_000);
});

test('[HOSTREG-005] the calendar begins at the same date whenever the clock does, in whole ms, and moves with it', () => {
  for (const startAtMs of [0, 1_000, -2_000.5]) {
    const clock = new ManualClock(startAtMs);
    expect(new Date(clock.dateMs()).toISOString()).toBe('2030-01-01T00:00:00.000Z');
    clock.advance(1_500.75);
    clock.stall(500);
    expect(new Date(clock.dateMs()).toISOString()).toBe('2030-01-01T00:00:02.000Z');
    expect(Number.isInteger(clock.dateMs())).toBe(true);
  }
});

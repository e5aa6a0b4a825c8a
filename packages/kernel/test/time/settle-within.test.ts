import { ManualClock } from '@zlink/testing';
import { settleWithin } from '../../src/internal/time/index.ts';

test('[CORE-011] an end is waited for within its limit, and no timer is left', async () => {
  const clock = new ManualClock();
  await settleWithin(Promise.resolve(), 100, clock);
  expect(clock.pendingTimers).toBe(0);
  let isOver = false;
  void settleWithin(new Promise(() => undefined), 100, clock).then(() => (isOver = true));
  await clock.advanceAsync(99);
  expect(isOver).toBe(false);
  await clock.advanceAsync(1);
  expect(isOver).toBe(true);
  expect(clock.pendingTimers).toBe(0);
});

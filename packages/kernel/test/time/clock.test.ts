import { afterPendingReads, systemClock, systemRandom } from '../../src/internal/time/index.ts';

test('[CALL-003] a timer of the system clock fires once, after its delay', async () => {
  const startMs = systemClock.nowMs();
  let fired = 0;
  await new Promise<void>((resolve) => {
    systemClock.setTimer(() => {
      fired++;
      resolve();
    }, 4.2);
  });
  expect(fired).toBe(1);
  expect(systemClock.nowMs() - startMs).toBeGreaterThan(3); // the loop's own time is whole milliseconds
});

test('[CALL-003] a cleared timer does not fire', async () => {
  let fired = false;
  const handle = systemClock.setTimer(() => (fired = true), 0);
  systemClock.clearTimer(handle);
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, 2));
  systemClock.clearTimer(handle);
  expect(fired).toBe(false);
});

test('[CORE-011] a background timer fires like any other, but keeps no process alive', async () => {
  let fired = 0;
  const handle = systemClock.setBackgroundTimer(() => fired++, 1);
  expect((handle as NodeJS.Timeout).hasRef()).toBe(false);
  systemClock.clearTimer(systemClock.setBackgroundTimer(() => (fired += 10), 1));
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, 20));
  expect(fired).toBe(1);
});

test('[LIVE-002] what the event loop has ready comes before what waits for pending reads', async () => {
  const seen: string[] = [];
  const settled = new Promise<void>((resolve) => {
    afterPendingReads(() => {
      seen.push('after');
      resolve();
    });
  });
  setImmediate(() => {
    seen.push('this turn');
    setImmediate(() => seen.push('next turn'));
  });
  await settled;
  expect(seen).toEqual(['this turn', 'after']);
  await new Promise((resolve) => setImmediate(resolve));
});

test('[CORE-009] the system has chance in [0, 1)', () => {
  const drawn = Array.from({ length: 50 }, systemRandom);
  for (const value of drawn) expect(value >= 0 && value < 1).toBe(true);
  expect(new Set(drawn).size).toBeGreaterThan(1);
});

import { ManualClock, loopTurns } from '@zlink/testing';
import { type Flushable, Flusher } from '../../../src/internal/link/flusher.ts';

function flushable(log: string[], name: string, then?: () => void): Flushable {
  return {
    flush: () => {
      log.push(name);
      then?.();
    },
  };
}

test('[CORE-001] what was scheduled in one turn is flushed at its end, in order, and not in a microtask', async () => {
  const flusher = new Flusher(new ManualClock());
  const log: string[] = [];
  flusher.schedule(flushable(log, 'a'));
  flusher.schedule(flushable(log, 'b'));
  await Promise.resolve();
  expect(log).toEqual([]);
  await loopTurns(1);
  expect(log).toEqual(['a', 'b']);
});

test('[CORE-001] what a flush schedules leaves in the next turn', async () => {
  const flusher = new Flusher(new ManualClock());
  const log: string[] = [];
  flusher.schedule(flushable(log, 'a', () => flusher.schedule(flushable(log, 'b'))));
  await loopTurns(1);
  expect(log).toEqual(['a']);
  await loopTurns(1);
  expect(log).toEqual(['a', 'b']);
});

test('[CORE-004] idle links are flushed once after 20 ms, on one timer for all of them', () => {
  const clock = new ManualClock();
  const flusher = new Flusher(clock);
  const log: string[] = [];
  const [a, b] = [flushable(log, 'a'), flushable(log, 'b')];
  for (const link of [a, b, a]) flusher.scheduleIdle(link);
  expect(clock.pendingTimers).toBe(1);
  clock.advance(19);
  expect(log).toEqual([]);
  clock.advance(1);
  expect([log, clock.pendingTimers]).toEqual([['a', 'b'], 0]);
  flusher.scheduleIdle(a);
  clock.advance(20);
  expect(log).toEqual(['a', 'b', 'a']);
});

test('[CORE-011] a closed flusher has no timer and sets none, although links still end', async () => {
  const clock = new ManualClock();
  const flusher = new Flusher(clock);
  const log: string[] = [];
  flusher.scheduleIdle(flushable(log, 'idle'));
  flusher.close();
  expect(clock.pendingTimers).toBe(0);
  flusher.scheduleIdle(flushable(log, 'late'));
  expect(clock.pendingTimers).toBe(0);
  flusher.schedule(flushable(log, 'last words'));
  await loopTurns(1);
  clock.advance(100);
  expect(log).toEqual(['last words']);
});

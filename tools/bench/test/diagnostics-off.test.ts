import { expect, jest, test } from '@jest/globals';
import { systemClock } from '@zlink/kernel/internal/time';
import { MessageFlow, RateLimitedLog } from '@zlink/kernel/observe';
import { costOf, countLooks, timeLooks } from '../src/flow-looks.ts';
import { quietLogger } from '../src/quiet-logger.ts';
import { quickConditions } from '../src/scenario.ts';
import { diagnosticsOff } from '../src/scenarios/diagnostics-off.ts';

jest.setTimeout(60_000); // tells a hang from a success, also on a machine that has no time for the test

const log = new RateLimitedLog(quietLogger, systemClock);
const flow = new MessageFlow({ clock: systemClock, logger: quietLogger, log, level: 'off' });

test('[TRACE-010] each use of a member counts while the counted runs, and its answer stays what it is', async () => {
  const answers: unknown[] = [];
  const counts = await countLooks(async () => {
    answers.push(flow.isOff, flow.isOff, flow.join(undefined, undefined), flow.records(undefined));
  });
  expect(answers).toEqual([true, true, undefined, false]);
  // `records` looks at `isFollowing` itself.
  expect(Object.fromEntries(counts)).toEqual({ isOff: 2, join: 1, records: 1, isFollowing: 1 });
});

test('[TRACE-010] the class is what it was after counting, also if what was counted has failed', async () => {
  const before = Object.getOwnPropertyDescriptors(MessageFlow.prototype);
  const failing = countLooks(async () => {
    throw new Error('no way');
  });
  await expect(failing).rejects.toThrow('no way');
  expect(Object.getOwnPropertyDescriptors(MessageFlow.prototype)).toEqual(before);
});

test('[TRACE-010] a cost is the sum of counts times nanoseconds, and nothing passes for free', () => {
  const times = new Map([
    ['isOff', 2],
    ['join', 3],
  ]);
  const looks = new Map([
    ['isOff', 10],
    ['join', 1],
  ]);
  expect(costOf(looks, times)).toBe(23);
  expect(() => costOf(new Map([['note', 1]]), times)).toThrow('"note" is used at off and not timed');
  expect(() => costOf(new Map(), times)).toThrow('nobody looked at the level');
});

test('[TRACE-010] one look takes nanoseconds, whichever it is', () => {
  const times = [...timeLooks().values()];
  expect(times).toHaveLength(7);
  expect(Math.min(...times)).toBeGreaterThan(0);
  expect(Math.max(...times)).toBeLessThan(10_000);
});

test.each(diagnosticsOff)('[TRACE-010] $name times messages and the looks that they take', async (scenario) => {
  const conditions = { ...quickConditions, sliceMs: 8, warmUpMs: 8 };
  const figures = await scenario.measure(conditions);
  expect([...figures.keys()]).toEqual(['looks', 'message']);
  const [looks = [], message = []] = figures.values();
  expect([looks.length, message.length]).toEqual([conditions.rounds, conditions.rounds]);
  expect(Math.min(...looks)).toBeGreaterThan(0);
  expect(Math.max(...looks)).toBeLessThan(Math.min(...message)); // less than all of it
});

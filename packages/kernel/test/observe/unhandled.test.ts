import { loopTurns, ManualClock } from '@zlink/testing';
import { guardUnhandled, RateLimitedLog, type UnhandledListener } from '../../src/observe/index.ts';

function arrange(listener: UnhandledListener) {
  const errors: object[] = [];
  const ignore = (): void => undefined;
  const clock = new ManualClock();
  const logger = { debug: ignore, info: ignore, warn: ignore, error: (record: object) => void errors.push(record) };
  return { errors, clock, guarded: guardUnhandled(listener, new RateLimitedLog(logger, clock)) };
}

test('[DISP-004] a guarded listener is told the same error and place, once', () => {
  const told: unknown[] = [];
  const { guarded, errors } = arrange((error, { where }) => void told.push([error, where]));
  const error = new Error('no');
  guarded(error, { where: 'here' });
  expect(told).toEqual([[error, 'here']]);
  expect(errors).toEqual([]);
});

const broken = (): never => {
  throw new Error('listener is broken');
};
const rejecting = (async () => broken()) as () => void; // an async listener fits the contract

test.each([
  ['throws', broken],
  ['rejects', rejecting],
])('[C11] a listener that %s is logged at most once per second and reaches nobody', async (_, listener) => {
  const { guarded, errors, clock } = arrange(listener);
  const failure = { eventId: 'zlink.runtime.on_unhandled_failed', where: 'here', error: 'listener is broken' };
  for (let round = 0; round < 3; round++) guarded(new Error('no'), { where: 'here' });
  await loopTurns(1);
  expect(errors).toEqual([failure]);
  await clock.advanceAsync(1_000);
  expect(errors).toEqual([failure, { ...failure, suppressed: 2 }]);
});

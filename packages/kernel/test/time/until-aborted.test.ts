import { getEventListeners } from 'node:events';
import { untilAborted } from '../../src/internal/time/until-aborted.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('[DRAIN-005] work is waited for until it ends, either way, or the signal aborts; no listener is left', async () => {
  const deadline = new AbortController();
  const { signal } = deadline;
  const never = new Promise<void>(() => undefined);
  await untilAborted(signal, Promise.resolve());
  await untilAborted(signal, Promise.reject(new Error('failed')));
  expect(listeners(signal)).toBe(0);
  const late = untilAborted(signal, never);
  expect(listeners(signal)).toBe(1);
  deadline.abort();
  await late;
  expect(listeners(signal)).toBe(0);
  await untilAborted(signal, never);
  expect(listeners(signal)).toBe(0);
});

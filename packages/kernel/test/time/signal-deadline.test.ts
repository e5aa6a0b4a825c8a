import { deadlineOf, hasDeadline, setDeadline } from '../../src/internal/time/index.ts';

test('[WIRE-006] a signal remembers the deadline of the work it was given for', () => {
  const { signal } = new AbortController();
  expect(deadlineOf(signal)).toBeUndefined();
  expect(hasDeadline(signal)).toBe(false);
  setDeadline(signal, 500);
  expect([deadlineOf(signal), hasDeadline(signal), hasDeadline(undefined)]).toEqual([500, true, false]);
  expect(signal.aborted).toBe(false);
});

test('[WIRE-006] a deadline never moves away', () => {
  const { signal } = new AbortController();
  setDeadline(signal, 500);
  setDeadline(signal, 900);
  expect(deadlineOf(signal)).toBe(500);
  setDeadline(signal, 100);
  expect(deadlineOf(signal)).toBe(100);
});

test('[WIRE-006] a derived signal is another signal', () => {
  const { signal } = new AbortController();
  setDeadline(signal, 500);
  expect(deadlineOf(AbortSignal.any([signal]))).toBeUndefined();
});

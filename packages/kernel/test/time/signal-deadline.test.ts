import { deadlineOf, withDeadline } from '../../src/internal/time/index.ts';

test('[WIRE-006] a signal remembers the deadline of the work it was given for', () => {
  const { signal } = new AbortController();
  expect(deadlineOf(signal)).toBeUndefined();
  expect(withDeadline(signal, 500)).toBe(signal);
  expect(deadlineOf(signal)).toBe(500);
  expect(signal.aborted).toBe(false);
});

test('[WIRE-006] a deadline never moves away', () => {
  const { signal } = new AbortController();
  withDeadline(signal, 500);
  withDeadline(signal, 900);
  expect(deadlineOf(signal)).toBe(500);
  withDeadline(signal, 100);
  expect(deadlineOf(signal)).toBe(100);
});

test('[WIRE-006] a derived signal is another signal', () => {
  const { signal } = new AbortController();
  withDeadline(signal, 500);
  expect(deadlineOf(AbortSignal.any([signal]))).toBeUndefined();
});

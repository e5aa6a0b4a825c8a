/**
 * Deadlines of the signals that the framework gave to handlers.
 *
 * Owns the memory from signal to deadline. A call that a handler starts with its signal asks here, so that it never
 * gets more time than the handler has. A signal that an application derived from it is another signal and carries none.
 *
 * 1. A deadline only ever moves nearer.
 */

const deadlines = new WeakMap<AbortSignal, number>();

/** The instant of the injected clock at which the work behind `signal` runs out, if the framework set one. */
export function deadlineOf(signal: AbortSignal): number | undefined {
  return deadlines.get(signal);
}

/** Whether it is the signal of a handler. */
export function hasDeadline(signal: AbortSignal | undefined): boolean {
  return signal !== undefined && deadlines.has(signal);
}

/** Remembers the deadline; it does not abort the signal. */
export function setDeadline(signal: AbortSignal, atMs: number): void {
  const known = deadlines.get(signal);
  if (known === undefined || atMs < known) deadlines.set(signal, atMs);
}

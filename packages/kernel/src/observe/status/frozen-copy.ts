/**
 * A deep copy of plain data that nobody can change.
 *
 * 1. Nothing of the original is in it, and what was a getter is a value: it may have been a view into live tables (MON-001).
 */

/** @param value - objects, arrays, dates and primitive values; no cycles, no functions */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T; // of the same shape
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return Object.freeze(new Date(value));
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)])));
}

/**
 * A deep copy of plain data that nobody can change.
 *
 * 1. Nothing of the original is in it, and what was a getter is a value: it may have been a view into live tables (MON-001).
 * 2. No two readers get the same date: freezing locks a date's properties and not its time, and the copy may have several
 *    owners (MON-013).
 */

/** @param value - objects, arrays and primitive values, dates as fields of objects; no cycles, no functions */
export function frozenCopy<T>(value: T): T {
  return copy(value) as T; // of the same shape
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  const copied: object = {};
  for (const [name, part] of Object.entries(value)) Object.defineProperty(copied, name, fieldOf(part));
  return Object.freeze(copied);
}

function fieldOf(part: unknown): PropertyDescriptor {
  if (!(part instanceof Date)) return { value: copy(part), enumerable: true };
  const timeMs = part.getTime();
  return { get: () => Object.freeze(new Date(timeMs)), enumerable: true }; // 2
}

/**
 * Values of JSON from another process, read into values of a known type.
 *
 * Owns that what is read has the type it seems to have. Leaves what it means to the report.
 *
 * 1. What does not fit throws `Misfit` with its place; nothing is guessed.
 * 2. Fields that are not known are left out: a newer host may show more.
 * 3. No depth of a value exhausts the stack.
 */
export type Reader<T> = (value: unknown, place: string) => T;

export class Misfit extends Error {}

export const text: Reader<string> = (value, place) =>
  typeof value === 'string' ? value : fail(place, 'is not a text');

/** A text of which the first `length` characters are kept. */
export function textOf(length: number): Reader<string> {
  return (value, place) => {
    const whole = text(value, place);
    return whole.length > length ? `${whole.slice(0, length - 1)}…` : whole;
  };
}

export const number: Reader<number> = (value, place) =>
  typeof value === 'number' ? value : fail(place, 'is not a number');

export const flag: Reader<boolean> = (value, place) =>
  typeof value === 'boolean' ? value : fail(place, 'is neither true nor false');

/** ISO 8601. */
export const date: Reader<Date> = (value, place) => {
  const read = new Date(text(value, place));
  return Number.isNaN(read.getTime()) ? fail(place, 'is no date') : read;
};

/** In decimal: JSON has no integers beyond 53 bits. */
export const integer: Reader<bigint> = (value, place) => {
  const digits = text(value, place);
  return /^-?\d{1,40}$/.test(digits) ? BigInt(digits) : fail(place, 'is no integer');
};

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, place) => (value === undefined ? undefined : read(value, place));
}

export function list<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, place) =>
    Array.isArray(value) ? value.map((item, at) => read(item, `${place}[${at}]`)) : fail(place, 'is no list');
}

/** An object with any keys. */
export function record<T>(read: Reader<T>): Reader<ReadonlyMap<string, T>> {
  return (value, place) =>
    new Map(Object.entries(object(value, place)).map(([key, item]) => [key, read(item, `${place}.${key}`)]));
}

export function shape<F extends Readonly<Record<string, Reader<unknown>>>>(
  fields: F,
): Reader<{ readonly [K in keyof F]: ReturnType<F[K]> }> {
  return (value, place) => {
    const from = object(value, place);
    const entries = Object.entries(fields).map(([key, read]) => [key, read(from[key], `${place}.${key}`)]);
    return Object.fromEntries(entries) as { readonly [K in keyof F]: ReturnType<F[K]> }; // read field by field just now
  };
}

/** Whether objects and lists lie within each other more than `levels` times. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1)); // 3
}

function object(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(place, 'is no object');
  return value as Readonly<Record<string, unknown>>; // it is one
}

function fail(place: string, text: string): never {
  throw new Misfit(`${place.slice(0, 80)} ${text}`);
}

/**
 * Checks of what types promise and plain JavaScript may get wrong: objects and their methods, names of options, integers.
 *
 * Owns the checks and how these mistakes are worded. Leaves which options there are, and their ranges, to who has them.
 *
 * 1. Nothing is thrown: all mistakes are reported together (ERR-002).
 */
import { describeValue, type Problems } from '../../errors/index.ts';
import { didYouMean } from './did-you-mean.ts';

export type ProblemList = Pick<Problems, 'add' | 'note'>;

/** Whether properties of it can be looked at. */
export function isObject<T>(value: T): value is T & object {
  return typeof value === 'object' && value !== null;
}

export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (!isObject(value)) return false;
  return names.every((name) => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'); // it is an object
}

/** @param known - the names of this group; any other would be an option without effect. No group at all is no mistake. */
export function checkOptionNames(
  option: string,
  group: unknown,
  known: readonly string[],
  problems: ProblemList,
): void {
  if (group === undefined) return;
  if (!isObject(group) || Array.isArray(group)) return problems.add(option, group, 'an object');
  for (const name of Object.keys(group)) {
    if (known.includes(name)) continue;
    const hint = didYouMean(name, known) || `, known: ${known.join(', ')}`;
    problems.note(`${option}: there is no option ${describeValue(name)}${hint}`);
  }
}

/**
 * Tells whether it was right.
 *
 * @param max - without one any size is allowed
 */
export function checkInteger(
  option: string,
  value: unknown,
  min: number,
  max: number | undefined,
  problems: Pick<Problems, 'add'>,
): boolean {
  if (isIntegerIn(value, min, max ?? Number.MAX_SAFE_INTEGER)) return true;
  problems.add(option, value, max === undefined ? `integer from ${min}` : `integer ${min}..${max}`);
  return false;
}

function isIntegerIn(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

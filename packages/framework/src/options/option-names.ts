/**
 * Checks of what types promise and plain JavaScript may get wrong: names of options, flags, objects with methods.
 *
 * Owns the checks. Leaves ranges to the kernel's option checks, and which options there are to host-options.ts.
 *
 * 1. Nothing is thrown, and undefined is no mistake: it stands for the default.
 */
import { describeValue, type Problems } from '@zlink/kernel/errors';
import { isObject } from '@zlink/kernel/internal/host';
import { didYouMean } from './did-you-mean.ts';

type ProblemList = Pick<Problems, 'add' | 'note'>;

/** @param known - the names of this group; any other would be an option without effect */
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

export function checkFlag(option: string, value: unknown, problems: ProblemList): void {
  if (value !== undefined && typeof value !== 'boolean') problems.add(option, value, 'true or false');
}

/** @param what - says in words what is expected */
export function checkMethods(
  option: string,
  value: unknown,
  names: readonly string[],
  what: string,
  problems: ProblemList,
): void {
  if (value === undefined) return;
  const has = (name: string): boolean => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function';
  if (!isObject(value) || !names.every(has)) problems.add(option, value, what);
}

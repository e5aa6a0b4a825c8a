/**
 * Checks of what types promise and plain JavaScript may get wrong: flags, objects with methods.
 *
 * Owns the checks. Leaves names and ranges to the kernel's option checks, and which options there are to host-options.ts.
 *
 * 1. Nothing is thrown, and undefined is no mistake: it stands for the default.
 */
import { hasMethods, type ProblemList } from '@zlink/kernel/internal/options';

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
  if (value !== undefined && !hasMethods(value, names)) problems.add(option, value, what);
}

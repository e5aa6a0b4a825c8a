/**
 * The command line of the bench.
 *
 * Owns its options and their checks. Every mistake is a `UsageError`, which is shown without a stack.
 */
import { parseArgs } from 'node:util';
import { type Conditions, fullConditions, quickConditions, type Scenario } from './scenario.ts';

const usage = `bench [--quick] [--strict] [--only NAME]... [--rounds N] [--json FILE] [--list]

  --quick        short measurements of all but the long ones, under a minute; fails only when a ratio is below half of its bar or of its recorded figure
  --strict       fails when a bar is missed
  --only NAME    scenarios whose name contains NAME; may be repeated
  --rounds N     rounds per scenario, 5 or more
  --json FILE    writes everything that was measured
  --list         shows the scenarios and their bars`;

export class UsageError extends Error {}

export interface CommandLine {
  readonly quick: boolean;
  readonly strict: boolean;
  readonly list: boolean;
  readonly json: string | undefined;
  readonly conditions: Conditions;
  readonly scenarios: readonly Scenario[];
}

const minRounds = 5;

export function parseCommandLine(args: readonly string[], catalogue: readonly Scenario[]): CommandLine {
  const { quick, strict, list, only, rounds, json } = parseOptions(args);
  const conditions = quick ? quickConditions : fullConditions;
  return {
    quick,
    strict,
    list,
    json,
    conditions: rounds === undefined ? conditions : { ...conditions, rounds: parseRounds(rounds) },
    scenarios: choose(catalogue, only, quick),
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        quick: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string' },
        json: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`); // parseArgs throws errors
  }
}

function parseRounds(text: string): number {
  const rounds = Number(text);
  if (Number.isInteger(rounds) && rounds >= minRounds) return rounds;
  throw new UsageError(`--rounds ${text}: an integer of ${minRounds} or more is needed for a median`);
}

function choose(catalogue: readonly Scenario[], parts: readonly string[], quick: boolean): readonly Scenario[] {
  if (parts.length === 0) return quick ? catalogue.filter(({ isLong }) => isLong !== true) : catalogue;
  for (const part of parts) {
    if (!catalogue.some(({ name }) => name.includes(part)))
      throw new UsageError(`--only ${part}: no scenario is called so`);
  }
  return catalogue.filter(({ name }) => parts.some((part) => name.includes(part)));
}

/** The command line of the measurements at the stores. */
import { parseArgs } from 'node:util';
import { UsageError } from '../command-line.ts';
import type { IdleOrder } from './idle.ts';

const usage = `store [--only PART]... [--rounds N] [--hosts N] [--processes N] [--rest SECONDS] [--json FILE]

  --only PART      commits, reads, delays or idle; may be repeated
  --rounds N       rounds of commits and reads, and how often each delay is taken; 5 or more, default 7
  --hosts N        idle hosts, default 30
  --processes N    processes that hold them, default one for each host
  --rest SECONDS   how long idle hosts are looked at, default 60
  --json FILE      writes everything that was measured`;

const parts = ['commits', 'reads', 'delays', 'idle'] as const;
type Part = (typeof parts)[number];

export interface StoreOrder {
  readonly parts: readonly Part[];
  readonly rounds: number;
  readonly idle: IdleOrder;
  readonly json: string | undefined;
}

const minRounds = 5;

/** @throws UsageError */
export function parseOrder(args: readonly string[]): StoreOrder {
  const { only, rounds, hosts, processes, rest, json } = parseOptions(args);
  const hostCount = whole('--hosts', hosts, 2);
  const processCount = whole('--processes', processes ?? hosts, 1);
  if (processCount > hostCount) throw new UsageError(`--processes ${processCount}: there are ${hostCount} hosts`);
  for (const part of only) {
    if (!parts.some((known) => known === part)) throw new UsageError(`--only ${part}: there is no such part`);
  }
  return {
    parts: only.length === 0 ? parts : parts.filter((part) => only.includes(part)),
    rounds: whole('--rounds', rounds, minRounds),
    idle: { hostCount, processCount, restMs: whole('--rest', rest, 1) * 1_000 },
    json,
  };
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string', multiple: true, default: [] },
        rounds: { type: 'string', default: '7' },
        hosts: { type: 'string', default: '30' },
        processes: { type: 'string' },
        rest: { type: 'string', default: '60' },
        json: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`); // parseArgs throws errors
  }
}

function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new UsageError(`${option} ${text}: an integer of ${least} or more is needed`);
}

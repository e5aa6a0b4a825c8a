/**
 * Which seeds a run of the tests plays, and what it says of one that fails.
 *
 * `ZLINK_SEED=17` plays that one alone, `ZLINK_SEEDS=20000` so many of each simulation, from 1 on.
 */
import type { Simulate, Trace } from './simulation.ts';

const defaultCount = 100;
const shownLines = 30;
const msPerSeed = 2_000; // for a limit that only a hang reaches

const only = process.env['ZLINK_SEED'];
const count = Number(process.env['ZLINK_SEEDS'] ?? defaultCount);

const seeds: readonly number[] = only === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [Number(only)];

export const SEEDS_LIMIT_MS = 30_000 + seeds.length * msPerSeed;

/** Plays every seed. @throws Error that tells which one failed, and how it came to that */
export async function playSeeds(name: string, simulate: Simulate): Promise<void> {
  let steps = 0;
  let faults = 0;
  for (const seed of seeds) {
    const trace = await simulate(seed);
    if (trace.violation !== undefined) throw new Error(report(trace));
    steps += trace.steps;
    faults += trace.faults;
  }
  if (seeds.length > defaultCount)
    process.stdout.write(`${name}: ${seeds.length} seeds, ${steps} steps, ${faults} faults\n`);
}

/** The first of these seeds that finds something. */
export async function findViolation(simulate: Simulate, upTo = defaultCount): Promise<Trace | undefined> {
  for (let seed = 1; seed <= upTo; seed++) {
    const trace = await simulate(seed);
    if (trace.violation !== undefined) return trace;
  }
  return undefined;
}

export function report({ seed, log, violation }: Trace): string {
  return [`ZLINK_SEED=${seed} reproduces: ${violation}`, ...log.slice(-shownLines)].join('\n');
}

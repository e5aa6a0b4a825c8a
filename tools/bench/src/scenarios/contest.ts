/**
 * The common shape of a scenario: several sides, one cargo, one pattern.
 *
 * Owns opening, warming up, interleaving and ending the contestants.
 */
import type { CargoSpec } from '../cargo.ts';
import { Duo, type Pattern } from '../duo.ts';
import type { Figures } from '../figures.ts';
import { interleave } from '../interleave.ts';
import type { Comparison, Conditions, Scenario, Unit } from '../scenario.ts';

export interface Contest {
  readonly name: string;
  readonly says: string;
  readonly sides: readonly string[];
  readonly cargo: CargoSpec;
  readonly pattern: Pattern;
  readonly comparisons: readonly Comparison[];
  /** Default: messages per second, or microseconds for a single caller. */
  readonly unit?: Unit;
  /** Figure in `unit` for a measured one. */
  readonly convert?: (measured: number) => number;
}

export function contest(options: Contest): Scenario {
  const { name, says, comparisons } = options;
  const unit = options.unit ?? (options.pattern.kind === 'serial' ? 'microseconds' : 'perSecond');
  return { name, says, comparisons, unit, measure: (conditions) => measure(options, conditions) };
}

async function measure(options: Contest, { rounds, sliceMs, warmUpMs }: Conditions): Promise<Figures> {
  const { convert = (measured: number) => measured } = options;
  const duos = await openAll(options);
  try {
    for (const duo of duos.values()) await duo.warmUp(warmUpMs);
    const contestants = [...duos].map(([name, duo]) => ({
      name,
      measure: async () => convert(await duo.measure(sliceMs)),
    }));
    return await interleave(contestants, rounds);
  } finally {
    await endAll(duos.values());
  }
}

/** All sides at once: starting processes is most of a short run. If one fails, those that have opened are ended. */
async function openAll({ sides, cargo, pattern }: Contest): Promise<ReadonlyMap<string, Duo>> {
  const openings = await Promise.allSettled(sides.map((side) => Duo.open(side, cargo, pattern)));
  const duos = new Map<string, Duo>();
  const errors: unknown[] = [];
  for (const [index, opening] of openings.entries()) {
    if (opening.status === 'fulfilled') duos.set(sides[index]!, opening.value);
    else errors.push(opening.reason);
  }
  if (errors.length === 0) return duos;
  await endAll(duos.values());
  throw errors.length === 1 ? (errors[0] as Error) : new AggregateError(errors, 'sides could not be opened');
}

async function endAll(duos: Iterable<Duo>): Promise<void> {
  await Promise.all([...duos].map((duo) => duo.end()));
}

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
  const duos = new Map<string, Duo>();
  try {
    for (const side of options.sides) {
      const duo = await Duo.open(side, options.cargo, options.pattern);
      duos.set(side, duo);
      await duo.warmUp(warmUpMs);
    }
    const contestants = [...duos].map(([name, duo]) => ({
      name,
      measure: async () => convert(await duo.measure(sliceMs)),
    }));
    return await interleave(contestants, rounds);
  } finally {
    for (const duo of duos.values()) await duo.end();
  }
}

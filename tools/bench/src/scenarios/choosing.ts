/**
 * The common shape of what measures a choice: among 1,000 candidates against among 2, once the order is built.
 *
 * Owns timing and interleaving. Leaves to the scenario what is chosen, and how.
 */
import { atMost } from '../bar.ts';
import type { Figures } from '../figures.ts';
import { interleave } from '../interleave.ts';
import type { Conditions, Scenario } from '../scenario.ts';

export interface Choosing {
  readonly name: string;
  readonly says: string;
  /** What candidates are, in the plural. */
  readonly candidates: string;
  /** Resolves with what makes so many choices and throws if they were not spread. */
  readonly open: (candidateCount: number) => Promise<(choiceCount: number) => void>;
}

const many = 1_000;
const few = 2;
const choicesPerRead = 10_000;
/** A choice takes nanoseconds, so that one interruption spoils a slice: many short ones instead of a few long ones. */
const slicesPerRound = 8;

export function choosing(options: Choosing): Scenario {
  const { name, says, candidates } = options;
  return {
    name,
    says,
    unit: 'nanoseconds',
    comparisons: [{ subject: `${many} ${candidates}`, reference: `${few} ${candidates}`, bar: atMost(1.1) }],
    measure: (conditions) => measure(options, conditions),
  };
}

async function measure({ candidates, open }: Choosing, conditions: Conditions): Promise<Figures> {
  const { rounds, warmUpMs } = conditions;
  const sliceMs = conditions.sliceMs / slicesPerRound;
  const contestants = await Promise.all(
    [many, few].map(async (count) => {
      const choose = await open(count);
      return { name: `${count} ${candidates}`, measure: async () => timeChoices(choose, sliceMs) };
    }),
  );
  for (const { measure: warmUp } of contestants) for (let ms = 0; ms < warmUpMs; ms += sliceMs) await warmUp();
  return await interleave(contestants, rounds * slicesPerRound);
}

/** Nanoseconds per choice. */
function timeChoices(choose: (choiceCount: number) => void, sliceMs: number): number {
  const startedAtMs = performance.now();
  let choices = 0;
  let elapsedMs: number;
  do {
    choose(choicesPerRead);
    choices += choicesPerRead;
    elapsedMs = performance.now() - startedAtMs;
  } while (elapsedMs < sliceMs);
  return (elapsedMs * 1_000_000) / choices;
}

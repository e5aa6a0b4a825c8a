/**
 * Cost of choosing a server: 1,000 candidates against 2, once the order is built.
 *
 * In this process; nothing is sent. Weights differ, so that the order is no plain alternation. The clock of the search
 * stands still: what is measured is the order once it was found, not whether a busy machine finds it in time.
 */
import { WeightedSelector } from '@zlink/kernel/internal/selection';
import { atMost } from '../bar.ts';
import type { Figures } from '../figures.ts';
import { interleave } from '../interleave.ts';
import type { Conditions, Scenario } from '../scenario.ts';

const many = 1_000;
const few = 2;
const choicesPerRead = 10_000;
/** A choice takes nanoseconds, so that one interruption spoils a slice: many short ones instead of a few long ones. */
const slicesPerRound = 8;

export const selection: Scenario = {
  name: 'selection',
  says: 'time to choose one of 1,000 servers, against one of 2',
  unit: 'nanoseconds',
  comparisons: [{ subject: `${many} servers`, reference: `${few} servers`, bar: atMost(1.1) }],
  measure,
};

async function measure(conditions: Conditions): Promise<Figures> {
  const { rounds, warmUpMs } = conditions;
  const sliceMs = conditions.sliceMs / slicesPerRound;
  const contestants = [many, few].map((count) => {
    const selector = createSelector(count);
    return { name: `${count} servers`, measure: async () => timeChoices(selector, sliceMs) };
  });
  for (const { measure: warmUp } of contestants) for (let ms = 0; ms < warmUpMs; ms += sliceMs) await warmUp();
  return await interleave(contestants, rounds * slicesPerRound);
}

/** Weights 100, 200, 300: 2,000 choices make a cycle of a thousand servers, which the search finds. */
function createSelector(count: number): WeightedSelector<number> {
  const selector = new WeightedSelector<number>(() => 0);
  selector.replace(
    Array.from({ length: count }, (_, index) => ({
      id: `server-${index}`,
      weight: 100 * (1 + (index % 3)),
      target: index,
    })),
  );
  return selector;
}

/** Nanoseconds per choice. The sum uses each choice, so that none can be left out; touching a server is not timed. */
function timeChoices(selector: WeightedSelector<number>, sliceMs: number): number {
  const startedAtMs = performance.now();
  let choices = 0;
  let sum = 0;
  let elapsedMs: number;
  do {
    for (let index = 0; index < choicesPerRead; index++) sum += selector.next()!; // there are candidates
    choices += choicesPerRead;
    elapsedMs = performance.now() - startedAtMs;
  } while (elapsedMs < sliceMs);
  if (sum === 0) throw new Error('only the first server was chosen');
  return (elapsedMs * 1_000_000) / choices;
}

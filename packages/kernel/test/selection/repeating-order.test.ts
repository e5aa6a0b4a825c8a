import fc from 'fast-check';
import { findRepeatingOrder } from '../../src/internal/selection/repeating-order.ts';

const still = (): number => 0;

/** Keeps every state it passes and stops at the first that comes again. */
function remembered(weights: readonly number[], begin: readonly number[]) {
  const accumulators = [...begin];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const seen = new Map<string, number>();
  const steps: number[] = [];
  for (;;) {
    const state = accumulators.join();
    const cycleStart = seen.get(state);
    if (cycleStart !== undefined) return { steps, cycleStart };
    seen.set(state, steps.length);
    for (const [index, weight] of weights.entries()) accumulators[index] = (accumulators[index] ?? 0) + weight;
    const chosen = accumulators.indexOf(Math.max(...accumulators));
    accumulators[chosen] = (accumulators[chosen] ?? 0) - total;
    steps.push(chosen);
  }
}

function found(weights: readonly number[], begin: readonly number[]) {
  const order = findRepeatingOrder(Float64Array.from(weights), Float64Array.from(begin), still);
  return order && { steps: [...order.steps], cycleStart: order.cycleStart };
}

test('[WRR-003] prefix and cycle are those of remembering every state', () => {
  const candidate = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: -300, max: 300 }));
  fc.assert(
    fc.property(fc.array(candidate, { minLength: 1, maxLength: 7 }), (candidates) => {
      const weights = candidates.map(([weight]) => weight);
      const begin = candidates.map(([, accumulator]) => accumulator);
      expect(found(weights, begin)).toEqual(remembered(weights, begin));
    }),
    { numRuns: 500 },
  );
});

test('[WRR-003] an order may begin with a prefix that never comes again', () => {
  expect(found([1, 1], [-4, 0])).toEqual({ steps: [1, 1, 0], cycleStart: 1 });
});

test('[WRR-003] a thousand equal candidates repeat after a thousand steps', () => {
  const order = found(Array<number>(1_000).fill(100), Array<number>(1_000).fill(0));
  expect(order).toEqual({ steps: [...Array(1_000).keys()], cycleStart: 0 });
});

test('[WRR-003] the largest cycle within the bound is found, one step more is not', () => {
  expect(
    found([10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 5_536 - 1, 1], Array<number>(8).fill(0))?.steps,
  ).toHaveLength(65_536);
  expect(found([10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 5_536, 1], Array<number>(8).fill(0))).toBeUndefined();
});

test('[WRR-003] a prefix that leaves no room for the cycle ends the search', () => {
  expect(found([1, 1], [-200_000, 0])).toBeUndefined();
});

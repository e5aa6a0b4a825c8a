/**
 * The order of measurements: A B C, then B C A, then C A B.
 *
 * Owns the order. Leaves measuring to the contestants.
 *
 * 1. In every round each contestant is measured once, so that a slow phase of the machine meets all of them.
 * 2. Each round begins with another one, so that nobody always runs in the wake of the same neighbour.
 */
import type { Figures } from './figures.ts';

export interface Contestant {
  readonly name: string;
  measure(): Promise<number>;
}

export async function interleave(contestants: readonly Contestant[], rounds: number): Promise<Figures> {
  const figures = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(round + turn) % contestants.length]!; // 2
      figures.get(contestant.name)!.push(await contestant.measure());
    }
  }
  return figures;
}

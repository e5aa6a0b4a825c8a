/**
 * The order of measurements: A B C, then B C A, then C A B.
 *
 * Owns the order. Leaves measuring to the contestants.
 *
 * 1. In every round each contestant is measured once, so that a slow phase of the machine meets all of them.
 * 2. Each round begins with another one, so that nobody always runs in the wake of the same neighbour.
 */

/** Measures one figure, or one record of several. */
export interface Contestant<Figure> {
  readonly name: string;
  measure(): Promise<Figure>;
}

/** What each contestant reached, round by round; all lists are equally long. */
export async function interleave<Figure>(
  contestants: readonly Contestant<Figure>[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly Figure[]>> {
  const figures = new Map<string, Figure[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const contestant = contestants[(round + turn) % contestants.length]!; // 2
      figures.get(contestant.name)!.push(await contestant.measure());
    }
  }
  return figures;
}

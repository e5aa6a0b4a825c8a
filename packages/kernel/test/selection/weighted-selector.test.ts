import fc from 'fast-check';
import { type Candidate, WeightedSelector } from '../../src/internal/selection/index.ts';

/** Given whole lists: each becomes the changes that lead to it. */
class ListSelector<T> {
  readonly changing: WeightedSelector<T>;
  #ids = new Set<string>();

  constructor(nowMs: () => number) {
    this.changing = new WeightedSelector(nowMs);
  }

  get rebuilds(): number {
    return this.changing.rebuilds;
  }

  next(): T | undefined {
    return this.changing.next();
  }

  replace(candidates: readonly Candidate<T>[]): void {
    const ids = new Set(candidates.map((candidate) => candidate.id));
    for (const id of this.#ids) if (!ids.has(id)) this.changing.remove(id);
    for (const candidate of candidates) this.changing.put(candidate);
    this.#ids = ids;
  }
}

const still = (): number => 0; // a search without a time limit
/** Each look at the clock finds the time over, so the selector goes on step by step. */
const hurried = (): (() => number) => {
  let nowMs = 0;
  return () => (nowMs += 1_000);
};

type Weights = Readonly<Record<string, number>>;

const candidatesOf = (weights: Weights): Candidate<string>[] =>
  Object.entries(weights).map(([id, weight]) => ({ id, weight, target: id }));

const take = (selector: { next(): string | undefined }, count: number): (string | undefined)[] =>
  Array.from({ length: count }, () => selector.next());

function selectorOf(weights: Weights, nowMs = still): ListSelector<string> {
  const selector = new ListSelector<string>(nowMs);
  selector.replace(candidatesOf(weights));
  return selector;
}

/** The procedure as the specification tells it: every accumulator is touched at every call. */
class Procedure {
  #accumulators = new Map<string, number>();
  #weights: [string, number][] = [];

  replace(candidates: readonly Candidate<string>[]): void {
    const byBytes = [...candidates].sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
    this.#weights = byBytes.filter(({ weight }) => weight > 0).map(({ id, weight }) => [id, weight]);
    this.#accumulators = new Map(this.#weights.map(([id]) => [id, this.#accumulators.get(id) ?? 0]));
  }

  next(): string | undefined {
    let chosen: string | undefined;
    let largest = -Infinity;
    let total = 0;
    for (const [id, weight] of this.#weights) {
      const accumulator = (this.#accumulators.get(id) ?? 0) + weight;
      this.#accumulators.set(id, accumulator);
      total += weight;
      if (accumulator <= largest) continue;
      largest = accumulator;
      chosen = id;
    }
    if (chosen !== undefined) this.#accumulators.set(chosen, largest - total);
    return chosen;
  }
}

test('[WRR-001] weights 100 and 300 choose B, A, B, B', () => {
  expect(take(selectorOf({ A: 100, B: 300 }), 8)).toEqual(['B', 'A', 'B', 'B', 'B', 'A', 'B', 'B']);
});

test('[WRR-001] equal weights take turns in the order of their identifiers', () => {
  expect(take(selectorOf({ c: 7, a: 7, b: 7 }), 6)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

test('[WRR-001] a tie goes to the smaller bytes, a prefix first', () => {
  const ids = ['\u{10000}', '\uffff', 'node-10', 'node-1', 'node', 'é', 'z'];
  const order = take(selectorOf(Object.fromEntries(ids.map((id) => [id, 1]))), ids.length);
  expect(order).toEqual(['node', 'node-1', 'node-10', 'z', 'é', '\uffff', '\u{10000}']);
});

test('[WRR-001] the largest weights in large numbers stay exact', () => {
  const candidates = Array.from({ length: 5_000 }, (_, i) => ({
    id: `s${String(i).padStart(4, '0')}`,
    weight: 10_000 - (i % 3),
    target: `s${String(i).padStart(4, '0')}`,
  }));
  const selector = new ListSelector<string>(still);
  const procedure = new Procedure();
  selector.replace(candidates);
  procedure.replace(candidates);
  expect(take(selector, 300)).toEqual(take(procedure, 300));
});

test('[WRR-001] without candidates nothing is chosen', () => {
  const selector = new ListSelector<string>(still);
  expect(selector.next()).toBeUndefined();
  selector.replace([]);
  expect(selector.next()).toBeUndefined();
});

test('[WRR-001] weight 0 is never chosen and does not count', () => {
  const selector = selectorOf({ a: 0, b: 5 });
  expect(take(selector, 3)).toEqual(['b', 'b', 'b']);
});

test('[WRR-003] what changes nothing builds nothing, and keeps the place in the order', () => {
  const { changing: selector } = selectorOf({ A: 100, B: 300 });
  expect(take(selector, 2)).toEqual(['B', 'A']);
  const { rebuilds } = selector;
  const give = (id: string, weight: number): boolean => selector.put({ id, weight, target: id });
  expect([give('A', 100), selector.remove('C'), give('C', 0)]).toEqual([false, false, false]);
  expect([selector.rebuilds, selector.size]).toEqual([rebuilds, 2]);
  expect([give('C', 1), give('C', 0)]).toEqual([true, true]);
  expect([selector.rebuilds, selector.size]).toEqual([rebuilds + 2, 2]);
  expect(take(selector, 2)).toEqual(['B', 'B']);
});

test('[WRR-002] survivors keep their accumulators, also with a new weight; newcomers start at 0', () => {
  const selector = selectorOf({ A: 100, B: 300 });
  expect(take(selector, 1)).toEqual(['B']); // A 100, B -100
  selector.replace(candidatesOf({ A: 100, B: 100, C: 100 }));
  // A 200, B 0, C 100 → A; A 0, B 100, C 200 → C; A 100, B 200, C 0 → B
  expect(take(selector, 3)).toEqual(['A', 'C', 'B']);
});

test('[WRR-002] who left and came back starts at 0', () => {
  const selector = selectorOf({ A: 1, B: 1 });
  expect(take(selector, 1)).toEqual(['A']); // A -1, B 1
  selector.replace(candidatesOf({ B: 1 }));
  selector.replace(candidatesOf({ A: 2, B: 1 }));
  expect(take(selector, 1)).toEqual(['A']); // 2 against 2; with its old -1 it would lose
});

test('[WRR-002] a new generation of the same identifier is the new target with the old accumulator', () => {
  const selector = new ListSelector<{ generation: number }>(still);
  const at = (generation: number): Candidate<{ generation: number }>[] => [
    { id: 'A', weight: 1, target: { generation } },
    { id: 'B', weight: 1, target: { generation: 0 } },
  ];
  selector.replace(at(1));
  expect(selector.next()).toEqual({ generation: 1 });
  selector.replace(at(2));
  expect([selector.next(), selector.next()]).toEqual([{ generation: 0 }, { generation: 2 }]);
});

test.each(['computed', 'step by step'] as const)('[WRR-003] 100,000 choices build nothing (%s)', (kind) => {
  const selector = selectorOf({ a: 1, b: 2, c: 3 }, kind === 'computed' ? still : hurried());
  expect(selector.rebuilds).toBe(3);
  take(selector, 100_000);
  expect(selector.rebuilds).toBe(3);
  selector.replace(candidatesOf({ a: 1, b: 2 }));
  expect(selector.rebuilds).toBe(4);
});

test('[WRR-003] the search for a cycle stops when its time is over', () => {
  let reads = 0;
  const nowMs = (): number => {
    reads++;
    return reads * 2; // every look at the clock takes 2 ms
  };
  selectorOf(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`s${i}`, i * 27 + 1])), nowMs).next();
  expect(reads).toBe(4); // one at the beginning, then until 5 ms are over
});

test('[WRR-003] lists that nobody chooses from are not searched; the accumulators pass through all of them', () => {
  let reads = 0;
  const selector = selectorOf({ a: 1, b: 2, c: 3 }, () => reads++);
  const procedure = new Procedure();
  procedure.replace(candidatesOf({ a: 1, b: 2, c: 3 }));
  expect(take(selector, 2)).toEqual(take(procedure, 2));
  const searched = reads;
  for (const weights of [
    { a: 1, b: 2 },
    { a: 1, b: 2, c: 3 },
    { a: 4, b: 2, c: 3 },
    { a: 4, b: 2, c: 3, d: 9 },
  ]) {
    selector.replace(candidatesOf(weights));
    procedure.replace(candidatesOf(weights));
  }
  expect(reads).toBe(searched);
  expect(take(selector, 50)).toEqual(take(procedure, 50));
  expect(reads).toBeGreaterThan(searched);
});

test('[WRR-003] a list whose cycle is too long is not searched at all', () => {
  let reads = 0;
  const selector = selectorOf({ a: 9_973, b: 9_967, c: 9_949, d: 9_941, e: 9_931, f: 9_929, g: 9_923 }, () => reads++);
  expect(take(selector, 7)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  expect(reads).toBe(0);
});

test.each([2, 1_000] as const)('[WRR-003] %d equal candidates repeat after one round', (count) => {
  const ids = Array.from({ length: count }, (_, i) => `s${String(i).padStart(4, '0')}`);
  const selector = selectorOf(Object.fromEntries(ids.map((id) => [id, 100])));
  expect(take(selector, count * 3)).toEqual([...ids, ...ids, ...ids]);
});

const weight = fc.oneof(
  fc.integer({ min: 0, max: 12 }),
  fc.constantFrom(1, 100, 300, 10_000),
  fc.integer({ min: 1, max: 10_000 }),
);
const id = fc.constantFrom('A', 'B', 'C', 'D', 'E', 'node', 'node-1', '\uffff', '\u{10000}');
const list = fc.uniqueArray(fc.record({ id, weight }), { selector: (candidate) => candidate.id, maxLength: 9 });
const history = fc.array(fc.record({ list, choices: fc.oneof(fc.nat(20), fc.nat(400)) }), {
  minLength: 1,
  maxLength: 8,
});
const clockKind = fc.constantFrom('still', 'hurried');

test('[WRR-004] whatever the weights and list changes, each choice is that of the plain procedure', () => {
  fc.assert(
    fc.property(history, clockKind, (phases, clock) => {
      const selector = new ListSelector<string>(clock === 'still' ? still : hurried());
      const procedure = new Procedure();
      for (const phase of phases) {
        const candidates = phase.list.map((candidate) => ({ ...candidate, target: candidate.id }));
        selector.replace(candidates);
        procedure.replace(candidates);
        expect(take(selector, phase.choices)).toEqual(take(procedure, phase.choices));
      }
    }),
    { numRuns: 150 },
  );
});

test('[WRR-004] long prefixes left by a much larger list are followed exactly', () => {
  const selector = new ListSelector<string>(still);
  const procedure = new Procedure();
  const large = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`s${i}`, 10_000]));
  for (const [weights, choices] of [
    [large, 7],
    [{ s0: 3, s1: 5, s250: 4 }, 30_000],
    [{ s0: 3, s1: 5, s250: 4 }, 1],
    [{ s0: 1, s250: 10_000 }, 5_000],
  ] as const) {
    selector.replace(candidatesOf(weights));
    procedure.replace(candidatesOf(weights));
    expect(take(selector, choices)).toEqual(take(procedure, choices));
  }
});

test('[WRR-004] step by step and computed agree over more than a million choices', () => {
  const weights = { a: 7, b: 11, c: 13, d: 13 };
  const [computed, stepped] = [selectorOf(weights), selectorOf(weights, hurried())];
  let differences = 0;
  for (let i = 0; i < 2 ** 20 + 1_000; i++) if (computed.next() !== stepped.next()) differences++;
  expect(differences).toBe(0);
  for (const selector of [computed, stepped]) selector.replace(candidatesOf({ ...weights, e: 50 }));
  expect(take(stepped, 200)).toEqual(take(computed, 200));
});

test('[WRR-004] shares converge to the weights', () => {
  const positive = fc.uniqueArray(fc.record({ id, weight: fc.integer({ min: 1, max: 10_000 }) }), {
    selector: (candidate) => candidate.id,
    minLength: 1,
    maxLength: 9,
  });
  fc.assert(
    fc.property(positive, fc.integer({ min: 1, max: 3_000 }), clockKind, (candidates, choices, clock) => {
      const selector = new ListSelector<string>(clock === 'still' ? still : hurried());
      selector.replace(candidates.map((candidate) => ({ ...candidate, target: candidate.id })));
      const counts = new Map<string | undefined, number>();
      for (const chosen of take(selector, choices)) counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
      const total = candidates.reduce((sum, candidate) => sum + candidate.weight, 0);
      for (const candidate of candidates) {
        const share = (choices * candidate.weight) / total;
        // Off by the number of candidates at most, however many choices there were.
        expect(Math.abs((counts.get(candidate.id) ?? 0) - share)).toBeLessThan(candidates.length);
      }
    }),
  );
});

test('[WRR-005] the order in which candidates are given does not matter', () => {
  fc.assert(
    fc.property(
      list.chain((given) => fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length }))),
      ([given, shuffled]) => {
        const orders = [given, shuffled].map((candidates) => {
          const selector = new ListSelector<string>(still);
          selector.replace(candidates.map((candidate) => ({ ...candidate, target: candidate.id })));
          return take(selector, 100);
        });
        expect(orders[0]).toEqual(orders[1]);
      },
    ),
  );
});

test('[WRR-005] the same list again goes on where the order was', () => {
  const weights = { A: 3, B: 5, C: 2 };
  const [untouched, replaced] = [selectorOf(weights), selectorOf(weights)];
  for (let i = 0; i < 50; i++) {
    expect(replaced.next()).toBe(untouched.next());
    replaced.replace(candidatesOf(weights));
  }
});

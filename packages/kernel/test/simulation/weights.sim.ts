/**
 * The selector against the procedure written down as plainly as possible.
 *
 * W1 Each choice is the one of the procedure, whatever lists replaced each other (WRR-001, WRR-002, WRR-004).
 * W2 A list of total weight T that begins from rest gives each candidate exactly its weight in T choices.
 * W3 Choices build no list (WRR-003).
 */
import { type Candidate, WeightedSelector } from '../../src/internal/selection/index.ts';
import { ensure, play, type Stage, type Story, type Trace } from './simulation.ts';

/** What the procedure of the model does otherwise than it should. */
export type WeightsFlaw =
  'none' | 'tieGoesToTheLarger' | 'listBeginsAnew' | 'newcomersBeginWithTheirWeight' | 'zeroKeepsItsPlace';

export const simulateWeights = (seed: number, flaw: WeightsFlaw = 'none'): Promise<Trace> =>
  play(seed, 40, (stage) => new WeightsStory(stage, flaw));

/** In the order of their UTF-8 bytes, which is not that of UTF-16 units. */
const ids = ['', 'A', 'B', 'a', 'b', 'b1', 'b10', 'b2', 'z', 'ä', '\u{ff5e}', '\u{1f600}'];
const choicesAtOnce = 300;

class WeightsStory implements Story {
  readonly #stage: Stage;
  readonly #selector: WeightedSelector<string>;
  readonly #model: Procedure;
  #weights = new Map<string, number>();
  /** By id, what the selector has. */
  readonly #given = new Map<string, number>();
  #changes = 0;

  constructor(stage: Stage, flaw: WeightsFlaw) {
    this.#stage = stage;
    this.#model = new Procedure(flaw);
    const isHurried = stage.chance(0.3); // no time to search a cycle: step by step
    let nowMs = 0;
    this.#selector = new WeightedSelector(() => (isHurried ? (nowMs += 1_000) : 0));
  }

  act(): void {
    const stage = this.#stage;
    if (stage.chance(0.55)) return this.#choose(stage.below(choicesAtOnce));
    if (stage.chance(0.1)) return this.#beginAnew();
    const changes = 1 + stage.below(3);
    for (let at = 0; at < changes; at++) {
      const id = stage.pick(ids);
      if (this.#weights.has(id) && stage.chance(0.4)) this.#weights.delete(id);
      else this.#weights.set(id, this.#someWeight());
    }
    this.#replace();
  }

  check(): void {
    ensure(this.#selector.rebuilds === this.#changes, 'a list was built that nobody gave'); // W3
  }

  state(): string {
    return [...this.#weights].map(([id, weight]) => `${id}=${weight}`).join(' ');
  }

  async end(): Promise<void> {
    this.#choose(choicesAtOnce);
    this.#beginAnew();
  }

  /** W2 */
  #beginAnew(): void {
    for (const weights of [this.#weights, new Map<string, number>(), this.#weights]) this.#replace(weights);
    const total = [...this.#weights.values()].reduce((sum, weight) => sum + weight, 0);
    if (total > 1_500) return;
    const counts = new Map<string | undefined, number>();
    for (let at = 0; at < total; at++) {
      const chosen = this.#chooseOne();
      counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
    }
    for (const [id, weight] of this.#weights)
      ensure(
        (counts.get(id) ?? 0) === weight,
        `"${id}" was chosen ${counts.get(id)} times in a round, weight ${weight}`,
      );
  }

  #replace(weights: ReadonlyMap<string, number> = this.#weights): void {
    const list = [...weights].map(([id, weight]) => ({ id, weight, target: id }));
    for (let at = list.length - 1; at > 0; at--) swap(list, at, this.#stage.below(at + 1)); // the order says nothing
    this.#stage.tell(`list of ${list.length}`);
    for (const id of this.#given.keys()) if (!weights.has(id)) this.#give(id, 0);
    for (const { id, weight } of list) this.#give(id, weight);
    this.#model.replace(list);
  }

  /** One change of the selector's list, or none if it is so already. */
  #give(id: string, weight: number): void {
    const isChange = (this.#given.get(id) ?? 0) !== weight;
    if (weight === 0) this.#given.delete(id);
    else this.#given.set(id, weight);
    if (isChange) this.#changes++;
    const said = this.#selector.put({ id, weight, target: id });
    ensure(said === isChange, `"${id}" of weight ${weight} is told as ${said ? 'a change' : 'no change'}`);
  }

  #choose(count: number): void {
    this.#stage.tell(`${count} choices`);
    for (let at = 0; at < count; at++) this.#chooseOne();
  }

  #chooseOne(): string | undefined {
    const expected = this.#model.next();
    const chosen = this.#selector.next();
    ensure(chosen === expected, `chosen was "${chosen}", due "${expected}"`); // W1
    return chosen;
  }

  #someWeight(): number {
    const stage = this.#stage;
    return stage.pick([0, 1, 1, 2, 100, 10_000, stage.below(8), stage.below(200), stage.below(10_001)]);
  }
}

/** Smooth weighted round robin, one step at a time. */
class Procedure {
  readonly #flaw: WeightsFlaw;
  #candidates: readonly { readonly id: string; readonly weight: number }[] = [];
  #accumulators = new Map<string, number>();

  constructor(flaw: WeightsFlaw) {
    this.#flaw = flaw;
  }

  replace(list: readonly Candidate<string>[]): void {
    const kept = this.#flaw === 'listBeginsAnew' ? new Map<string, number>() : this.#accumulators;
    const isIn = ({ weight }: { readonly weight: number }): boolean => this.#flaw === 'zeroKeepsItsPlace' || weight > 0;
    const firstOf = (weight: number): number => (this.#flaw === 'newcomersBeginWithTheirWeight' ? weight : 0);
    this.#candidates = list.filter(isIn).sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
    this.#accumulators = new Map(this.#candidates.map(({ id, weight }) => [id, kept.get(id) ?? firstOf(weight)]));
  }

  next(): string | undefined {
    const total = this.#candidates.reduce((sum, { weight }) => sum + weight, 0);
    let chosen: string | undefined;
    let largest = -Infinity;
    for (const { id, weight } of this.#candidates) {
      const accumulator = (this.#accumulators.get(id) ?? 0) + weight;
      this.#accumulators.set(id, accumulator);
      const wins = this.#flaw === 'tieGoesToTheLarger' ? accumulator >= largest : accumulator > largest;
      if (wins) [chosen, largest] = [id, accumulator];
    }
    if (chosen !== undefined) this.#accumulators.set(chosen, largest - total);
    return chosen;
  }
}

function swap<T>(list: T[], a: number, b: number): void {
  [list[a], list[b]] = [list[b] as T, list[a] as T]; // both are indexes of the list
}

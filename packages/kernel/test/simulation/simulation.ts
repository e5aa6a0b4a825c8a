/**
 * What all simulations share: the seed, the clock, the turns of the event loop, the log and the verdict.
 *
 * Owns the play of one seed. Leaves what happens, and what must hold, to the story of each simulation.
 *
 * 1. A trace is a function of its seed: chance comes from the seed alone, time moves when the story says so, and the
 *    platform's own are out of reach (platform-ban.ts).
 * 2. What must hold is checked after each step, and after each timer that fires within one.
 * 3. The first violation ends the play. The log tells what led to it.
 */
import { ManualClock, seededRandom } from '@zlink/testing';
import type { RandomSource } from '../../src/internal/time/index.ts';
import { PlatformBan } from './platform-ban.ts';

export interface Trace {
  readonly seed: number;
  readonly log: readonly string[];
  readonly steps: number;
  readonly faults: number;
  /** What did not hold, if anything. */
  readonly violation: string | undefined;
}

export type Simulate = (seed: number) => Promise<Trace>;

export interface Story {
  /** One thing happens, by chance. */
  act(): void | Promise<void>;
  /** Violated, if something does not hold that must hold at any moment. */
  check(): void | Promise<void>;
  /** In a few words, for the log. */
  state(): string;
  /** Faults end, and all must come right and leave nothing. */
  end(): Promise<void>;
  /** After a violation: lets go of what would be taken for a leak. */
  abandon?(): Promise<void>;
}

/** Something does not hold that must. */
class Violated extends Error {}

const nextTurn = setImmediate; // before it is out of reach
/** More turns than any play needs to come to rest. */
const endlessTurns = 10_000;

export class Stage {
  readonly clock = new ManualClock();
  readonly random: RandomSource;
  readonly log: string[] = [];
  steps = 0;
  faults = 0;
  readonly #ban: PlatformBan;
  #checked: () => void | Promise<void> = () => {};

  constructor(random: RandomSource, ban: PlatformBan) {
    this.random = random;
    this.#ban = ban;
  }

  /** @param check - runs after each timer that fires (2) */
  watch(check: () => void | Promise<void>): void {
    this.#checked = check;
  }

  tell(what: string): void {
    this.log.push(`${this.clock.nowMs()} ${what}`);
  }

  tellFault(what: string): void {
    this.faults++;
    this.tell(`fault: ${what}`);
  }

  /** An integer below `end`. */
  below(end: number): number {
    return Math.floor(this.random() * end);
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T; // never asked of an empty list
  }

  /** Short times mostly, so that things fall close together; long ones now and then. */
  someMs(longest: number): number {
    return this.below(this.chance(0.6) ? Math.min(longest, 400) : longest) + 1;
  }

  /** Promises react, and whatever asked for a turn of the event loop gets it, until nothing is left to do. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < endlessTurns; turn++) {
      await reactions();
      const task = this.#ban.turns.shift();
      if (task === undefined) return;
      task();
    }
    throw new Violated('it never comes to rest');
  }

  /** Time passes; what falls due fires, and all comes to rest after each. */
  async pass(ms: number): Promise<void> {
    const { clock } = this;
    const untilMs = clock.nowMs() + ms;
    await this.settle();
    for (let dueAtMs = clock.nextDueAtMs; dueAtMs !== undefined && dueAtMs <= untilMs; dueAtMs = clock.nextDueAtMs) {
      clock.advance(Math.max(0, dueAtMs - clock.nowMs()));
      await this.settle();
      await this.#checked();
    }
    clock.advance(Math.max(0, untilMs - clock.nowMs()));
  }

  /** As a thing that happens: the log tells of it. */
  async passTold(ms: number): Promise<void> {
    this.tell(`${ms} ms pass`);
    await this.pass(ms);
  }
}

/** Plays one seed to its end, or to the first violation. */
export async function play(
  seed: number,
  stepCount: number,
  begin: (stage: Stage) => Story | Promise<Story>,
): Promise<Trace> {
  const random = seededRandom(seed);
  const ban = new PlatformBan(random);
  const stage = new Stage(random, ban);
  let story: Story | undefined;
  let violation: string | undefined;
  ban.begin();
  try {
    story = await begin(stage);
    const played = story;
    stage.watch(() => played.check());
    await run(stage, played, stepCount);
    ensure(ban.leaks.length === 0, `asked for ${ban.leaks.join()}`); // 1
  } catch (error) {
    violation = error instanceof Violated ? error.message : String((error as Error).stack ?? error);
    stage.tell(`violated: ${error instanceof Error ? error.message : String(error)}`);
    stage.watch(() => {});
    await story?.abandon?.();
  } finally {
    ban.end();
  }
  return { seed, log: stage.log, steps: stage.steps, faults: stage.faults, violation };
}

async function run(stage: Stage, story: Story, stepCount: number): Promise<void> {
  while (stage.steps < stepCount) {
    stage.steps++;
    await story.act();
    await stage.settle();
    await story.check();
    stage.tell(`  ${story.state()}`);
  }
  await story.end();
}

export function ensure(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Violated(what);
}

/** Every reaction to a promise has run. */
function reactions(): Promise<void> {
  return new Promise((resolve) => nextTurn(resolve));
}

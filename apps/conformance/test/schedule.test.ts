import { performAll } from '../src/runner/schedule.ts';
import type { Run } from '../src/runner/outcome.ts';
import { base, scenario } from './outcomes.ts';

const runOf = (id: string, more: Parameters<typeof scenario>[1] = {}): Run => ({
  topic: 'channels',
  cell: base,
  scenario: scenario([id], more),
});

/** Performs by hand: what has begun ends when it is told to. */
class HandStage {
  readonly begun: string[] = [];
  readonly together: string[][] = [];
  readonly #running = new Map<string, () => void>();

  readonly perform = async (run: Run) => {
    const id = run.scenario.ids[0] ?? '';
    this.begun.push(id);
    const ended = new Promise<void>((resolve) => this.#running.set(id, resolve));
    this.together.push([...this.#running.keys()]);
    await ended;
    this.#running.delete(id);
    return { run, ms: 1 };
  };

  async endAll(): Promise<void> {
    while (this.#running.size > 0) {
      for (const end of [...this.#running.values()]) end();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

test('[CALL-004] runs share lanes, those that wait have their own, and those that must be alone come last', async () => {
  const runs = [
    runOf('ALONE-1', { isAlone: true }),
    runOf('A'),
    runOf('B'),
    runOf('C'),
    runOf('SLOW', { isSlow: true }),
    runOf('ALONE-2', { isAlone: true }),
  ];
  const stage = new HandStage();
  const seen: string[] = [];
  const all = performAll(runs, {
    lanes: 2,
    perform: stage.perform,
    onOutcome: ({ run }) => seen.push(run.scenario.ids[0] ?? ''),
    signal: new AbortController().signal,
  });
  expect(stage.begun).toEqual(['SLOW', 'A', 'B']);
  await stage.endAll();
  const outcomes = await all;
  expect(stage.begun.slice(-2)).toEqual(['ALONE-1', 'ALONE-2']);
  expect(stage.together.at(-2)).toEqual(['ALONE-1']);
  expect(stage.together.at(-1)).toEqual(['ALONE-2']);
  expect(seen).toHaveLength(6);
  expect(outcomes.map(({ run }) => run)).toEqual(runs); // in the order of the catalogue
});

test('[CALL-004] nothing is begun after an interruption', async () => {
  const stage = new HandStage();
  const interruption = new AbortController();
  const all = performAll([runOf('A'), runOf('B'), runOf('C', { isAlone: true })], {
    lanes: 1,
    perform: stage.perform,
    onOutcome: () => undefined,
    signal: interruption.signal,
  });
  interruption.abort();
  await stage.endAll();
  expect((await all).map(({ run }) => run.scenario.ids)).toEqual([['A']]);
});

/**
 * All runs in an order that takes little time.
 *
 * Owns what runs beside what. Leaves each run to `perform`.
 *
 * 1. So many at once as there are lanes; those that mostly wait begin first, in lanes of their own.
 * 2. What must be alone comes last, one after another.
 */
import type { Outcome, Run } from './outcome.ts';

export interface Schedule {
  readonly lanes: number;
  readonly perform: (run: Run) => Promise<Outcome>;
  readonly onOutcome: (outcome: Outcome) => void;
  /** No new run is begun once it has aborted. */
  readonly signal: AbortSignal;
}

export async function performAll(runs: readonly Run[], schedule: Schedule): Promise<readonly Outcome[]> {
  const outcomes = new Map<Run, Outcome>();
  const inLanes = async (queue: Run[], lanes: number): Promise<void> => {
    const work = async (): Promise<void> => {
      for (let run = queue.shift(); run !== undefined && !schedule.signal.aborted; run = queue.shift()) {
        const outcome = await schedule.perform(run);
        outcomes.set(run, outcome);
        schedule.onOutcome(outcome);
      }
    };
    await Promise.all(Array.from({ length: lanes }, work));
  };
  const alone = runs.filter(({ scenario }) => scenario.isAlone);
  const slow = runs.filter(({ scenario }) => !scenario.isAlone && scenario.isSlow);
  const quick = runs.filter(({ scenario }) => !scenario.isAlone && !scenario.isSlow);
  await Promise.all([inLanes(slow, schedule.lanes), inLanes(quick, schedule.lanes)]); // 1
  await inLanes(alone, 1); // 2
  return runs.flatMap((run) => outcomes.get(run) ?? []);
}

/**
 * One run: a stage, the scenario on it within its time, and the end of the stage.
 *
 * Owns the time limit, that an interruption ends it, and that a failure is told with what the roles logged.
 *
 * 1. However it went, the stage is cleared before the outcome is there.
 */
import { Stage, type StageParts } from './stage.ts';
import type { Outcome, Run } from './outcome.ts';

const defaultLimitMs = 120_000; // tells a hang from a success, also on a machine that has much to do

export async function perform(run: Run, parts: StageParts, interruption: AbortSignal): Promise<Outcome> {
  const stage = new Stage(parts);
  const startedAtMs = performance.now();
  let failure: Outcome['failure'];
  try {
    await limited(run, interruption, async () => {
      await run.scenario.run(stage);
      await stage.leave();
    });
  } catch (error) {
    failure = { text: textOf(error), logs: stage.logs() };
  }
  const ms = performance.now() - startedAtMs;
  await stage.clear(); // 1
  return { run, ms, ...(failure === undefined ? {} : { failure }) };
}

async function limited({ scenario }: Run, interruption: AbortSignal, play: () => Promise<void>): Promise<void> {
  const limitMs = scenario.limitMs ?? defaultLimitMs;
  let timer: NodeJS.Timeout | undefined;
  let onAbort = (): void => undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${limitMs} ms`)), limitMs);
    onAbort = () => reject(new Error('was interrupted'));
    interruption.addEventListener('abort', onAbort, { once: true });
    if (interruption.aborted) onAbort();
  });
  const played = play();
  played.catch(() => undefined); // it may fail when its time is over and its processes go
  try {
    await Promise.race([played, over]);
  } finally {
    clearTimeout(timer);
    interruption.removeEventListener('abort', onAbort);
  }
}

/** Where it failed in the scenario, without the runner's own part of the stack. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const places = (error.stack ?? '').split('\n').filter((line) => /\/scenarios\//.test(line));
  return [error.message, ...places.slice(0, 3).map((line) => line.trim())].join('\n');
}

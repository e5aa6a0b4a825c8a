/** Shows frames of what goes on while an act's time passes, or until something has happened. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Stage } from './act.ts';
import type { Frame } from './view.ts';

export interface ShowOptions {
  readonly totalMs: number;
  /** `undefined` while there is nothing to see. */
  readonly frameAt: (elapsedMs: number) => Frame | undefined;
}

/** A last step that is short is joined to the one before, lest the same is shown twice. */
const joinedBelow = 0.5;

/** The time begins; what is returned shows frames until that part of it, 0..1, is over: one at least, where all took longer. */
export function startShow({ wait, view }: Stage, { totalMs, frameAt }: ShowOptions): (part: number) => Promise<void> {
  const startedAtMs = performance.now();
  const elapsedMs = (): number => performance.now() - startedAtMs;
  return async (part) => {
    const leftMsNow = (): number => Math.max(0, part * totalMs - elapsedMs());
    let leftMs = leftMsNow();
    do {
      const isLast = leftMs < view.everyMs * (1 + joinedBelow);
      // What is played holds the process; where it was stopped, a step must not.
      await wait(delay(Math.ceil(isLast ? leftMs : view.everyMs), undefined, { ref: false }));
      const frame = frameAt(elapsedMs());
      if (frame !== undefined) view.show(frame);
      leftMs = leftMsNow();
    } while (leftMs > 0);
  };
}

/** Shows frames until `work` is done. */
export async function showDuring<T>(
  { wait, view }: Stage,
  frameNow: () => Frame | undefined,
  work: Promise<T>,
): Promise<T> {
  let isDone = false;
  const done = work.finally(() => (isDone = true));
  done.catch(() => undefined); // where the demo was ended, nobody waits for it any more
  for (;;) {
    await wait(Promise.race([done, delay(view.everyMs, undefined, { ref: false })]));
    if (isDone) return done;
    const frame = frameNow();
    if (frame !== undefined) view.show(frame);
  }
}

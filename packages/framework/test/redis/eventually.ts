/** Waiting for what stands somewhere else: in another process, or in a store. */
import { setTimeout as rest } from 'node:timers/promises';

/** Tells a hang from a success, also on a machine that has no time for the test. */
const GIVE_UP_MS = 30_000;

/**
 * Asks again and again, with a short break so that the others get the processor, until the answer is yes.
 *
 * @returns how long that took, in ms
 * @throws Error with the last failure, if the answer was one
 */
export async function eventually(ask: () => Promise<boolean>, what: string, giveUpMs = GIVE_UP_MS): Promise<number> {
  const startedAtMs = performance.now();
  const tookMs = (): number => performance.now() - startedAtMs;
  for (;;) {
    let failure: unknown;
    try {
      if (await ask()) return tookMs();
    } catch (error) {
      failure = error;
    }
    if (tookMs() > giveUpMs) throw new Error(`did not happen within ${giveUpMs} ms: ${what}`, { cause: failure });
    await rest(20);
  }
}

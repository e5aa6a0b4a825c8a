/** Waiting for what a host does not announce: it is asked again, soon, until it is so. */
import { setTimeout as pause } from 'node:timers/promises';
import { waitLimitMs } from '../wait-limit.ts';

const askAgainAfterMs = 15;

/** @throws Error that says what has not come about */
export async function eventually(check: () => Promise<boolean>, what: string, limitMs = waitLimitMs): Promise<void> {
  const giveUpAtMs = performance.now() + limitMs;
  while (!(await check())) {
    if (performance.now() > giveUpAtMs) throw new Error(`did not happen within ${limitMs} ms: ${what}`);
    await pause(askAgainAfterMs);
  }
}

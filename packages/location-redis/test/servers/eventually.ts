import { setTimeout as pause } from 'node:timers/promises';

/** Tells a hang from a success, also on a machine that has no time for the test. */
const GIVE_UP_MS = 100_000;

/** What a call may take that has to succeed, on such a machine. */
export const PATIENT_MS = 30_000;

/** Asks again and again, with a short break so that the servers get the processor, until the answer is yes. */
export async function eventually(ask: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAtMs = performance.now() + GIVE_UP_MS;
  for (;;) {
    const left = giveUpAtMs - performance.now();
    if (left <= 0) throw new Error(`did not happen within ${GIVE_UP_MS} ms: ${what}`);
    if (await within(ask(), left)) return;
    await pause(10);
  }
}

async function within(answer: Promise<boolean>, ms: number): Promise<boolean> {
  const patience = new AbortController();
  const expiry = pause(ms, false, { signal: patience.signal }).catch(() => false);
  try {
    return await Promise.race([answer.catch(() => false), expiry]);
  } finally {
    patience.abort();
  }
}

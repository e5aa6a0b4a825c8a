import { setTimeout as pause } from 'node:timers/promises';

/** Asks again and again, with a short break so that the servers get the processor, until the answer is yes. */
export async function eventually(ask: () => Promise<boolean>, what: string, giveUpMs = 10_000): Promise<void> {
  const giveUpAtMs = performance.now() + giveUpMs;
  for (;;) {
    const left = giveUpAtMs - performance.now();
    if (left <= 0) throw new Error(`did not happen within ${giveUpMs} ms: ${what}`);
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

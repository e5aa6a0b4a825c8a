/** Promised times, judged on machines that may have much else to do. */

const attempts = 5;

/**
 * Such a machine is late once or twice; what breaks its promise is late each time.
 *
 * @param attempt - resolves with what it took, in milliseconds
 * @throws Error with what each attempt took
 */
export async function keepsTime(
  limitMs: number,
  what: string,
  attempt: (round: number) => Promise<number>,
): Promise<void> {
  const took: number[] = [];
  while (took.length < attempts) {
    const ms = await attempt(took.length);
    if (ms <= limitMs) return;
    took.push(Math.round(ms));
  }
  throw new Error(`takes ${took.join(', ')} ms instead of ${limitMs} ms at most: ${what}`);
}

export async function timed(wait: Promise<unknown>): Promise<number> {
  const beganAtMs = performance.now();
  await wait;
  return performance.now() - beganAtMs;
}

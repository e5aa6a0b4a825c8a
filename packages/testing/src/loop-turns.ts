/**
 * Waiting in turns of the event loop instead of in milliseconds.
 *
 * Owns the two ways in which tests wait: a number of turns, or until something is so.
 *
 * 1. Giving up tells a hang from a success and measures nothing: it is long enough for a machine that has no time for the test.
 */

const GIVE_UP_MS = 30_000;

/** Lets `count` turns of the event loop pass: promises, `setImmediate` callbacks and pending I/O run meanwhile. */
export async function loopTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/**
 * Waits, turn by turn, until `condition` holds.
 *
 * @param what - names the condition in the error
 * @throws Error when it does not hold within `giveUpMs` of real time
 */
export async function until(condition: () => boolean, what: string, giveUpMs = GIVE_UP_MS): Promise<void> {
  const giveUpAtMs = performance.now() + giveUpMs;
  while (!condition()) {
    if (performance.now() > giveUpAtMs) throw new Error(`did not happen within ${giveUpMs} ms: ${what}`);
    await loopTurns(1);
  }
}

/** What a peer process finds out about itself. */
import { readdirSync } from 'node:fs';
import { machineNowMs } from './machine-clock.ts';

/** Twice, with turns of the loop between: native memory is given back by finalizers that run after a collection. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 2; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Undefined where the system does not tell. */
export function countDescriptors(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1; // without the one that lists them
  } catch {
    return undefined; // not this kind of system
  }
}

/** What this process has used of its processors, and when that was. */
export function processorTime(): { readonly usedMs: number; readonly atMs: number } {
  const { user, system } = process.cpuUsage();
  return { usedMs: (user + system) / 1_000, atMs: machineNowMs() };
}

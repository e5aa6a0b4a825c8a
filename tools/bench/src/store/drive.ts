/**
 * Callers that repeat one operation for a while.
 *
 * Owns the callers and what they have seen. Leaves what the operation is to its end.
 *
 * 1. A caller begins again as soon as its last operation has ended, so there are always as many in flight as callers. Each
 *    has made one operation at least, however short the while.
 */

export interface LoadSample {
  readonly perSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Of one processor, used by this process. */
  readonly processorShare: number;
}

export async function drive(
  operation: () => Promise<unknown>,
  { inFlight, forMs }: { readonly inFlight: number; readonly forMs: number },
): Promise<LoadSample> {
  const latenciesMs: number[] = [];
  const usedBefore = process.cpuUsage();
  const startedAtMs = performance.now();
  const endsAtMs = startedAtMs + forMs;
  const call = async (): Promise<void> => {
    let beganAtMs = performance.now();
    do {
      await operation();
      const endedAtMs = performance.now();
      latenciesMs.push(endedAtMs - beganAtMs);
      beganAtMs = endedAtMs; // 1
    } while (beganAtMs < endsAtMs);
  };
  await Promise.all(Array.from({ length: inFlight }, call));
  const elapsedMs = performance.now() - startedAtMs;
  const { user, system } = process.cpuUsage(usedBefore);
  const sorted = Float64Array.from(latenciesMs).sort();
  return {
    perSecond: (sorted.length / elapsedMs) * 1_000,
    p50Us: percentile(sorted, 0.5) * 1_000,
    p99Us: percentile(sorted, 0.99) * 1_000,
    processorShare: (user + system) / 1_000 / elapsedMs,
  };
}

/** The smallest value that so large a share of all does not exceed; NaN for no values. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/**
 * What has become of messages per second, from two reports of a host.
 *
 * 1. Only time by the host's own monotonic clock counts: neither a slow terminal nor a changed calendar makes a rate.
 * 2. There is no rate between different starts of a host, and none where a counter went back.
 */
import type { Counters, Report } from '../report/report.ts';

/** Per second. */
interface Rates {
  readonly accepted: number;
  readonly handled: number;
  readonly failed: number;
  readonly dropped: number;
}

/** By `counterKey`. */
export type RatesByKey = ReadonlyMap<string, Rates>;

export function counterKey({ surface, meshName = '', owner, verb }: Counters): string {
  return JSON.stringify([surface, meshName, owner, verb]);
}

function droppedCount({ dropped }: Counters): number {
  return [...dropped.values()].reduce((sum, count) => sum + count, 0);
}

/** Undefined if no time lies between them, or another start. */
export function ratesBetween(before: Report, after: Report): RatesByKey | undefined {
  const elapsedMs = after.uptimeMs - before.uptimeMs;
  const isSameStart =
    before.pid === after.pid && before.snapshot.host.lifecycleGeneration === after.snapshot.host.lifecycleGeneration;
  if (!isSameStart || !(elapsedMs > 0)) return undefined; // 2
  const earlier = new Map(before.counters.map((row) => [counterKey(row), row]));
  const rates = new Map<string, Rates>();
  for (const row of after.counters) {
    const key = counterKey(row);
    const from = earlier.get(key);
    const rate = from === undefined ? undefined : ratesOf(from, row, elapsedMs);
    if (rate !== undefined) rates.set(key, rate);
  }
  return rates;
}

function ratesOf(from: Counters, to: Counters, elapsedMs: number): Rates | undefined {
  const perSecond = (count: number): number => (count * 1_000) / elapsedMs;
  const rates = {
    accepted: perSecond(to.accepted - from.accepted),
    handled: perSecond(to.handled - from.handled),
    failed: perSecond(to.failed - from.failed),
    dropped: perSecond(droppedCount(to) - droppedCount(from)),
  };
  return Object.values(rates).every((rate) => rate >= 0) ? rates : undefined; // 2
}

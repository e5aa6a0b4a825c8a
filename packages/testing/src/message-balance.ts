/**
 * The law of message counters: every message that an owner accepted is at one place.
 *
 * Owns what the law says. Leaves asking for counters, at the right moment, to whoever has the host.
 */
import type { MessageCounters } from '@zlink/kernel/observe';

/**
 * Rows of which accepted = handled + failed + sum(dropped) + running + queued is not true, as texts. It is true of a host
 * at any moment, whatever has happened to it.
 */
export function unbalancedCounters(counters: readonly MessageCounters[]): readonly string[] {
  return counters.filter((row) => placesOf(row) !== row.accepted).map((row) => JSON.stringify(row));
}

/**
 * Rows that still have messages running or queued, as texts. A host that has drained has none; one that was stopped by force
 * may still run a handler that ignores its signal.
 */
export function unfinishedCounters(counters: readonly MessageCounters[]): readonly string[] {
  return counters.filter(({ running, queued }) => running !== 0 || queued !== 0).map((row) => JSON.stringify(row));
}

function placesOf({ handled, failed, dropped, running, queued }: MessageCounters): number {
  return Object.values(dropped).reduce((sum, count) => sum + count, handled + failed + running + queued);
}

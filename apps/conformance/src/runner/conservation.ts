/** Every message is at one place: accepted = handled + failed + sum(dropped) + running + queued. */
import type { MessageCounters } from '@zlink/framework';

/** Rows of which that is not true, as texts. */
export function unbalanced(host: string, rows: readonly MessageCounters[]): readonly string[] {
  return rows.filter((row) => sumOf(row) !== row.accepted).map((row) => `${host}: ${JSON.stringify(row)}`);
}

/** Rows that show work although the host has ended, as texts. */
export function unfinished(host: string, rows: readonly MessageCounters[]): readonly string[] {
  return rows.filter((row) => row.running + row.queued > 0).map((row) => `${host} has ended: ${JSON.stringify(row)}`);
}

function sumOf({ handled, failed, dropped, running, queued }: MessageCounters): number {
  return Object.values(dropped).reduce((sum, count) => sum + count, handled + failed + running + queued);
}

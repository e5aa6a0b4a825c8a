/** What becomes of messages, by the counters of one host: texts that name the host. */
import type { MessageCounters } from '@zlink/framework';
import { unbalancedCounters, unfinishedCounters } from '@zlink/testing';

/** Rows by which messages got lost, or were counted twice. */
export function unbalanced(host: string, rows: readonly MessageCounters[]): readonly string[] {
  return unbalancedCounters(rows).map((row) => `${host}: ${row}`);
}

/** Rows that show work although the host has ended. */
export function unfinished(host: string, rows: readonly MessageCounters[]): readonly string[] {
  return unfinishedCounters(rows).map((row) => `${host} has ended: ${row}`);
}

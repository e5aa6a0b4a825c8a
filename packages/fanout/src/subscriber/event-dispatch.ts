/**
 * From an event to its handlers: one dispatcher per rank of handlers.
 *
 * Owns the dispatchers of one subscriber and the one row of counters that they make. Leaves permits and order to the inbox.
 *
 * 1. An event counts once per handler, and once if there is none.
 */
import { DEFAULT_CONCURRENCY, Dispatcher, type DispatcherParts, fanoutSurface } from '@zlink/kernel/dispatch';
import type { HandlerTable } from '@zlink/kernel/dispatch';
import type { InboundRecord } from '@zlink/kernel/internal/transport';
import type { MessageBacklog, MessageCounters } from '@zlink/kernel/observe';

export class EventDispatch {
  readonly #channelName: string;
  readonly #tables: readonly HandlerTable[];
  readonly #dispatchers: readonly Dispatcher[];

  /** @param tables - by rank; at least one */
  constructor(channelName: string, tables: readonly HandlerTable[], parts: DispatcherParts) {
    this.#channelName = channelName;
    this.#tables = tables;
    const where = `fanout channel "${channelName}"`;
    const common = {
      owner: channelName,
      where,
      surface: fanoutSurface(channelName),
      concurrency: DEFAULT_CONCURRENCY,
      parts,
    };
    this.#dispatchers = tables.map((handlers) => new Dispatcher({ ...common, handlers }));
  }

  /** How many dispatches an event of this packet becomes; for an unknown one it is that which says so (1). */
  dispatchesOf(packetName: string): number {
    const count = this.#tables.findIndex((table) => table.find('send', packetName) === undefined);
    return count < 0 ? this.#tables.length : Math.max(1, count);
  }

  /** @param rank - of the handler; a job permit is held for it. Never throws. */
  accept(event: InboundRecord, rank: number): void {
    this.#dispatchers[rank]!.accept(event, undefined); // below `dispatchesOf`
  }

  async idle(): Promise<void> {
    await Promise.all(this.#dispatchers.map((dispatcher) => dispatcher.idle()));
  }

  abortAll(): void {
    for (const dispatcher of this.#dispatchers) dispatcher.abortAll();
  }

  addBacklog(backlog: MessageBacklog): void {
    for (const dispatcher of this.#dispatchers) dispatcher.addBacklog(backlog);
  }

  counters(): MessageCounters {
    const rows = this.#dispatchers.flatMap((dispatcher) => dispatcher.counters()).filter(({ verb }) => verb === 'send');
    const sum = (part: 'accepted' | 'handled' | 'failed' | 'running' | 'queued'): number =>
      rows.reduce((total, row) => total + row[part], 0);
    return Object.freeze({
      owner: this.#channelName,
      surface: 'classic_fanout',
      verb: 'send',
      accepted: sum('accepted'),
      handled: sum('handled'),
      failed: sum('failed'),
      dropped: sumByReason(rows),
      running: sum('running'),
      queued: sum('queued'),
    });
  }
}

function sumByReason(rows: readonly MessageCounters[]): Readonly<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const { dropped } of rows) {
    for (const [reason, count] of Object.entries(dropped)) sums[reason] = (sums[reason] ?? 0) + count;
  }
  return Object.freeze(sums);
}

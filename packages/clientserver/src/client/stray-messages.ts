/**
 * Messages of servers that no request of this process waits for: counted and logged, never handled (CS-006).
 *
 * Owns the channel's row of counters and the form of the log record. Leaves noticing them to the targets.
 */
import type { Link } from '@zlink/kernel/internal/transport';
import { type MessageCounters, type RateLimitedLog, type Stray, StrayCounters } from '@zlink/kernel/observe';

export class StrayMessages {
  readonly #channelName: string;
  readonly #counters = new StrayCounters();
  readonly #log: RateLimitedLog;

  constructor(channelName: string, log: RateLimitedLog) {
    this.#channelName = channelName;
    this.#log = log;
  }

  note(what: Stray, link: Link): void {
    this.#counters.count(what);
    const server = link.peer.rid;
    this.#log.warn(`stray ${this.#channelName} ${server}`, {
      eventId: 'zlink.client_server.stray_message',
      kind: 'ProtocolError',
      channel: this.#channelName,
      server,
      what,
    });
  }

  counters(): MessageCounters {
    return this.#counters.snapshot(this.#channelName);
  }
}

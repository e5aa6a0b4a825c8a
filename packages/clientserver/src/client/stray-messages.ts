/**
 * Messages of servers that no request of this process waits for: counted and recorded, never handled (CS-006).
 *
 * Owns the channel's row of counters and the form of the log record. Leaves noticing them to the targets, and the record of
 * a late reply, which is a dispatch error like any other's, to the calls.
 */
import { noteUnexpectedReply } from '@zlink/kernel/call';
import type { InboundRecord, Link } from '@zlink/kernel/internal/transport';
import { RecordKind } from '@zlink/kernel/internal/wire';
import {
  type FlowPlace,
  type MessageCounters,
  type MessageFlow,
  type RateLimitedLog,
  StrayCounters,
} from '@zlink/kernel/observe';

interface StrayParts {
  readonly flow: MessageFlow;
  readonly log: RateLimitedLog;
}

export class StrayMessages {
  readonly #channelName: string;
  readonly #counters = new StrayCounters();
  readonly #place: FlowPlace;
  readonly #flow: MessageFlow;
  readonly #log: RateLimitedLog;

  /** @param place - of the client */
  constructor(channelName: string, place: FlowPlace, { flow, log }: StrayParts) {
    this.#channelName = channelName;
    this.#place = place;
    this.#flow = flow;
    this.#log = log;
  }

  noteReply(record: InboundRecord, link: Link): void {
    this.#counters.count('reply');
    noteUnexpectedReply(this.#flow, this.#place, record, link);
  }

  /** A send or request, which a server has none of (CS-001). */
  noteMessage(record: InboundRecord, link: Link): void {
    const what = record.kind === RecordKind.request ? 'request' : 'send';
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

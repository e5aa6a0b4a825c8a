/**
 * The form of records: from a message at one point of its way to what loggers get.
 *
 * Owns the fields of both kinds of records. Leaves when something is recorded to calls and dispatches, and writing to the
 * queue.
 *
 * 1. A record is a copy of its own: nothing that happens later changes it (TRACE-012).
 */
import { addLink, addMessage, type FollowedMessage, type Writable } from './message-facts.ts';
import type { FlowPlace } from './place.ts';
import type {
  DispatchErrorAction,
  DispatchErrorReason,
  DispatchErrorRecord,
  MessageFlowRecord,
  MessageKind,
} from './records.ts';
import type { WaitingPhase } from './waiting-phase.ts';

/** What is told of a dispatch error beside the message itself. */
export interface ErrorDetails {
  readonly kind: MessageKind;
  readonly reason: DispatchErrorReason;
  readonly action: DispatchErrorAction;
  readonly owner?: string;
  readonly text: string;
}

export class RecordForm {
  readonly #dateMs: () => number;
  /** The last time that was written out: many records have the same. */
  #atMs = -1;
  #timestamp = '';

  /** @param dateMs - calendar time */
  constructor(dateMs: () => number) {
    this.#dateMs = dateMs;
  }

  phase(waiting: WaitingPhase): MessageFlowRecord {
    const { outcome, reason, sizeBytes, durationMs } = waiting;
    const record = this.#begin(waiting);
    if (outcome !== undefined) record.outcome = outcome;
    if (reason !== undefined) record.reason = reason;
    if (sizeBytes !== undefined) record.message_size_bytes = sizeBytes;
    if (durationMs !== undefined) record.duration_seconds = durationMs / 1_000;
    return record;
  }

  error(place: FlowPlace, message: FollowedMessage, details: ErrorDetails): DispatchErrorRecord {
    const { kind, reason, action, owner, text } = details;
    const record: Writable<DispatchErrorRecord> = {
      eventId: 'zlink.dispatch_error',
      timestamp: this.now(),
      reason,
      action,
      ...place.fields,
      message_kind: kind,
      outcome: 'failed',
      error: text,
    };
    addMessage(record, place, message);
    if (owner !== undefined) record.owner = owner;
    return record;
  }

  /** Nearly all messages have a name, a flow, and a link if their place tells of it: their records begin as a literal. */
  #begin(waiting: WaitingPhase): Writable<MessageFlowRecord> {
    const { timestamp, phase, kind, packetName, flow, link, topic } = waiting;
    const place = waiting.place!;
    if (packetName === '' || flow === undefined || (link === undefined && place.peerField !== undefined)) {
      const record = { eventId: 'zlink.message_flow', timestamp, phase, ...place.fields, message_kind: kind } as const;
      addMessage(record, place, waiting);
      return record;
    }
    const record = place.begin(timestamp, phase, kind, packetName, link?.peer.rid ?? '', flow.id, flow.origin);
    if (link !== undefined && place.peerField !== undefined) addLink(record, place, link, waiting.correlation);
    if (topic !== undefined) record.topic = topic;
    return record;
  }

  now(): string {
    const atMs = this.#dateMs();
    if (atMs !== this.#atMs) {
      this.#atMs = atMs;
      this.#timestamp = new Date(atMs).toISOString();
    }
    return this.#timestamp;
  }
}

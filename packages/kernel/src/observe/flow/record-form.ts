/**
 * The form of records: from a message at one point of its way to what loggers get.
 *
 * Owns the fields of both kinds of records. Leaves when something is recorded to calls and dispatches, and writing to the
 * queue.
 *
 * 1. A record is a copy of its own: nothing that happens later changes it (TRACE-012).
 */
import { addMessage, type FollowedMessage, type Writable } from './message-facts.ts';
import type { FlowPlace } from './place.ts';
import type {
  DispatchErrorAction,
  DispatchErrorReason,
  DispatchErrorRecord,
  FlowOutcome,
  FlowPhase,
  FlowReason,
  MessageFlowRecord,
  MessageKind,
} from './records.ts';

/** What is told of a phase beside the message itself. */
export interface PhaseDetails {
  readonly kind: MessageKind;
  readonly outcome?: FlowOutcome | undefined;
  readonly reason?: FlowReason | undefined;
  /** Of payload and metadata. */
  readonly sizeBytes?: number | undefined;
  /** Since the handler started, or the request was submitted. */
  readonly durationMs?: number | undefined;
}

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

  phase(place: FlowPlace, phase: FlowPhase, message: FollowedMessage, details: PhaseDetails): MessageFlowRecord {
    const { kind, outcome, reason, sizeBytes, durationMs } = details;
    const record: Writable<MessageFlowRecord> = place.begin(this.#now(), phase, kind);
    addMessage(record, place, message);
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
      timestamp: this.#now(),
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

  #now(): string {
    const atMs = this.#dateMs();
    if (atMs !== this.#atMs) {
      this.#atMs = atMs;
      this.#timestamp = new Date(atMs).toISOString();
    }
    return this.#timestamp;
  }
}

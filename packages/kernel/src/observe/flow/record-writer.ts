/**
 * Writes records: phases to the logger's `debug`, dispatch errors to its `warn`, the same ones once per second (TRACE-001).
 *
 * Owns the fields of both. Leaves when they are written to the queue.
 *
 * 1. Never throws: logger and log are guarded.
 */
import type { Logger } from '../logger.ts';
import type { RateLimitedLog } from '../rate-limited-log.ts';
import { addMessage, type Writable } from './message-facts.ts';
import { type ErrorEntry, PhaseEntry, type RecordEntry } from './record-entry.ts';
import type { DispatchErrorRecord, MessageFlowRecord } from './records.ts';

export class RecordWriter {
  readonly #logger: Logger;
  readonly #log: RateLimitedLog;
  /** The last time that was written out: many records have the same. */
  #atMs = -1;
  #timestamp = '';

  constructor(logger: Logger, log: RateLimitedLog) {
    this.#logger = logger;
    this.#log = log;
  }

  write(entry: RecordEntry): void {
    if (entry instanceof PhaseEntry) this.#logger.debug(this.#phaseRecord(entry));
    else this.#log.warn(entry.key, this.#errorRecord(entry));
  }

  #phaseRecord(entry: PhaseEntry): MessageFlowRecord {
    const { place, phase } = entry;
    const { kind, outcome, reason, sizeBytes, durationMs } = entry.details;
    const record: Writable<MessageFlowRecord> = {
      eventId: 'zlink.message_flow',
      timestamp: this.#timestampOf(entry.atMs),
      phase,
      ...place.fields,
      message_kind: kind,
    };
    addMessage(record, place, entry);
    if (outcome !== undefined) record.outcome = outcome;
    if (reason !== undefined) record.reason = reason;
    if (sizeBytes !== undefined) record.message_size_bytes = sizeBytes;
    if (durationMs !== undefined) record.duration_seconds = durationMs / 1_000;
    return record;
  }

  #errorRecord(entry: ErrorEntry): DispatchErrorRecord {
    const { place } = entry;
    const { kind, reason, action, owner, text } = entry.details;
    const record: Writable<DispatchErrorRecord> = {
      eventId: 'zlink.dispatch_error',
      timestamp: this.#timestampOf(entry.atMs),
      reason,
      action,
      ...place.fields,
      message_kind: kind,
      outcome: 'failed',
      error: text,
    };
    addMessage(record, place, entry);
    if (owner !== undefined) record.owner = owner;
    return record;
  }

  #timestampOf(atMs: number): string {
    if (atMs !== this.#atMs) {
      this.#atMs = atMs;
      this.#timestamp = new Date(atMs).toISOString();
    }
    return this.#timestamp;
  }
}

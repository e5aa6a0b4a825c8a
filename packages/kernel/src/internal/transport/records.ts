/**
 * Records as topics see them: what a call hands to a link, and what a link hands to a topic.
 *
 * Owns the two shapes. Leaves bytes to `internal/wire` and order, credit and correlation to the link.
 */
import type { PayloadSink } from '../../codec/codec.ts';
import type { ErrorKindName, ZLinkError } from '../../errors/index.ts';
import type { CarriedFlow } from '../../observe/index.ts';
import type { OutboundName } from '../wire/names.ts';
import type { OutboundTrace } from '../wire/outbound-trace.ts';
import type { RecordKind } from '../wire/record.ts';
import type { Link } from './transport.ts';

/**
 * One record on its way out. Calls and replies implement it themselves, so that nothing is allocated per record.
 *
 * O1 After `submit` exactly one of `onAdmitted` and `onRefused` happens if `submit` returned false, none otherwise.
 */
export interface OutboundRecord {
  readonly kind: RecordKind;
  readonly name: OutboundName | undefined;
  /** Requests: written by the link at admission. Replies: the request's. Otherwise 0. */
  correlation: number;
  /** Kind-specific number in the header: the `ErrorKind` of an error reply, otherwise 0. */
  readonly errorNumber: number;
  /** When the request's time runs out, by the host's clock; 0: no limit (WIRE-006). */
  readonly deadlineAtMs: number;
  readonly metadata: Uint8Array | undefined;
  readonly trace: OutboundTrace | undefined;
  /** Bytes this record needs in the window, once an encoding has shown it; 0 before. Written by the link. */
  costBytes: number;
  /** Writes the payload. Called at admission, possibly a second time when the first try found no credit. */
  encode(sink: PayloadSink): void;
  /** A record that had to wait was written into the link's batch. */
  onAdmitted(): void;
  /** A waiting record will never be written: the link ended, or encoding failed. It was not submitted. */
  onRefused(error: ZLinkError): void;
}

/** A request in flight: waits in the link's pending table for exactly one of the two results. */
export interface OutboundRequest extends OutboundRecord {
  /** `record` is valid during the call only. */
  onReply(record: InboundRecord): void;
  onFailed(error: ZLinkError): void;
}

/** A name as the receiver keeps it: one per link and id, so that lookups by name happen once. */
export interface InboundName {
  /** ChannelName on a RouteMesh link; empty for Node direct and on ClientServer links. */
  readonly scope: string;
  readonly contentType: string;
  readonly packetName: string;
  /** For the topic: whatever it resolved this name to. */
  slot: unknown;
}

/** Reads a section that lies in `source[start…end)`, and keeps nothing of it. */
export type TraceReading<T> = (source: Uint8Array, start: number, end: number) => T;

/** One received record. The link reuses it: valid during the sink's call only; the bytes stay valid. */
export interface InboundRecord {
  readonly kind: RecordKind;
  readonly correlation: number;
  /** Milliseconds the request has left now, its wait for a permit taken off; 0: no limit; below 0: it is over already. */
  readonly remainingMs: number;
  readonly errorKind: ErrorKindName | undefined;
  readonly name: InboundName | undefined;
  /** Payload is `payload[payloadStart…payloadEnd)`. */
  readonly payload: Uint8Array;
  readonly payloadStart: number;
  readonly payloadEnd: number;
  /** Metadata bytes as received, or undefined. Allocated on first use. */
  readonly metadata: Uint8Array | undefined;
  /** As `metadata`. */
  readonly trace: Uint8Array | undefined;
  /** Reads the trace section, if there is one, without a view of it: every message has one (WIRE-007). */
  readTrace<T>(read: TraceReading<T>): T | undefined;
  /** Of a fanout event; records of a link have none. Nobody changes it. */
  readonly topic?: Uint8Array;
  /** Of an event: what the first of its handlers has read or begun, for all of them. */
  flow?: CarriedFlow | undefined;
  /** Charge of this record: payload, metadata and a fixed cost. */
  readonly costBytes: number;
}

/** What a topic does with one link. All calls are synchronous and must not throw. */
export interface LinkSink {
  /**
   * An ordinary record (send or request) whose turn has come. A job permit is held for it: the sink returns it through
   * the same `JobPermits` exactly once.
   */
  onRecord(record: InboundRecord, link: Link): void;
  /** A reply or error reply that no pending request waits for (late or unknown). */
  onUnmatched(record: InboundRecord, link: Link): void;
  /** The caller of this request no longer waits for its reply. */
  onCancel(correlation: number, link: Link): void;
  /** The peer's descriptor has a new revision. */
  onUpdate(link: Link): void;
  /** The link takes no new work any more, here or there; accepted work may still end on it. */
  onFinishing(link: Link): void;
  onClosed(link: Link, reason: string): void;
}

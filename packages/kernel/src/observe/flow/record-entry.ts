/**
 * A record that waits to be written.
 *
 * Owns the copy of what is known at a point. Leaves its words to the writer.
 *
 * 1. What an entry refers to never changes: texts are made when it is written (TRACE-012).
 */
import type { CarriedFlow } from './flow.ts';
import type { FlowLink, FollowedMessage } from './message-facts.ts';
import type { FlowPlace } from './place.ts';
import type {
  DispatchErrorAction,
  DispatchErrorReason,
  FlowOutcome,
  FlowPhase,
  FlowReason,
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

export type RecordEntry = PhaseEntry | ErrorEntry;

/** One object per record: the message is copied field by field. */
export class PhaseEntry implements FollowedMessage {
  /** Given by the queue. */
  order = 0;
  readonly atMs: number;
  readonly place: FlowPlace;
  readonly phase: FlowPhase;
  readonly details: PhaseDetails;
  readonly packetName: string;
  readonly flow: CarriedFlow | undefined;
  readonly link: FlowLink | undefined;
  readonly correlation: number;
  readonly topic: string | Uint8Array | undefined;

  constructor(atMs: number, place: FlowPlace, phase: FlowPhase, message: FollowedMessage, details: PhaseDetails) {
    this.atMs = atMs;
    this.place = place;
    this.phase = phase;
    this.details = details;
    this.packetName = message.packetName;
    this.flow = message.flow;
    this.link = message.link;
    this.correlation = message.correlation;
    this.topic = message.topic;
  }
}

export class ErrorEntry implements FollowedMessage {
  /** Given by the queue. */
  order = 0;
  readonly atMs: number;
  readonly place: FlowPlace;
  readonly details: ErrorDetails;
  readonly key: string;
  readonly packetName: string;
  readonly flow: CarriedFlow | undefined;
  readonly link: FlowLink | undefined;
  readonly correlation: number;
  readonly topic: string | Uint8Array | undefined;

  constructor(atMs: number, place: FlowPlace, message: FollowedMessage, details: ErrorDetails, key: string) {
    this.atMs = atMs;
    this.place = place;
    this.details = details;
    this.key = key;
    this.packetName = message.packetName;
    this.flow = message.flow;
    this.link = message.link;
    this.correlation = message.correlation;
    this.topic = message.topic;
  }
}

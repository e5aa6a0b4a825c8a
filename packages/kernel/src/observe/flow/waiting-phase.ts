/**
 * What a message was when it reached a point of its way, until its record is written.
 *
 * Owns the copy. Leaves what a record says to its form, and how many wait to the queue.
 *
 * 1. Nothing that happens to the message later changes it (TRACE-012).
 * 2. One object takes many of them in turn: what waits outlives collections, and new objects would be copied by each
 *    (measured: the half of what a record costs).
 */
import type { CarriedFlow } from './flow.ts';
import { type FlowLink, type FollowedMessage, topicText } from './message-facts.ts';
import type { FlowPlace } from './place.ts';
import type { FlowOutcome, FlowPhase, FlowReason, MessageKind } from './records.ts';

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

export class WaitingPhase implements FollowedMessage {
  /** Among all records that wait. */
  order = 0;
  timestamp = '';
  place: FlowPlace | undefined = undefined;
  phase: FlowPhase = 'sent';
  packetName = '';
  flow: CarriedFlow | undefined = undefined;
  link: FlowLink | undefined = undefined;
  correlation = 0;
  topic: string | undefined = undefined;
  kind: MessageKind = 'send';
  outcome: FlowOutcome | undefined = undefined;
  reason: FlowReason | undefined = undefined;
  sizeBytes: number | undefined = undefined;
  durationMs: number | undefined = undefined;

  hold(
    order: number,
    timestamp: string,
    place: FlowPlace,
    phase: FlowPhase,
    message: FollowedMessage,
    details: PhaseDetails,
  ): void {
    const { topic } = message;
    this.order = order;
    this.timestamp = timestamp;
    this.place = place;
    this.phase = phase;
    this.packetName = message.packetName;
    this.flow = message.flow;
    this.link = message.link;
    this.correlation = message.correlation;
    this.topic = topic === undefined ? undefined : topicText(topic); // its bytes are the receiver's buffer
    this.kind = details.kind;
    this.outcome = details.outcome;
    this.reason = details.reason;
    this.sizeBytes = details.sizeBytes;
    this.durationMs = details.durationMs;
  }

  release(): void {
    this.flow = undefined;
    this.link = undefined;
    this.topic = undefined;
  }
}

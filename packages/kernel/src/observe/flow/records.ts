/**
 * What is recorded of messages: the shapes that loggers get, and their closed sets of words (TRACE-002 to TRACE-006).
 *
 * 1. Never a payload, a value of metadata or a stack (TRACE-004).
 */
import type { FlowOrigin } from './flow.ts';
import type { PlaceFields } from './place.ts';

/**
 * How far a message has come.
 * - `sent`: its link has accepted it here
 * - `backpressured`: it has to wait until its link accepts it
 * - `received`, `admitted`: it has arrived, and its target's queue has taken it
 * - `dispatched`, `completed`: its handler starts; the handler of a one-way message has ended
 * - `replied`: its reply or error is built and on its way
 * - `reply_received`: the request has ended at the caller, however; exactly once
 * - `dropped`: it goes no further, and nobody is answered
 */
export type FlowPhase =
  | 'sent'
  | 'received'
  | 'admitted'
  | 'dispatched'
  | 'completed'
  | 'replied'
  | 'reply_received'
  | 'backpressured'
  | 'dropped';

export type MessageKind = 'send' | 'request' | 'response' | 'error' | 'control';

export type FlowOutcome = 'succeeded' | 'failed' | 'backpressured' | 'dropped' | 'cancelled' | 'shutdown';

/** Why a message was dropped, where it is one of these. */
export type FlowReason =
  | 'backpressure'
  | 'stale_target'
  | 'target_closed'
  | 'shutdown'
  | 'location_unavailable'
  | 'activation_rejected'
  | 'activation_timeout';

/** Why a dispatch failed. */
export type DispatchErrorReason =
  | 'no_handler'
  | 'decode_error'
  | 'handler_exception'
  | 'invalid_frame'
  | 'reply_path_missing'
  | 'unexpected_reply'
  | 'backpressure'
  | 'stale_target'
  | 'shutdown';

/** What was done about it: the caller was answered, nobody was told, or the call of this process failed. */
export type DispatchErrorAction = 'reply_error' | 'drop' | 'fail_caller';

/** What both kinds of records say of a message, where it applies. */
export interface MessageFields extends PlaceFields {
  readonly message_kind: MessageKind;
  readonly endpoint?: string;
  readonly packet_name?: string;
  readonly topic?: string;
  /** Of a request: names it at both ends of its link. */
  readonly correlation_id?: string;
  readonly flow_id?: string;
  readonly flow_origin?: FlowOrigin;
  readonly outcome?: FlowOutcome;
}

/** Goes to the logger at `debug`. */
export interface MessageFlowRecord extends MessageFields {
  readonly eventId: 'zlink.message_flow';
  readonly timestamp: string;
  readonly phase: FlowPhase;
  readonly reason?: FlowReason;
  /** Of payload and metadata; at level `detailed`, if the host includes it. */
  readonly message_size_bytes?: number;
  /** At level `detailed`. `completed`, `replied`: since the handler started. `reply_received`: since it was submitted. */
  readonly duration_seconds?: number;
}

/** Goes to the logger at `warn`, at most once per second and place, reason and packet. */
export interface DispatchErrorRecord extends MessageFields {
  readonly eventId: 'zlink.dispatch_error';
  readonly timestamp: string;
  readonly outcome: 'failed';
  readonly reason: DispatchErrorReason;
  readonly action: DispatchErrorAction;
  /** Whose handlers: a channel or mesh name. */
  readonly owner?: string;
  /** Kind, name and text of what was thrown, in one bounded line. */
  readonly error?: string;
}

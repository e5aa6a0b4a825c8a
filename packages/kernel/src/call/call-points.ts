/**
 * The points of a call's way that are told: to records, to its span, to the meter of its path.
 *
 * Owns what is said at each of them, and in which words an end is told. Leaves to sends and requests when they reach one.
 *
 * 1. A point that nobody looks at costs a comparison or two: no clock is read and nothing is made (TRACE-010).
 * 2. A request ends once, and so do its record, its span and its measurement (TRACE-002, CALL-004).
 */
import { isZLinkError, type ZLinkError } from '../errors/index.ts';
import type { InboundRecord, Link } from '../internal/transport/index.ts';
import { RECORD_COST_BYTES, RecordKind } from '../internal/wire/index.ts';
import {
  type AdmissionOutcome,
  type CarriedFlow,
  type DispatchErrorReason,
  errorText,
  type FlowOutcome,
  type FlowPlace,
  type FlowReason,
  type FollowedMessage,
  messageFields,
  type MessageFlow,
  type MessageKind,
  type MessageSpan,
  type RequestOutcome,
} from '../observe/index.ts';
import type { CallPath } from './call-path.ts';

/** The way that a call or a publish takes, as far as records tell of it. */
export interface FollowedPath extends Pick<CallPath, 'label' | 'place'> {
  readonly terms: { readonly flow: MessageFlow };
}

/** A call as its records see it. */
export interface FollowedCall extends FollowedMessage {
  readonly path: FollowedPath;
  readonly span: MessageSpan | undefined;
  /** Once it was written; undefined: nobody has told. */
  readonly costBytes?: number;
}

export interface FollowedRequest extends FollowedCall {
  readonly path: CallPath;
}

/**
 * How a call ended.
 * - `succeeded`: a reply came, or the message was accepted
 * - `remote`: with the error that the other side answered with
 * - `unreadable`: with a reply that could not be read
 * - `local`: with an error of this side
 * - `cancelled`: its signal was aborted
 */
export type CallEnd = 'succeeded' | 'remote' | 'unreadable' | 'local' | 'cancelled';

/** Before it has a link. */
type StartingMessage = Pick<FollowedMessage, 'packetName' | 'flow' | 'topic'>;

/** Starts the span of a call; undefined: there are none at this level. */
export function startSpan(
  kind: 'producer' | 'client',
  path: FollowedPath,
  { packetName, flow, topic }: StartingMessage,
): MessageSpan | undefined {
  const { tracer } = path.terms.flow;
  if (tracer === undefined) return undefined;
  const message = { packetName, flow, link: undefined, correlation: 0, topic };
  const fields = messageFields(path.place, kind === 'client' ? 'request' : 'send', message, undefined);
  return tracer.start(kind, packetName, flow?.traceContext, fields);
}

/** What the message carries: its flow, sent on by its span. */
export function carriedBy(flow: CarriedFlow | undefined, span: MessageSpan | undefined): CarriedFlow | undefined {
  return span === undefined ? flow : flow?.withTraceContext(span.context);
}

/** The link has accepted it. */
export function noteSent(call: FollowedCall, kind: MessageKind): void {
  const { place, terms } = call.path;
  const { flow } = terms;
  if (!flow.records(call.flow)) return;
  const { costBytes } = call;
  const sizeBytes = flow.tellsSizes && costBytes !== undefined ? costBytes - RECORD_COST_BYTES : undefined;
  flow.note(place, 'sent', call, { kind, sizeBytes });
}

/** It has to wait for credit. */
export function noteBackpressured(call: FollowedCall, kind: MessageKind): void {
  const { place, terms } = call.path;
  if (terms.flow.isOff) return;
  terms.flow.note(place, 'backpressured', call, { kind, outcome: 'backpressured', reason: 'backpressure' });
}

/** A send was accepted. */
export function sendAccepted(call: FollowedCall): void {
  const { span, path } = call;
  if (span !== undefined) span.end(messageFields(path.place, 'send', call, 'succeeded'), undefined);
  noteSent(call, 'send');
}

/** A send was refused with `error`. */
export function sendFailed(call: FollowedCall, end: CallEnd, error: unknown): void {
  const { path, span } = call;
  const { flow } = path.terms;
  const outcome = sendOutcome(end, error);
  if (span !== undefined) span.end(messageFields(path.place, 'send', call, outcome), errorKindOf(end, error));
  if (flow.isOff) return;
  tellCaller(call, 'send', end, error);
  flow.note(path.place, 'dropped', call, { kind: 'send', outcome, reason: dropReason(error) });
}

/**
 * A request has its one result.
 *
 * @param startedAtMs - when it was submitted
 * @param replyBytes - of its reply, if one came
 */
export function requestEnded(
  call: FollowedRequest,
  end: CallEnd,
  error: unknown,
  startedAtMs: number,
  replyBytes?: number,
): void {
  const { path, span } = call;
  const { meter, terms, place } = path;
  const { flow, clock } = terms;
  if (meter !== undefined) meter.requestEnded(requestOutcome(end, error), (clock.nowMs() - startedAtMs) / 1_000);
  if (span !== undefined) {
    span.end(messageFields(place, answerKind(end), call, requestFlowOutcome(end, error)), errorKindOf(end, error));
  }
  if (flow.isOff) return;
  if (end !== 'succeeded') tellCaller(call, answerKind(end), end, error);
  if (!flow.records(call.flow)) return;
  flow.note(place, 'reply_received', call, {
    kind: answerKind(end),
    outcome: requestFlowOutcome(end, error),
    sizeBytes: flow.tellsSizes ? replyBytes : undefined,
    durationMs: flow.isDetailed ? clock.nowMs() - startedAtMs : undefined,
  });
}

/** An answer came that no request of this process waits for any more, or ever did. */
export function noteUnexpectedReply(flow: MessageFlow, place: FlowPlace, record: InboundRecord, link: Link): void {
  if (flow.isOff) return;
  const message = { packetName: record.name?.packetName ?? '', flow: undefined, link, correlation: record.correlation };
  flow.fail(
    `unexpected reply ${place.fields.channel_name ?? place.fields.mesh_name} ${link.peer.rid}`,
    place,
    message,
    {
      kind: record.kind === RecordKind.error ? 'error' : 'response',
      reason: 'unexpected_reply',
      action: 'drop',
      text: '[ProtocolError] no request waits for it', // CS-006
    },
  );
}

/** Whether anybody is told that a request has succeeded. */
export function isWatched({ path, span }: FollowedRequest): boolean {
  return path.meter !== undefined || span !== undefined || path.terms.flow.isFollowing;
}

/** Undefined: the wait ended in a way that is none of these, such as with its link. */
export function admissionOutcome(end: CallEnd, error: unknown): AdmissionOutcome | undefined {
  if (end === 'cancelled') return 'cancelled';
  if (!isZLinkError(error)) return undefined;
  if (error.kind === 'DeadlineExceeded') return 'timed_out';
  return error.kind === 'ShuttingDown' ? 'shutdown' : undefined;
}

/** What of it is a dispatch error: the caller fails for something that is wrong here, or with the reply (TRACE-006). */
function tellCaller(call: FollowedCall, kind: MessageKind, end: CallEnd, error: unknown): void {
  const reason = errorReason(end, error);
  if (reason === undefined || !isZLinkError(error)) return;
  const { place, terms, label } = call.path;
  terms.flow.fail(`call ${label} ${reason} ${call.packetName}`, place, call, {
    kind,
    reason,
    action: kind === 'send' ? 'drop' : 'fail_caller',
    text: errorText(error),
  });
}

function errorReason(end: CallEnd, error: unknown): DispatchErrorReason | undefined {
  if (end === 'unreadable') return 'decode_error';
  if (end !== 'local' || !isZLinkError(error)) return undefined;
  if (error.kind === 'CapacityExceeded') return 'backpressure';
  return error.kind === 'ShuttingDown' ? 'shutdown' : undefined;
}

function requestOutcome(end: CallEnd, error: unknown): RequestOutcome {
  if (end === 'succeeded' || end === 'cancelled') return end;
  if (end === 'remote' || !isZLinkError(error)) return 'failed'; // neither this side's time nor its end
  if (error.kind === 'DeadlineExceeded') return 'timed_out';
  return error.kind === 'ShuttingDown' ? 'shutdown' : 'failed';
}

function requestFlowOutcome(end: CallEnd, error: unknown): FlowOutcome {
  const outcome = requestOutcome(end, error);
  if (outcome !== 'failed' && outcome !== 'timed_out') return outcome;
  return end === 'local' && isOfKind(error, 'CapacityExceeded') ? 'backpressured' : 'failed';
}

function sendOutcome(end: CallEnd, error: unknown): FlowOutcome {
  if (end === 'cancelled') return end;
  return isOfKind(error, 'ShuttingDown') ? 'shutdown' : 'dropped';
}

/** What stood in the way of a send. */
function dropReason(error: unknown): FlowReason | undefined {
  if (!isZLinkError(error)) return undefined;
  switch (error.kind) {
    case 'DeadlineExceeded':
    case 'CapacityExceeded':
      return 'backpressure';
    case 'ShuttingDown':
      return 'shutdown';
    case 'Unavailable':
      return 'target_closed';
    default:
      return undefined;
  }
}

function errorKindOf(end: CallEnd, error: unknown): string | undefined {
  if (end === 'succeeded' || end === 'cancelled') return undefined;
  return isZLinkError(error) ? error.kind : 'InternalFailure';
}

function answerKind(end: CallEnd): MessageKind {
  if (end === 'succeeded' || end === 'unreadable') return 'response';
  return end === 'remote' ? 'error' : 'request';
}

function isOfKind(error: unknown, kind: ZLinkError['kind']): boolean {
  return isZLinkError(error) && error.kind === kind;
}

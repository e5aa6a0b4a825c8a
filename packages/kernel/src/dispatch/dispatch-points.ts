/**
 * The points of a received message's way that are told to records and spans.
 *
 * Owns what is said at each of them, and the flow of a message that arrives. Leaves to dispatcher and reply path when one is
 * reached, and dispatch errors to the failure log.
 *
 * 1. A point that nobody looks at costs a comparison or two, mostly before it gets here (TRACE-010).
 * 2. A message ends with one of `completed`, `replied` and `dropped`, and its span with it (TRACE-002).
 */
import { errorKindOf, type ErrorKindName } from '../errors/index.ts';
import type { Clock } from '../internal/time/index.ts';
import type { InboundRecord, Link } from '../internal/transport/index.ts';
import { RECORD_COST_BYTES } from '../internal/wire/limits.ts';
import { RecordKind } from '../internal/wire/record.ts';
import {
  CarriedFlow,
  type FlowOutcome,
  type FlowPhase,
  type FlowPlace,
  type FlowReason,
  type FollowedMessage,
  type MessageFlow,
  type MessageKind,
  messageFields,
  type MessageSpan,
} from '../observe/index.ts';
import { type Outcome, verbOf } from './counters.ts';
import type { Dispatch } from './dispatch.ts';

export class DispatchPoints {
  readonly #flow: MessageFlow;
  readonly #place: FlowPlace;
  readonly #clock: Clock;

  constructor(flow: MessageFlow, place: FlowPlace, clock: Clock) {
    this.#flow = flow;
    this.#place = place;
    this.#clock = clock;
  }

  /** The flow of a message that arrives, which begins here if it has none; undefined: what it carries is malformed (TRACE-021). */
  received(record: InboundRecord, link: Link | undefined): CarriedFlow | undefined {
    const flow = record.topic === undefined ? this.#flowOf(record) : this.#flowOfEvent(record);
    if (this.#flow.records(flow)) {
      const sizeBytes = this.#flow.tellsSizes ? record.costBytes - RECORD_COST_BYTES : undefined;
      this.#flow.note(this.#place, 'received', asFollowed(record, link, flow), { kind: verbOf(record), sizeBytes });
    }
    return flow;
  }

  /** Its queue has taken it. */
  admitted(dispatch: Dispatch): void {
    if (this.#flow.records(dispatch.flow)) this.#note('admitted', dispatch, dispatch.verb);
  }

  /** Its handler starts now. */
  dispatched(dispatch: Dispatch, startedAtMs: number): void {
    if (this.#flow.records(dispatch.flow)) this.#note('dispatched', dispatch, dispatch.verb);
    const span = this.#startSpan(dispatch);
    if (span !== undefined || this.#flow.isDetailed) dispatch.trail = { span, startedAtMs, flow: undefined };
  }

  /** Its reply, or the error in place of one, has been taken by its link. */
  replied(dispatch: Dispatch): void {
    if (!this.#flow.records(dispatch.flow)) return;
    const isReply = dispatch.kind === RecordKind.reply;
    this.#note('replied', dispatch, isReply ? 'response' : 'error', isReply ? 'succeeded' : 'failed');
  }

  /** A message that never became a dispatch was answered with an error. */
  refused(record: InboundRecord, link: Link, flow: CarriedFlow | undefined): void {
    if (!this.#flow.records(flow)) return;
    const message = asFollowed(record, link, flow);
    this.#flow.note(this.#place, 'replied', message, { kind: 'error', outcome: 'failed' });
  }

  /** Nobody is answered, and no handler has run to its end. */
  dropped(message: FollowedMessage, kind: MessageKind, outcome: Outcome): void {
    if (this.#flow.isOff) return;
    this.#flow.note(this.#place, 'dropped', message, {
      kind,
      outcome: flowOutcome(outcome),
      reason: flowReason(outcome),
    });
  }

  /** Nothing of the dispatch is left. */
  ended(dispatch: Dispatch): void {
    const { outcome, verb, trail } = dispatch;
    if (trail?.span !== undefined) this.#endSpan(dispatch, trail.span);
    if (verb === 'request') return; // was replied or dropped before
    if (outcome !== 'handled' && outcome !== 'failed') return this.dropped(dispatch, 'send', outcome);
    if (this.#flow.records(dispatch.flow)) this.#note('completed', dispatch, 'send', flowOutcome(outcome));
  }

  #flowOf(record: InboundRecord): CarriedFlow | undefined {
    const flow = record.readTrace(readFlow);
    return flow === undefined ? this.#flow.begin('inbound') : flow === MALFORMED ? undefined : flow;
  }

  /** An event may have several handlers: the first one's dispatch reads or begins its flow for all. */
  #flowOfEvent(record: InboundRecord): CarriedFlow | undefined {
    return (record.flow ??= this.#flowOf(record));
  }

  #note(phase: FlowPhase, dispatch: Dispatch, kind: MessageKind, outcome?: FlowOutcome): void {
    const { trail } = dispatch;
    const isTimed = outcome !== undefined && trail !== undefined && this.#flow.isDetailed;
    const durationMs = isTimed ? this.#clock.nowMs() - trail.startedAtMs : undefined;
    this.#flow.note(this.#place, phase, dispatch, { kind, outcome, durationMs });
  }

  #startSpan(dispatch: Dispatch): MessageSpan | undefined {
    const { tracer } = this.#flow;
    if (tracer === undefined) return undefined;
    const { verb, flow, packetName } = dispatch;
    const fields = messageFields(this.#place, verb, dispatch, undefined);
    return tracer.start(verb === 'request' ? 'server' : 'consumer', packetName, flow?.traceContext, fields);
  }

  #endSpan(dispatch: Dispatch, span: MessageSpan): void {
    const fields = messageFields(this.#place, dispatch.verb, dispatch, flowOutcome(dispatch.outcome));
    span.end(fields, spanErrorOf(dispatch));
  }
}

const MALFORMED = 'malformed';

function readFlow(source: Uint8Array, start: number, end: number): CarriedFlow | typeof MALFORMED {
  return CarriedFlow.read(source, start, end) ?? MALFORMED;
}

/** A message that arrives. */
export function asFollowed(
  record: InboundRecord,
  link: Link | undefined,
  flow: CarriedFlow | undefined,
): FollowedMessage {
  const { packetName } = record.name!; // a link lets no send or request without a name through
  return { packetName, flow, link, correlation: record.correlation, topic: record.topic };
}

/** Undefined: it has ended as it should, or nobody waits any more. */
function spanErrorOf({ outcome, verb, errorNumber }: Dispatch): ErrorKindName | undefined {
  switch (outcome) {
    case 'handled':
    case 'cancelled':
    case 'link_closed':
      return undefined;
    case 'filtered':
      return verb === 'send' ? undefined : 'Rejected';
    case 'reply_expired':
      return 'DeadlineExceeded';
    case 'reply_path_missing':
      return 'Unavailable';
    case 'shutdown':
      return 'ShuttingDown';
    default:
      return errorKindOf(errorNumber); // it has thrown
  }
}

function flowOutcome(outcome: Outcome): FlowOutcome {
  switch (outcome) {
    case 'handled':
      return 'succeeded';
    case 'failed':
      return 'failed';
    case 'shutdown':
      return 'shutdown';
    case 'cancelled':
    case 'link_closed':
      return 'cancelled';
    default:
      return 'dropped';
  }
}

function flowReason(outcome: Outcome): FlowReason | undefined {
  switch (outcome) {
    case 'backpressure':
    case 'shutdown':
      return outcome;
    case 'not_serving':
      return 'stale_target';
    case 'link_closed':
    case 'reply_path_missing':
      return 'target_closed';
    default:
      return undefined;
  }
}

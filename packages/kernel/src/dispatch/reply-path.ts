/**
 * What becomes of a handler's result: the reply, an error reply, or nothing.
 *
 * Owns the answer to a request from the end of its handler until the link has written it. Leaves running handlers and
 * counting to the dispatcher, and the way a value is encoded to the name routes.
 *
 * R1 A request is answered once, or its account on the link is closed once (`forgo`); a send never is (DISP-004).
 * R2 Nobody gets a reply who no longer waits: cancelled, link ended, time over (CORE-015).
 * R3 A reply that waits for credit holds its place in the mailbox until it was written, refused or is too late.
 * R4 Whatever codec, schema or link throw ends here: as an error reply, or recorded.
 */
import { describeValue, ErrorKind, isZLinkError, ZLinkError } from '../errors/index.ts';
import { setRecordText } from '../errors/record-text.ts';
import type { Clock, DeadlineWheel } from '../internal/time/index.ts';
import type { InboundRecord, Link } from '../internal/transport/index.ts';
import { RecordKind } from '../internal/wire/record.ts';
import { type CarriedFlow, errorText } from '../observe/index.ts';
import { type DropReason, type Outcome, verbOf } from './counters.ts';
import type { Dispatch, DispatchOwner } from './dispatch.ts';
import { asFollowed, type DispatchPoints } from './dispatch-points.ts';
import type { FailureLog } from './failure-log.ts';
import type { HandlerEntry } from './handler-registry.ts';
import type { Refusal } from './intake.ts';
import type { NameRoutes } from './name-routes.ts';
import { CAUSE_IN_LOG, ErrorReply, type PeerError, peerErrorOf, typedErrorOf } from './peer-error.ts';

export interface ReplyPathOptions {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly routes: NameRoutes;
  readonly failures: FailureLog;
  readonly points: DispatchPoints;
  readonly exposeErrorMessages: boolean;
  /** A reply that had to wait is over. */
  readonly onOver: (dispatch: Dispatch) => void;
}

export class ReplyPath implements DispatchOwner {
  readonly #clock: Clock;
  readonly #wheel: DeadlineWheel;
  readonly #routes: NameRoutes;
  readonly #failures: FailureLog;
  readonly #points: DispatchPoints;
  readonly #exposeErrorMessages: boolean;
  readonly #onOver: (dispatch: Dispatch) => void;

  constructor(options: ReplyPathOptions) {
    this.#clock = options.clock;
    this.#wheel = options.wheel;
    this.#routes = options.routes;
    this.#failures = options.failures;
    this.#points = options.points;
    this.#exposeErrorMessages = options.exposeErrorMessages;
    this.#onOver = options.onOver;
  }

  /** The handler has returned or its promise was fulfilled. */
  returned(dispatch: Dispatch, entry: HandlerEntry, value: unknown): void {
    if (dispatch.verb === 'send') return;
    if (dispatch.replyState === 'open' && dispatch.abandoned === 'link_closed') this.#tellNoReplyPath(dispatch);
    if (this.#isAnswered(dispatch)) return;
    try {
      this.#routes.prepareReply(dispatch, entry, value);
    } catch (error) {
      this.#unencodable(dispatch, error);
      return;
    }
    this.#submit(dispatch, 'handled');
  }

  /** Handler or filter have thrown, or its promise was rejected. */
  threw(dispatch: Dispatch, error: unknown): void {
    // A handler that ends with the reason of its signal did as it was told.
    const isObedient = dispatch.abortReason !== undefined && isCausedBy(error, dispatch.abortReason);
    const isAnswer = dispatch.verb === 'request' && isZLinkError(error);
    if (!isObedient) this.#failures.threw(dispatch, error, isAnswer);
    if (dispatch.verb === 'send') {
      dispatch.outcome = isObedient ? (dispatch.abandoned ?? 'failed') : 'failed';
      dispatch.errorNumber = ErrorKind[typedErrorOf(error)?.kind ?? 'InternalFailure']; // for its span: nobody is answered
    } else if (!this.#isAnswered(dispatch)) {
      this.fail(dispatch, peerErrorOf(error, this.#exposeErrorMessages, this.#failures.failureOf(dispatch)), 'failed');
    }
  }

  /** Answers with an error; a send just ends so. */
  fail(dispatch: Dispatch, error: PeerError, outcome: Outcome): void {
    dispatch.outcome = outcome;
    if (dispatch.verb === 'send') return;
    dispatch.becomeErrorReply(error);
    this.#submit(dispatch, outcome);
  }

  /** A filter did not call the next one. */
  stopped(dispatch: Dispatch): void {
    if (dispatch.verb === 'request' && this.#isAnswered(dispatch)) return;
    this.fail(
      dispatch,
      { kind: 'Rejected', text: `a filter stopped request ${describeValue(dispatch.packetName)}` },
      'filtered',
    );
  }

  /** Ends a request without any reply. */
  forgo(dispatch: Dispatch, outcome: Outcome): void {
    dispatch.outcome = outcome;
    if (dispatch.verb === 'send') return;
    dispatch.closeReply();
    this.#points.dropped(dispatch, 'request', outcome);
    const link = linkOf(dispatch);
    if (link.phase !== 'closed') link.forgo(); // R1
  }

  /** A message that never becomes a job: a request is answered with the refusal, a send just ends so. */
  refuse(record: InboundRecord, link: Link | undefined, refusal: Refusal, flow: CarriedFlow | undefined): void {
    const verb = verbOf(record);
    const message = { verb, ...asFollowed(record, link, flow) };
    this.#failures.dropped(message, refusal.reason, refusal.text);
    // A request has a link.
    if (verb === 'send' || link === undefined) return this.#points.dropped(message, verb, refusal.reason);
    try {
      link.submit(new ErrorReply(record.correlation, refusal));
      this.#points.refused(record, link, flow);
    } catch (error) {
      this.#failures.dropped(message, 'reply_path_missing', errorText(error));
      this.#points.dropped(message, verb, 'reply_path_missing');
      if (link.phase !== 'closed') link.forgo(); // R1
    }
  }

  /** The caller no longer waits. */
  cancel(dispatch: Dispatch, reason: ZLinkError): void {
    if (dispatch.replyState === 'waiting') this.#giveUpWaiting(dispatch, 'cancelled');
    else if (dispatch.replyState === 'open') dispatch.abort(reason, 'cancelled');
  }

  watch(dispatch: Dispatch): boolean {
    if (dispatch.deadlineAtMs === 0) return true;
    if (this.#isExpired(dispatch)) return false;
    try {
      this.#wheel.add(dispatch);
    } catch {
      // The wheel is closed: so is the host, and nothing waits for this deadline any more.
    }
    return true;
  }

  /** Nothing of the dispatch is held any more. */
  unwatch(dispatch: Dispatch): void {
    this.#wheel.remove(dispatch);
  }

  deadlinePassed(dispatch: Dispatch): void {
    if (dispatch.replyState === 'waiting') this.#giveUpWaiting(dispatch, 'reply_expired');
    else if (dispatch.replyState === 'open') {
      const text = `time of request ${describeValue(dispatch.packetName)} is over`;
      dispatch.abort(new ZLinkError('DeadlineExceeded', text), 'reply_expired');
    }
  }

  replyAdmitted(dispatch: Dispatch): void {
    this.#points.replied(dispatch);
    dispatch.closeReply();
    this.#onOver(dispatch);
  }

  replyRefused(dispatch: Dispatch, error: ZLinkError): void {
    dispatch.replyState = 'open';
    // The link wraps what a codec threw.
    if (isFixable(dispatch, error)) this.#unencodable(dispatch, error.cause ?? error);
    else this.#noReplyPath(dispatch, error);
    this.#onOver(dispatch);
  }

  #submit(dispatch: Dispatch, outcome: Outcome): void {
    dispatch.outcome = outcome;
    let isWritten: boolean;
    try {
      isWritten = linkOf(dispatch).submit(dispatch);
    } catch (error) {
      if (isFixable(dispatch, error))
        this.#unencodable(dispatch, error); // R4
      else this.#noReplyPath(dispatch, error);
      return;
    }
    if (isWritten) {
      this.#points.replied(dispatch);
      dispatch.closeReply();
      return;
    }
    dispatch.replyState = 'waiting';
    dispatch.holds++; // R3
    if (!this.watch(dispatch)) this.#giveUpWaiting(dispatch, 'reply_expired');
  }

  /** The handler's result cannot be sent: the caller learns that much. */
  #unencodable(dispatch: Dispatch, error: unknown): void {
    // A codec's own words may quote the reply (TRACE-004).
    if (!isZLinkError(error) && typeof error === 'object' && error !== null)
      setRecordText(error, 'the codec could not encode the reply');
    this.#failures.threw(dispatch, error, false);
    const what = this.#failures.unsentReplyOf(dispatch);
    const text = this.#exposeErrorMessages ? `${what}: ${errorText(error)}` : `${what}${CAUSE_IN_LOG}`;
    this.fail(dispatch, { kind: 'InternalFailure', text }, 'failed');
  }

  /** The link has ended while the handler worked on this reply. */
  #tellNoReplyPath(dispatch: Dispatch): void {
    const text = `the link to ${describeValue(linkOf(dispatch).peer.rid)} ended before the reply`;
    this.#failures.dropped(dispatch, 'reply_path_missing', text);
  }

  #noReplyPath(dispatch: Dispatch, error: unknown): void {
    this.#failures.dropped(dispatch, 'reply_path_missing', errorText(error));
    this.forgo(dispatch, dispatch.outcome === 'handled' ? 'reply_path_missing' : dispatch.outcome);
  }

  #giveUpWaiting(dispatch: Dispatch, reason: DropReason): void {
    if (!linkOf(dispatch).withdraw(dispatch)) return; // written meanwhile
    this.forgo(dispatch, dispatch.outcome === 'handled' ? reason : dispatch.outcome);
    this.#onOver(dispatch);
  }

  /** Whether the request needs no reply any more; closes its account if that was not done yet. */
  #isAnswered(dispatch: Dispatch): boolean {
    if (dispatch.replyState !== 'open') return true;
    const reason = dispatch.abandoned ?? (this.#isExpired(dispatch) ? 'reply_expired' : undefined);
    if (reason === undefined) return false;
    this.forgo(dispatch, reason); // R2
    return true;
  }

  #isExpired(dispatch: Dispatch): boolean {
    return dispatch.deadlineAtMs !== 0 && this.#clock.nowMs() >= dispatch.deadlineAtMs;
  }
}

/** The link of a request: it always came over one. */
function linkOf(dispatch: Dispatch): Link {
  return dispatch.link!;
}

/** Whether the record itself was the trouble, so that another one, an error reply, may do. */
function isFixable(dispatch: Dispatch, error: unknown): boolean {
  if (dispatch.kind !== RecordKind.reply) return false;
  return dispatch.encodingFailed || (isZLinkError(error) && error.kind === 'InvalidOperation');
}

function isCausedBy(error: unknown, reason: ZLinkError): boolean {
  if (error === reason) return true;
  try {
    // Timers and streams of Node.js reject with an AbortError of their own that has the reason as cause.
    return typeof error === 'object' && error !== null && (error as { readonly cause?: unknown }).cause === reason;
  } catch {
    return false;
  }
}

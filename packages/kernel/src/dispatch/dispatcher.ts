/**
 * Runs the handlers of one owner: a Channel server, a node of a mesh, or a fanout subscriber.
 *
 * Owns the queue, concurrency, turns and the counters. Leaves credit and correlation to the link, what is taken to the
 * intake, what is told to the points, decoding to the name routes, calling to the handler runner and answers to the reply path.
 *
 * P1 Handlers start in order of arrival; at most `concurrency` run at a time (DISP-005).
 * P2 A job's permit goes back exactly once, immediately before the first instruction of application code, or when the
 *    job ends without any (JOBQ-004).
 * P3 What a job reserved at the intake is released when everything of it is over (JOBQ-006).
 * P4 Starting never nests: a returned permit may bring the next record before it returns, which then queues.
 * P5 Nothing that handlers, filters, codecs or hooks throw gets out of here (DISP-004).
 */
import { describeValue, type ErrorKindName, ZLinkError } from '../errors/index.ts';
import { recordTextOf } from '../errors/record-text.ts';
import type { Clock } from '../internal/time/index.ts';
import type { InboundRecord, Link } from '../internal/transport/index.ts';
import type { CarriedFlow, MessageBacklog, MessageCounters, MessageFlow } from '../observe/index.ts';
import { type DropReason, OwnerCounters, verbOf } from './counters.ts';
import { DispatchList } from './dispatch-list.ts';
import { Dispatch } from './dispatch.ts';
import { DispatchPoints } from './dispatch-points.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import { FailureLog } from './failure-log.ts';
import type { HandlerEntry } from './handler-registry.ts';
import { HandlerRunner } from './handler-runner.ts';
import { Intake, type IntakeRefusal, type Refusal } from './intake.ts';
import type { LastHandler } from './last-handler.ts';
import { NameRoutes } from './name-routes.ts';
import { type PeerError, typedErrorOf } from './peer-error.ts';
import { PermitReturn } from './permit-return.ts';
import { ReplyPath } from './reply-path.ts';
import { TurnBudget } from './turn-budget.ts';

export class Dispatcher {
  readonly #owner: string;
  readonly #where: string;
  readonly #concurrency: number;
  readonly #clock: Clock;
  readonly #lastHandler: LastHandler;
  readonly #intake: Intake;
  readonly #permits: PermitReturn;
  readonly #routes: NameRoutes;
  readonly #replies: ReplyPath;
  readonly #runner: HandlerRunner;
  readonly #failures: FailureLog;
  readonly #flow: MessageFlow;
  readonly #points: DispatchPoints;
  readonly #turn: TurnBudget;
  readonly #counters: OwnerCounters;
  readonly #queue = new DispatchList();
  /** Started and not over, replies that wait for credit included. */
  readonly #started = new DispatchList();
  /** Handlers at work, with the disposal of their scopes. */
  #activeCount = 0;
  #isStarting = false;

  constructor(options: DispatcherOptions) {
    const { owner, where, parts } = options;
    this.#owner = owner;
    this.#where = where;
    this.#concurrency = options.concurrency;
    this.#clock = parts.clock;
    this.#lastHandler = parts.lastHandler;
    this.#intake = new Intake(options.maxMessageBytes ?? 0, options.mailboxLimits ?? {});
    this.#permits = new PermitReturn(parts.permits, () => this.#pump());
    this.#routes = new NameRoutes(options.handlers, parts.codecs, parts.names);
    this.#failures = new FailureLog(owner, where, options.surface.place, parts);
    this.#flow = parts.flow;
    this.#points = new DispatchPoints(parts.flow, options.surface.place, parts.clock);
    this.#turn = new TurnBudget(options.nextTurn ?? setImmediate, () => this.#pump());
    this.#counters = new OwnerCounters(owner, options.surface.place);
    this.#replies = new ReplyPath({
      clock: parts.clock,
      wheel: parts.wheel,
      routes: this.#routes,
      failures: this.#failures,
      points: this.#points,
      exposeErrorMessages: parts.exposeErrorMessages,
      onOver: (dispatch) => this.#letGo(dispatch),
    });
    this.#runner = new HandlerRunner({
      filters: parts.filters,
      surface: options.surface,
      services: parts.services,
      replies: this.#replies,
      failures: this.#failures,
      onOver: (dispatch) => this.#handlerOver(dispatch),
    });
  }

  /** For leak checks: charge of what it holds, be it waiting, running or a reply without credit; 0 once all is over. */
  get heldBytes(): number {
    return this.#intake.heldBytes;
  }

  /**
   * Takes a send or request for which a job permit is held. Never throws.
   *
   * @param link - undefined: it is an event, which came over none
   */
  accept(record: InboundRecord, link: Link | undefined): void {
    const isCarried = !this.#flow.isOff;
    const flow = isCarried ? this.#points.received(record, link) : undefined;
    const isMalformed = isCarried && flow === undefined;
    const refusal = isMalformed ? MALFORMED_FLOW : this.#intake.take(record.costBytes);
    if (refusal !== undefined) return this.#refuse(record, link, refusal, flow);
    const nowMs = this.#clock.nowMs();
    const deadlineAtMs = record.remainingMs === 0 ? 0 : nowMs + record.remainingMs;
    const dispatch = new Dispatch(this.#replies, record, link, deadlineAtMs, flow);
    this.#counters.of(dispatch.verb).queue();
    if (this.#flow.isFollowing) this.#points.admitted(dispatch);
    if (this.#queue.first !== undefined || !this.#mayStart(nowMs)) {
      this.#queue.push(dispatch);
      return;
    }
    this.#isStarting = true;
    this.#start(dispatch, nowMs);
    this.#isStarting = false;
    this.#pump();
  }

  /** Ends a message that never becomes a job, and for which a job permit is held. */
  refuse(record: InboundRecord, link: Link | undefined, refusal: Refusal): void {
    const flow = this.#flow.isOff ? undefined : this.#points.received(record, link);
    this.#refuse(record, link, refusal, flow);
  }

  /** The caller of this request no longer waits. */
  cancel(link: Link, correlation: number): void {
    const started = this.#started.find(link, correlation);
    if (started !== undefined) {
      this.#replies.cancel(started, new ZLinkError('Unavailable', 'the caller no longer waits for the reply'));
      return;
    }
    const queued = this.#queue.find(link, correlation);
    if (queued !== undefined) this.#drop(queued, 'cancelled');
  }

  /** Nobody waits for replies on this link any more. Sends that came over it are handled all the same. */
  linkClosed(link: Link): void {
    const reason = new ZLinkError('Unavailable', 'the link to the caller has ended');
    for (const dispatch of this.#started.toArray()) {
      // A waiting reply is refused by the link itself. A send was accepted for good: nobody waits for its end anyway.
      if (dispatch.link === link && dispatch.verb === 'request' && dispatch.replyState === 'open') {
        dispatch.abort(reason, 'link_closed');
      }
    }
    for (const dispatch of this.#queue.toArray()) {
      if (dispatch.link === link && dispatch.verb === 'request') this.#drop(dispatch, 'link_closed');
    }
  }

  /** From here on new messages are refused with this kind; sends are dropped. What was accepted goes on. */
  stopIntake(refusal: IntakeRefusal): void {
    this.#intake.close(refusal);
  }

  resumeIntake(): void {
    this.#intake.open();
  }

  /** Resolves when nothing is held any more. */
  idle(): Promise<void> {
    return this.#intake.idle();
  }

  /**
   * Nobody waits for handlers any more: queued messages are dropped, running handlers find their signals aborted, and
   * callers get the error.
   */
  abortAll(): void {
    const answer: PeerError = { kind: 'ShuttingDown', text: `${this.#where} did not end in time` };
    const reason = new ZLinkError(answer.kind, answer.text);
    for (const dispatch of this.#queue.toArray()) {
      if (dispatch.phase !== 'queued') continue; // ended while a permit was returned
      this.#leaveQueue(dispatch);
      this.#permits.giveBack();
      this.#failures.dropped(dispatch, 'shutdown', answer.text);
      this.#replies.fail(dispatch, answer, 'shutdown');
      this.#letGo(dispatch);
    }
    for (const dispatch of this.#started.toArray()) {
      dispatch.abort(reason, 'shutdown');
      if (dispatch.verb === 'request' && dispatch.replyState === 'open' && dispatch.abandoned === 'shutdown') {
        this.#failures.dropped(dispatch, 'shutdown', answer.text);
        this.#replies.fail(dispatch, answer, 'shutdown');
      }
    }
  }

  /** Of both verbs. */
  counters(): readonly MessageCounters[] {
    return this.#counters.snapshots();
  }

  /** Adds what it has in hand, and makes nothing. */
  addBacklog(backlog: MessageBacklog): void {
    this.#counters.addTo(backlog);
  }

  #mayStart(nowMs: number): boolean {
    if (this.#isStarting || this.#permits.isBusy) return false; // P4
    return this.#activeCount < this.#concurrency && this.#turn.allows(nowMs);
  }

  /**
   * Starts queued jobs until a limit is reached. Called again by whatever may have lifted one: a new turn, the end of a
   * handler, permits that have gone back.
   */
  #pump(): void {
    if (this.#isStarting) return; // P4
    for (let dispatch = this.#queue.first; dispatch !== undefined; dispatch = this.#queue.first) {
      const nowMs = this.#clock.nowMs();
      if (!this.#mayStart(nowMs)) return;
      this.#isStarting = true;
      this.#start(dispatch, nowMs);
      this.#isStarting = false;
    }
  }

  #start(dispatch: Dispatch, nowMs: number): void {
    this.#turn.count(nowMs);
    if (dispatch.deadlineAtMs !== 0 && nowMs >= dispatch.deadlineAtMs) {
      const text = 'time was over before the handler started';
      return this.#reject(dispatch, 'deadline_exceeded', 'DeadlineExceeded', text);
    }
    const entry = this.#routes.handlerOf(dispatch.inboundName, dispatch.verb);
    if (entry === undefined) {
      const text = this.#routes.whyNoHandler(dispatch.inboundName, dispatch.verb, this.#where);
      return this.#reject(dispatch, 'no_handler', 'NotFound', text);
    }
    let message: unknown;
    try {
      message = this.#routes.decode(dispatch, entry);
    } catch (error) {
      const hidden = `payload of packet ${describeValue(dispatch.packetName)} could not be decoded`;
      const text = typedErrorOf(error, true)?.text ?? hidden;
      return this.#reject(dispatch, 'decode_error', 'ProtocolError', text, recordTextOf(error) ?? text);
    }
    this.#run(dispatch, entry, message, nowMs);
  }

  #run(dispatch: Dispatch, entry: HandlerEntry, message: unknown, nowMs: number): void {
    dispatch.forgetBytes();
    this.#leaveQueue(dispatch);
    this.#activeCount++;
    this.#lastHandler.started(this.#owner, entry.packetName, nowMs);
    this.#permits.giveBack(); // P2
    if (this.#flow.isFollowing) this.#points.dispatched(dispatch, nowMs);
    const span = dispatch.trail?.span;
    if (span === undefined) this.#runner.run(dispatch, entry, message);
    else span.run(() => this.#runner.run(dispatch, entry, message)); // TRACE-024
  }

  #refuse(record: InboundRecord, link: Link | undefined, refusal: Refusal, flow: CarriedFlow | undefined): void {
    this.#counters.of(verbOf(record)).refuse(refusal.reason);
    this.#replies.refuse(record, link, { ...refusal, text: `${this.#where} ${refusal.text}` }, flow);
    this.#permits.giveBack(); // P2
  }

  #handlerOver(dispatch: Dispatch): void {
    this.#activeCount--;
    this.#letGo(dispatch);
    this.#pump();
  }

  /** Ends a job that cannot run, with an error reply of `text` to a request. */
  #reject(dispatch: Dispatch, reason: DropReason, kind: ErrorKindName, text: string, recorded = text): void {
    this.#leaveQueue(dispatch);
    dispatch.forgetBytes();
    if (reason !== 'deadline_exceeded') this.#failures.dropped(dispatch, reason, recorded);
    this.#replies.fail(dispatch, { kind, text }, reason);
    this.#letGo(dispatch);
    this.#permits.giveBack(); // P2
  }

  /** Ends a queued job for which nobody waits any more. */
  #drop(dispatch: Dispatch, reason: DropReason): void {
    if (dispatch.phase !== 'queued') return; // ended while another one's permit was returned
    this.#leaveQueue(dispatch);
    this.#replies.forgo(dispatch, reason);
    this.#letGo(dispatch);
    this.#permits.giveBack(); // P2
  }

  #leaveQueue(dispatch: Dispatch): void {
    this.#queue.remove(dispatch);
    this.#started.push(dispatch);
    dispatch.phase = 'running';
    this.#counters.of(dispatch.verb).start();
  }

  /** One thing that the dispatch held is over; with the last one, so is the dispatch. */
  #letGo(dispatch: Dispatch): void {
    if (--dispatch.holds > 0) return;
    dispatch.phase = 'ended';
    this.#started.remove(dispatch);
    this.#replies.unwatch(dispatch);
    this.#counters.of(dispatch.verb).end(dispatch.outcome);
    if (dispatch.trail !== undefined || !this.#flow.isOff) this.#points.ended(dispatch);
    this.#intake.release(dispatch.reservedBytes); // P3
  }
}

/** What it carries as its flow cannot be read (TRACE-021). */
const MALFORMED_FLOW: Refusal = {
  reason: 'invalid_frame',
  kind: 'ProtocolError',
  text: 'got a message whose flow is malformed',
};

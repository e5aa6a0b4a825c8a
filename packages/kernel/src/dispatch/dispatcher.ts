/**
 * Runs the handlers of one owner: a Channel server, later the Node direct queue of a mesh.
 *
 * Owns intake, the queue, concurrency, turns and the counters. Leaves credit and correlation to the link, decoding to the
 * name routes, calling to the handler runner and answers to the reply path.
 *
 * P1 Handlers start in order of arrival; at most `concurrency` run at a time (DISP-005).
 * P2 A job's permit goes back exactly once, immediately before the first instruction of application code, or when the
 *    job ends without any (JOBQ-004).
 * P3 Mailbox space is reserved before a job exists, whole or not at all, and released when everything of it is over
 *    (JOBQ-006).
 * P4 Starting never nests: a returned permit may bring the next record before it returns, which then queues.
 * P5 Nothing that handlers, filters, codecs or hooks throw gets out of here (DISP-004).
 */
import type { CodecTable } from '../codec/index.ts';
import { describeValue, type ErrorKindName, ZLinkError } from '../errors/index.ts';
import { type JobPermits, Mailbox, type MailboxLimits } from '../internal/execution/index.ts';
import type { Clock, DeadlineWheel } from '../internal/time/index.ts';
import type { InboundRecord, Link } from '../internal/transport/index.ts';
import { RECORD_COST_BYTES } from '../internal/wire/limits.ts';
import type { NameIndex } from '../internal/wire/names.ts';
import { RecordKind } from '../internal/wire/record.ts';
import {
  errorText,
  type Logger,
  type MessageCounters,
  RateLimitedLog,
  type UnhandledListener,
} from '../observe/index.ts';
import { channelSurface } from './channel-surface.ts';
import { type DropReason, VerbCounters } from './counters.ts';
import { DispatchList } from './dispatch-list.ts';
import { Dispatch } from './dispatch.ts';
import { FailureLog } from './failure-log.ts';
import type { FilterEntry } from './filter-chain.ts';
import type { HandlerEntry, HandlerTable } from './handler-registry.ts';
import { HandlerRunner } from './handler-runner.ts';
import { closedIntake, type IntakeRefusal, mailboxFull, nameless, type Refusal, tooLarge } from './intake.ts';
import { LastHandler } from './last-handler.ts';
import { NameRoutes } from './name-routes.ts';
import { ErrorReply, peerErrorOf } from './peer-error.ts';
import { ReplyPath } from './reply-path.ts';
import type { ServiceProvider } from './scope.ts';
import { type NextTurn, TurnBudget } from './turn-budget.ts';

const defaultConcurrency = 256;

/** Two limits of what one owner holds; a message above the second alone is never taken (JOBQ-006). */
const defaultMailboxLimits: MailboxLimits = { messages: 65_536, bytes: 268_435_456 };

/** What all dispatchers of a host share. */
export interface DispatcherParts {
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly permits: JobPermits;
  readonly codecs: CodecTable;
  readonly names: NameIndex;
  readonly filters: readonly FilterEntry[];
  readonly services: ServiceProvider | undefined;
  readonly logger: Logger;
  /** Whether peers see the text of errors that are no ZLinkError. */
  readonly exposeErrorMessages: boolean;
  /** Never throws: see `guardUnhandled`. */
  readonly onUnhandled: UnhandledListener;
  readonly lastHandler?: LastHandler | undefined;
  /** A hop to a later turn of the event loop; default `setImmediate`. */
  readonly nextTurn?: NextTurn | undefined;
}

export interface DispatcherOptions {
  /** Names the owner in counters. */
  readonly owner: string;
  /** Names the owner in messages: `channel "billing"`. */
  readonly where: string;
  readonly channelName: string;
  /** The mesh of a RouteMesh Channel. */
  readonly meshName?: string;
  readonly handlers: HandlerTable;
  /** Handlers that may run at the same time; 1: strictly one after the other. Default 256. */
  readonly concurrency?: number;
  /** Largest payload plus metadata of one message; 0 (default): no limit. */
  readonly maxMessageBytes?: number;
  readonly mailboxLimits?: MailboxLimits;
  readonly parts: DispatcherParts;
}

export class Dispatcher {
  readonly owner: string;
  readonly lastHandler: LastHandler;
  readonly #where: string;
  readonly #concurrency: number;
  readonly #largestCostBytes: number;
  readonly #clock: Clock;
  readonly #wheel: DeadlineWheel;
  readonly #permits: JobPermits;
  readonly #mailbox: Mailbox;
  readonly #routes: NameRoutes;
  readonly #replies: ReplyPath;
  readonly #runner: HandlerRunner;
  readonly #failures: FailureLog;
  readonly #turn: TurnBudget;
  readonly #sends = new VerbCounters();
  readonly #requests = new VerbCounters();
  readonly #queue = new DispatchList();
  /** Started and not over, replies that wait for credit included. */
  readonly #started = new DispatchList();
  /** Handlers at work, with the disposal of their scopes. */
  #activeCount = 0;
  #refusal: IntakeRefusal | undefined = undefined;
  #isStarting = false;
  #isReturning = false;
  #owedPermits = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(options: DispatcherOptions) {
    const { parts } = options;
    this.owner = options.owner;
    this.lastHandler = parts.lastHandler ?? new LastHandler();
    this.#where = options.where;
    this.#concurrency = options.concurrency ?? defaultConcurrency;
    const maxMessageBytes = options.maxMessageBytes ?? 0;
    this.#largestCostBytes = maxMessageBytes === 0 ? Infinity : maxMessageBytes + RECORD_COST_BYTES;
    this.#clock = parts.clock;
    this.#wheel = parts.wheel;
    this.#permits = parts.permits;
    this.#mailbox = new Mailbox(options.mailboxLimits ?? defaultMailboxLimits);
    this.#routes = new NameRoutes(options.handlers, parts.codecs, parts.names);
    const log = new RateLimitedLog(parts.logger, parts.clock);
    this.#failures = new FailureLog(options.owner, options.where, log, parts.onUnhandled);
    this.#turn = new TurnBudget(parts.nextTurn ?? setImmediate, () => this.#pump());
    this.#replies = new ReplyPath({
      clock: parts.clock,
      wheel: parts.wheel,
      routes: this.#routes,
      failures: this.#failures,
      exposeErrorMessages: parts.exposeErrorMessages,
      onOver: (dispatch) => this.#letGo(dispatch),
    });
    this.#runner = new HandlerRunner({
      filters: parts.filters,
      surface: channelSurface(options.channelName, options.meshName),
      services: parts.services,
      replies: this.#replies,
      failures: this.#failures,
      onOver: (dispatch) => this.#handlerOver(dispatch),
    });
  }

  /** Messages it holds: waiting, running, and replies that wait for credit. */
  get heldMessages(): number {
    return this.#mailbox.messages;
  }

  get heldBytes(): number {
    return this.#mailbox.bytes;
  }

  /** Takes a send or request for which a job permit is held. Never throws. */
  accept(record: InboundRecord, link: Link): void {
    const name = record.name;
    if (this.#refusal !== undefined) return this.#refuse(record, link, closedIntake[this.#refusal]);
    if (name === undefined) return this.#refuse(record, link, nameless);
    if (record.costBytes > this.#largestCostBytes) {
      const { costBytes } = record;
      return this.#refuse(
        record,
        link,
        tooLarge(costBytes - RECORD_COST_BYTES, this.#largestCostBytes - RECORD_COST_BYTES),
      );
    }
    if (!this.#mailbox.tryReserve(record.costBytes))
      return this.#refuse(record, link, mailboxFull(this.#mailbox.limits)); // P3
    const nowMs = this.#clock.nowMs();
    const deadlineAtMs = record.remainingMs === 0 ? 0 : nowMs + record.remainingMs;
    const dispatch = new Dispatch(this.#replies, record, name, link, deadlineAtMs);
    this.#countersOf(dispatch).queue();
    if (this.#queue.first !== undefined || !this.#mayStart(nowMs)) {
      this.#queue.push(dispatch);
      return;
    }
    this.#isStarting = true;
    this.#start(dispatch, nowMs);
    this.#isStarting = false;
    if (this.#queue.first !== undefined) this.#pump();
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
    this.#refusal = refusal;
  }

  resumeIntake(): void {
    this.#refusal = undefined;
  }

  /** Resolves when nothing is held any more. */
  idle(): Promise<void> {
    if (this.#mailbox.messages === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /**
   * Nobody waits for handlers any more: queued messages are dropped, running handlers find their signals aborted, and
   * callers get the error.
   */
  abortAll(reason = new ZLinkError('ShuttingDown', `${this.#where} did not end in time`)): void {
    const answer = peerErrorOf(reason, false, 'the host gave up waiting');
    for (const dispatch of this.#queue.toArray()) {
      if (dispatch.phase !== 'queued') continue; // ended while a permit was returned
      this.#leaveQueue(dispatch);
      this.#returnPermit();
      this.#replies.fail(dispatch, answer, 'shutdown');
      this.#letGo(dispatch);
    }
    for (const dispatch of this.#started.toArray()) {
      dispatch.abort(reason, 'shutdown');
      if (dispatch.verb === 'request' && dispatch.replyState === 'open' && dispatch.abandoned === 'shutdown') {
        this.#replies.fail(dispatch, answer, 'shutdown');
      }
    }
  }

  /** Of both verbs. */
  counters(): readonly MessageCounters[] {
    return [this.#sends.snapshot(this.owner, 'send'), this.#requests.snapshot(this.owner, 'request')];
  }

  #mayStart(nowMs: number): boolean {
    return (
      !this.#isStarting && !this.#isReturning && this.#activeCount < this.#concurrency && this.#turn.allows(nowMs) // P4
    );
  }

  /** Starts queued jobs until a limit is reached; the turn budget and every ended handler call it again. */
  #pump(): void {
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
      return this.#reject(
        dispatch,
        'deadline_exceeded',
        'DeadlineExceeded',
        'time was over before the handler started',
      );
    }
    const entry = this.#routes.handlerOf(dispatch.inboundName, dispatch.verb);
    if (entry === undefined) {
      const text = `no ${dispatch.verb} handler of packet ${describeValue(dispatch.packetName)} in ${this.#where}`;
      return this.#reject(dispatch, 'no_handler', 'NotFound', text);
    }
    let message: unknown;
    try {
      message = this.#routes.decode(dispatch, entry);
    } catch (error) {
      const hidden = `payload of packet ${describeValue(dispatch.packetName)} could not be decoded`;
      return this.#reject(dispatch, 'decode_error', 'ProtocolError', peerErrorOf(error, false, hidden).text);
    }
    this.#run(dispatch, entry, message, nowMs);
  }

  #run(dispatch: Dispatch, entry: HandlerEntry, message: unknown, nowMs: number): void {
    dispatch.forgetBytes();
    this.#leaveQueue(dispatch);
    this.#activeCount++;
    this.lastHandler.started(this.owner, entry.packetName, nowMs);
    this.#returnPermit(); // P2
    this.#runner.run(dispatch, entry, message);
  }

  #handlerOver(dispatch: Dispatch): void {
    this.#activeCount--;
    this.#letGo(dispatch);
    if (this.#queue.first !== undefined) this.#pump();
  }

  /** Ends a job that cannot run, with an error reply to a request. */
  #reject(dispatch: Dispatch, reason: DropReason, kind: ErrorKindName, text: string): void {
    this.#leaveQueue(dispatch);
    dispatch.forgetBytes();
    if (reason !== 'deadline_exceeded') this.#failures.dropped(dispatch, reason, text);
    this.#replies.fail(dispatch, { kind, text }, reason);
    this.#letGo(dispatch);
    this.#returnPermit(); // P2
  }

  /** Ends a queued job for which nobody waits any more. */
  #drop(dispatch: Dispatch, reason: DropReason): void {
    if (dispatch.phase !== 'queued') return; // ended while another one's permit was returned
    this.#leaveQueue(dispatch);
    this.#replies.forgo(dispatch, reason);
    this.#letGo(dispatch);
    this.#returnPermit(); // P2
  }

  #leaveQueue(dispatch: Dispatch): void {
    this.#queue.remove(dispatch);
    this.#started.push(dispatch);
    dispatch.phase = 'running';
    this.#countersOf(dispatch).start();
  }

  /** One thing that the dispatch held is over; with the last one, so is the dispatch. */
  #letGo(dispatch: Dispatch): void {
    if (--dispatch.holds > 0) return;
    dispatch.phase = 'ended';
    this.#started.remove(dispatch);
    this.#wheel.remove(dispatch);
    this.#countersOf(dispatch).end(dispatch.outcome);
    this.#mailbox.release(dispatch.reservedBytes); // P3
    if (this.#mailbox.messages === 0 && this.#idleWaiters.length > 0) this.#becomeIdle();
  }

  #becomeIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Several permits returned within each other's callbacks go back one after the other, not in depth. */
  #returnPermit(): void {
    if (this.#isReturning) {
      this.#owedPermits++;
      return;
    }
    this.#isReturning = true;
    this.#permits.release();
    while (this.#owedPermits > 0) {
      this.#owedPermits--;
      this.#permits.release();
    }
    this.#isReturning = false;
    if (this.#queue.first !== undefined && !this.#isStarting) this.#pump(); // P4: what queued meanwhile
  }

  /** Ends a record that never becomes a job. */
  #refuse(record: InboundRecord, link: Link, refusal: Refusal): void {
    const verb = record.kind === RecordKind.request ? 'request' : 'send';
    const text = `${this.#where} ${refusal.text}`;
    const message = { verb, packetName: record.name?.packetName ?? '' } as const;
    (verb === 'request' ? this.#requests : this.#sends).refuse(refusal.reason);
    this.#failures.dropped(message, refusal.reason, text);
    if (verb === 'request') {
      try {
        link.submit(new ErrorReply(record.correlation, { kind: refusal.kind, text }));
      } catch (error) {
        this.#failures.dropped(message, 'reply_path_missing', errorText(error));
        if (link.phase !== 'closed') link.forgo();
      }
    }
    this.#returnPermit(); // P2
  }

  #countersOf(dispatch: Dispatch): VerbCounters {
    return dispatch.verb === 'request' ? this.#requests : this.#sends;
  }
}

/**
 * Calls over links that come and go: requests with deadlines and signals, a server that answers as it likes.
 *
 * A server answers late, twice, with an error, never, or to nobody; links break, fall silent, finish or fail; callers abort;
 * one-way messages take the credit; processes stand still.
 *
 * Q1 A request has exactly one result: its own reply, an error, or its signal's reason (CALL-004).
 * Q2 A request runs at most once, on one link (C10), and not at all if its error says that it was not submitted (C09).
 * Q3 Tables, waiting lines and the wheel hold exactly the requests without a result; a signal has a listener just while one
 *    of those follows it (CALL-002).
 * Q4 No request outlives its deadline by more than a tick of the wheel (CALL-003).
 * Q5 In the end nothing is left of any request or link, and no side has broken the protocol.
 */
import { getEventListeners } from 'node:events';
import { type CallPath, type CallTerms, RequestBuilder, type RoutableCall } from '../../src/call/index.ts';
import { CodecRegistry } from '../../src/codec/index.ts';
import { isZLinkError, Problems, ZLinkError } from '../../src/errors/index.ts';
import { type Clock, DeadlineWheel } from '../../src/internal/time/index.ts';
import { NameIndex, type OutboundName, RecordKind } from '../../src/internal/wire/index.ts';
import { request, resolveOutbound } from '../../src/message/index.ts';
import { clientServerPlace, type Logger, MessageFlow, RateLimitedLog } from '../../src/observe/index.ts';
import { leftovers, type Received } from '../internal/link/link-side.ts';
import { PlayedLink, type PlayedLinkFlaws } from './played-link.ts';
import { ensure, play, type Stage, type Story, type Trace } from './simulation.ts';
import { TableTwin } from './table-twin.ts';

export type RequestsFlaw = 'none' | 'abandonsNothing' | 'answersAnother' | 'timersComeLate' | 'idsAreGivenTwice';

export const simulateRequests = (seed: number, flaw: RequestsFlaw = 'none'): Promise<Trace> =>
  play(seed, 120, (stage) => new RequestsStory(stage, flaw));

interface Charge {
  readonly id: number;
  readonly pad: string;
}

const Charged = request<Charge, number>('billing.charge');
const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const targetWaitMs = 1_500;
const longestTimeoutMs = 6_000;
const tickMs = 16;
const silenceMs = 15_000;

interface Call {
  readonly id: number;
  readonly deadlineAtMs: number;
  readonly controller: AbortController | undefined;
  link: PlayedLink | undefined;
  handled: number;
  result: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

class RequestsStory implements Story, CallPath {
  readonly label = 'channel "billing"';
  readonly place = clientServerPlace('source', 'billing', 'client');
  readonly meter = undefined;
  readonly terms: CallTerms;
  readonly #stage: Stage;
  readonly #flaw: RequestsFlaw;
  readonly #twin: TableTwin;
  readonly #wheel: DeadlineWheel;
  readonly #names = new NameIndex();
  readonly #faults: unknown[] = [];
  readonly #calls: Call[] = [];
  readonly #byRecord = new Map<RoutableCall, Call>();
  readonly #waiting = new Set<RoutableCall>();
  readonly #links: PlayedLink[] = [];
  #controllers: AbortController[] = [];
  #starting: Call | undefined;
  /** Timers have had no chance yet to fire. */
  #isLate = false;

  constructor(stage: Stage, flaw: RequestsFlaw) {
    this.#stage = stage;
    this.#flaw = flaw;
    this.#twin = new TableTwin(stage, flaw === 'idsAreGivenTwice');
    const clock = flaw === 'timersComeLate' ? lateTimers(stage.clock) : stage.clock;
    this.#wheel = new DeadlineWheel({ clock, onError: (error) => this.#faults.push(error) });
    const codecs = new CodecRegistry().freeze(new Problems());
    const log = new RateLimitedLog(silent, clock);
    const flow = new MessageFlow({ clock, logger: silent, log, level: 'off' });
    this.terms = { clock, wheel: this.#wheel, codecs, flow, sendTimeoutMs: 800, requestTimeoutMs: 30_000 };
  }

  // The path of all calls.

  nameOf(contentType: string, packetName: string): OutboundName {
    return this.#names.get('', contentType, packetName);
  }

  route(record: RoutableCall): void {
    const call = this.#starting;
    if (call === undefined) throw new Error('a call was routed that nobody started');
    this.#byRecord.set(record, call);
    const link = this.#openLink();
    if (link !== undefined) return this.#take(record, link);
    this.#waiting.add(record);
    record.awaitTarget(targetWaitMs);
  }

  unroute(record: RoutableCall): void {
    this.#waiting.delete(record);
  }

  noTarget(waitedMs: number): ZLinkError {
    return new ZLinkError('NotFound', `${this.label} had no ready server for ${waitedMs} ms`);
  }

  // The story.

  act(): void | Promise<void> {
    const stage = this.#stage;
    this.#twin.act();
    const link = this.#links.at(-1);
    if (link === undefined || link.isOver) {
      if (stage.chance(0.4)) return this.#join();
    } else if (stage.chance(0.5)) return this.#befall(link);
    switch (stage.below(8)) {
      case 0:
        return this.#abort();
      case 1:
      case 2:
        return stage.passTold(stage.someMs(stage.chance(0.05) ? silenceMs : 700));
      case 3:
        return stage.chance(0.4) ? this.#stall(stage.someMs(5_000)) : undefined;
      default:
        return this.#begin(1 + stage.below(6));
    }
  }

  check(): void {
    this.#twin.check();
    ensure(this.#faults.length === 0, `thrown: ${String(this.#faults[0])}`);
    const open = this.#calls.filter(({ result }) => result === undefined);
    ensure(this.#wheel.size === open.length, `${this.#wheel.size} deadlines for ${open.length} requests`); // Q3
    for (const call of this.#calls) this.#checkCall(call);
    for (const link of this.#links) {
      const due = open.filter((call) => call.link === link).length;
      ensure(link.heldRequests === due, `a link holds ${link.heldRequests} requests of ${due}`); // Q3
      const { near, far } = link.pair;
      const wrong = [...near.faults, ...far.faults, ...near.violations, ...far.violations];
      ensure(wrong.length === 0, `broken: ${String(wrong[0])}`); // Q5
    }
    for (const controller of this.#controllers) {
      const due = open.some((call) => call.controller === controller) ? 1 : 0;
      const found = getEventListeners(controller.signal, 'abort').length;
      ensure(found === due, `${found} listeners on a signal, due ${due}`); // Q3
    }
  }

  state(): string {
    const open = this.#calls.filter(({ result }) => result === undefined).length;
    const link = this.#links.at(-1);
    return `${open} of ${this.#calls.length} open, ${this.#waiting.size} without target, ${link?.state ?? 'no link'}`;
  }

  async end(): Promise<void> {
    const stage = this.#stage;
    stage.tell('all is delivered and answered');
    for (let ms = 0; ms < longestTimeoutMs + 2_000; ms += 500) {
      for (const link of this.#links) await this.#drain(link);
      await stage.pass(500);
    }
    const left = this.#calls.filter(({ result }) => result === undefined);
    ensure(left.length === 0, `${left.length} requests never ended`); // Q1
    for (const link of this.#links) link.near.finish();
    for (let ms = 0; ms < 2_000; ms += 100) {
      for (const link of this.#links) await this.#drain(link);
      await stage.pass(100);
    }
    this.#twin.drain();
    this.check();
    for (const { pair } of this.#links) {
      const found = leftovers(pair);
      ensure(found.length === 0, `left of a link: ${found.join()}`); // Q5
    }
    ensure(stage.clock.pendingTimers + stage.clock.pendingBackgroundTimers === 0, 'a timer is left'); // Q5
  }

  #checkCall({ id, deadlineAtMs, handled, result, link }: Call): void {
    ensure(handled <= 1, `request ${id} ran ${handled} times`); // Q2
    if (result === undefined) {
      const lateMs = this.#stage.clock.nowMs() - deadlineAtMs;
      ensure(this.#isLate || lateMs <= tickMs, `request ${id} outlives its deadline by ${lateMs} ms`); // Q4
      return;
    }
    if ('value' in result) {
      ensure(result.value === id && handled === 1, `request ${id} got the reply of ${String(result.value)}`); // Q1
      return;
    }
    const { error } = result;
    const isOurs = isZLinkError(error);
    ensure(isOurs || error === `enough`, `request ${id} ended with ${String(error)}`); // Q1
    const isUnsent = isOurs ? !error.submitted : link === undefined;
    const isRemote = isOurs && error.kind === 'Rejected';
    ensure(!isUnsent || isRemote || handled === 0, `request ${id} ran and was not submitted`); // Q2
  }

  #begin(count: number): void {
    const stage = this.#stage;
    stage.tell(`${count} requests`);
    for (let at = 0; at < count; at++) {
      const timeoutMs = 1 + stage.someMs(longestTimeoutMs - 1);
      const deadlineAtMs = stage.clock.nowMs() + timeoutMs;
      const id = this.#calls.length + 1;
      const controller = this.#someController();
      const call: Call = { id, deadlineAtMs, controller, link: undefined, handled: 0, result: undefined };
      this.#calls.push(call);
      const pad = 'x'.repeat(stage.chance(0.3) ? stage.below(30_000) : 0);
      this.#starting = call;
      const submitted = new RequestBuilder<number>(this, resolveOutbound(Charged({ id, pad })))
        .timeoutMs(timeoutMs)
        .submit(controller?.signal);
      this.#starting = undefined;
      submitted.then(
        (value) => this.#settled(call, { value }),
        (error: unknown) => this.#settled(call, { error }),
      );
    }
  }

  #settled(call: Call, result: NonNullable<Call['result']>): void {
    if (call.result !== undefined) this.#faults.push(new Error(`request ${call.id} ended twice`));
    call.result = result;
  }

  #someController(): AbortController | undefined {
    const stage = this.#stage;
    if (stage.chance(0.4)) return undefined;
    const shared = this.#controllers.filter(({ signal }) => !signal.aborted);
    if (shared.length > 0 && stage.chance(0.5)) return stage.pick(shared);
    const controller = new AbortController();
    this.#controllers.push(controller);
    return controller;
  }

  #abort(): void {
    const open = this.#controllers.filter(({ signal }) => !signal.aborted);
    if (open.length === 0) return;
    this.#stage.tell('a caller aborts');
    this.#stage.pick(open).abort('enough');
  }

  async #stall(ms: number): Promise<void> {
    this.#stage.tellFault(`the caller's process stands still for ${ms} ms`);
    this.#isLate = true;
    this.#stage.clock.stall(ms);
    await this.#stage.pass(2 * tickMs);
    this.#isLate = false;
  }

  #join(): void {
    const stage = this.#stage;
    const link = new PlayedLink(stage, this.#linkFlaws(), (received) => this.#handle(received, link));
    stage.tell(`a link ${link.pair.near.link.id} ${link.hasLane ? 'with' : 'without'} a lane`);
    this.#links.push(link);
    for (const record of [...this.#waiting]) {
      this.#waiting.delete(record);
      this.#take(record, link);
    }
  }

  #take(record: RoutableCall, link: PlayedLink): void {
    const call = this.#byRecord.get(record);
    if (call === undefined) throw new Error('nobody has started this call');
    call.link = link;
    record.takeLink(link);
  }

  #handle(received: Received, link: PlayedLink): void {
    if (received.kind !== RecordKind.request) return;
    const { id } = JSON.parse(Buffer.from(received.payload).toString()) as Charge; // as `#begin` has sent it
    const call = this.#calls[id - 1];
    if (call === undefined) return void this.#faults.push(new Error(`request ${id} never was`));
    call.handled++;
    link.asked.push({ received, id });
  }

  #befall(link: PlayedLink): void {
    const stage = this.#stage;
    const { near, far } = link.pair;
    switch (stage.below(14)) {
      case 0:
        if (stage.chance(0.6)) return;
        stage.tellFault('the connection is cut');
        return near.pipe.break();
      case 1: {
        if (stage.chance(0.6)) return;
        const side = stage.pick([near, far]);
        const how = stage.pick(['finish', 'fail'] as const);
        stage.tellFault(`${side === near ? 'caller' : 'server'} ends its link: ${how}`);
        return how === 'finish' ? side.link.finish() : side.link.fail('as it happens');
      }
      case 2:
        stage.tell('one-way messages');
        return link.fill(
          1 + stage.below(4),
          20_000 + stage.below(20_000),
          this.nameOf('application/json', 'billing.fill'),
        );
      case 3:
        far.holding = stage.chance(0.6);
        stage.tell(far.holding ? 'the server keeps its permits' : 'the server gives its permits back');
        return far.holding ? undefined : far.letGo();
      case 4:
        return link.answerStranger();
      case 5:
      case 6:
      case 7:
        return link.deliver(near, 1 + stage.below(4));
      case 8:
      case 9:
      case 10:
        return link.deliver(far, 1 + stage.below(4));
      default:
        for (let count = stage.below(4); count >= 0; count--) link.answer();
        return;
    }
  }

  async #drain(link: PlayedLink): Promise<void> {
    const { near, far } = link.pair;
    far.letGo();
    for (let isMoving = true; isMoving;) {
      while (link.asked.length > 0) link.answer();
      await this.#stage.settle();
      isMoving = near.pipe.underWay + far.pipe.underWay > 0;
      while (near.pipe.deliver() || far.pipe.deliver());
    }
  }

  #linkFlaws(): PlayedLinkFlaws {
    return {
      abandonsNothing: this.#flaw === 'abandonsNothing',
      answersAnother: this.#flaw === 'answersAnother',
    };
  }

  #openLink(): PlayedLink | undefined {
    return this.#links.find(({ phase }) => phase === 'open');
  }
}

/** A clock whose timers fire 100 ms late. */
function lateTimers(clock: Clock): Clock {
  return {
    nowMs: () => clock.nowMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs + 100),
    setBackgroundTimer: (callback, delayMs) => clock.setBackgroundTimer(callback, delayMs + 100),
    clearTimer: (handle) => clock.clearTimer(handle),
  };
}

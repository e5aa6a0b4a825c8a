/**
 * A call path whose one target and its link do what a test says.
 *
 * Owns the link's side of the contract: records are encoded at admission, correlations are given there, a reply finds its
 * request or nobody. Leaves time to the manual clock and the rest to the calls under test.
 */
import { ManualClock } from '@zlink/testing';
import type { CallPath, CallTerms, RoutableCall } from '../../src/call/index.ts';
import { type Codec, CodecRegistry, type PayloadSink } from '../../src/codec/index.ts';
import { ErrorKind, type ErrorKindName, Problems, ZLinkError } from '../../src/errors/index.ts';
import { DeadlineWheel } from '../../src/internal/time/index.ts';
import type { InboundRecord, Link, OutboundRecord, OutboundRequest } from '../../src/internal/transport/index.ts';
import {
  DescriptorState,
  NameIndex,
  ObjectRole,
  type OutboundName,
  RecordKind,
} from '../../src/internal/wire/index.ts';
import { type CallMeter, clientServerPlace } from '../../src/observe/index.ts';
import { FakeTracer } from '../observe/flow/fake-tracer.ts';
import { TestFlow } from '../observe/flow/test-flow.ts';

const text = new TextEncoder();

/** What a submitted record wrote. */
class Payload implements PayloadSink {
  readonly bytes: number[] = [];

  writeText(value: string): void {
    this.bytes.push(...text.encode(value));
  }

  writeBytes(value: Uint8Array): void {
    this.bytes.push(...value);
  }

  toString(): string {
    return new TextDecoder().decode(Uint8Array.from(this.bytes));
  }
}

class FakeLink implements Link {
  readonly id = 1;
  readonly correlationScope = { own: 'own-', peer: 'peer-' };
  readonly peer = {
    scope: 'billing',
    rid: 'server-1',
    generation: 7n,
    endpoint: 'tcp://127.0.0.1:7200',
    securityIdentity: undefined,
    maxMessageBytes: 0,
  };
  readonly descriptor = { revision: 1n, state: DescriptorState.serving, objectRole: ObjectRole.none, channels: [] };
  readonly phase = 'open';
  readonly outstandingBytes = 0;
  readonly unansweredRequests = 0;
  /** What the next submission meets. */
  credit: 'free' | 'none' | ZLinkError = 'free';
  /** Payloads of written records, oldest first. */
  readonly written: string[] = [];
  readonly records: OutboundRecord[] = [];
  readonly waiting = new Set<OutboundRecord>();
  readonly pending = new Map<number, OutboundRequest>();
  readonly abandoned: { readonly correlation: number; readonly notify: boolean }[] = [];
  unmatched = 0;
  #lastCorrelation = 0;

  get waitingRecords(): number {
    return this.waiting.size;
  }

  get pendingRequests(): number {
    return this.pending.size;
  }

  get traffic(): never {
    throw new Error('a call has no business with the traffic');
  }

  submit(record: OutboundRecord): boolean {
    if (this.credit instanceof ZLinkError) throw this.credit;
    if (this.credit === 'none') {
      this.waiting.add(record);
      return false;
    }
    this.#write(record);
    return true;
  }

  withdraw(record: OutboundRecord): boolean {
    return this.waiting.delete(record);
  }

  abandon(request: OutboundRequest, notify: boolean): void {
    if (this.pending.delete(request.correlation)) this.abandoned.push({ correlation: request.correlation, notify });
  }

  /** Credit has come: everything that waits is written, or refused if its encoding fails. */
  admit(): void {
    this.credit = 'free';
    for (const record of this.waiting) {
      this.waiting.delete(record);
      const failure = this.#tryWrite(record);
      if (failure === undefined) record.onAdmitted();
      else record.onRefused(failure);
    }
  }

  /** The link takes no new work any more. */
  refuse(error: ZLinkError): void {
    for (const record of this.waiting) {
      this.waiting.delete(record);
      record.onRefused(error);
    }
  }

  /** The connection has ended. */
  break(): void {
    const requests = [...this.pending.values()];
    this.pending.clear();
    for (const request of requests) {
      request.onFailed(new ZLinkError('Unavailable', 'link to "billing" ended', { submitted: true }));
    }
  }

  /** Answers the oldest pending request, or the one with this correlation. */
  reply(payload: string, contentType = 'application/json', correlation = this.#oldest()): void {
    const name = { scope: '', contentType, packetName: 'billing.charge', slot: undefined };
    this.#deliver({ ...this.#record(RecordKind.reply, payload, correlation), name });
  }

  /** As `reply`, with an error; a number that stands for no kind is one of a newer peer. */
  error(kind: ErrorKindName | undefined, message: string, correlation = this.#oldest()): void {
    this.#deliver({ ...this.#record(RecordKind.error, message, correlation), errorKind: kind });
  }

  forgo(): void {
    // Clients receive no requests.
  }

  finish(): void {
    // Calls never end a link.
  }

  fail(): void {
    // Calls never end a link.
  }

  #tryWrite(record: OutboundRecord): ZLinkError | undefined {
    try {
      this.#write(record);
      return undefined;
    } catch (error) {
      return error as ZLinkError; // calls let no other error out of their encoding
    }
  }

  #write(record: OutboundRecord): void {
    const payload = new Payload();
    record.encode(payload); // throws before anything of the record is anywhere
    this.written.push(payload.toString());
    this.records.push(record);
    if (record.kind !== RecordKind.request) return;
    record.correlation = ++this.#lastCorrelation;
    this.pending.set(record.correlation, record as OutboundRequest); // only requests have this kind
  }

  #deliver(record: InboundRecord): void {
    const request = this.pending.get(record.correlation);
    this.pending.delete(record.correlation);
    if (request === undefined) this.unmatched++;
    else request.onReply(record);
  }

  #oldest(): number {
    return this.pending.keys().next().value ?? 0;
  }

  #record(kind: RecordKind, content: string, correlation: number): InboundRecord {
    const payload = text.encode(`..${content}.`); // the payload is a part of a larger one
    return {
      kind,
      correlation,
      remainingMs: 0,
      errorKind: undefined,
      name: undefined,
      payload,
      payloadStart: 2,
      payloadEnd: payload.length - 1,
      metadata: undefined,
      trace: undefined,
      readTrace: () => undefined,
      costBytes: 64 + payload.length,
    };
  }
}

export class FakePath implements CallPath {
  readonly label = 'channel "billing"';
  readonly place = clientServerPlace('source', 'billing', 'client-1');
  readonly clock = new ManualClock();
  readonly tracer = new FakeTracer();
  /** What records of its calls become. */
  readonly flow = new TestFlow({ clock: this.clock, tracer: this.tracer });
  meter: CallMeter | undefined = undefined;
  readonly wheel = new DeadlineWheel({ clock: this.clock, onError: (error) => this.faults.push(error) });
  readonly terms: CallTerms;
  readonly link = new FakeLink();
  /** Whether a target is there to choose. */
  hasTarget = true;
  /** Why the path serves no call at all. */
  refusal: ZLinkError | undefined;
  /** Limit that the path sets to the wait for a target. */
  targetWaitMs = 5_000;
  readonly routed: RoutableCall[] = [];
  readonly waiting = new Set<RoutableCall>();
  /** What fell out of a deadline: must stay empty. */
  readonly faults: unknown[] = [];
  readonly #names = new NameIndex();

  constructor(codecs: readonly Codec[] = []) {
    const registry = new CodecRegistry();
    for (const codec of codecs) registry.add(codec);
    this.terms = {
      clock: this.clock,
      wheel: this.wheel,
      codecs: registry.freeze(new Problems()),
      flow: this.flow.flow,
      sendTimeoutMs: 1_000,
      requestTimeoutMs: 30_000,
    };
  }

  nameOf(contentType: string, packetName: string): OutboundName {
    return this.#names.get('', contentType, packetName);
  }

  route(call: RoutableCall): void {
    this.routed.push(call);
    if (this.refusal !== undefined) throw this.refusal;
    if (this.hasTarget) return call.takeLink(this.link);
    this.waiting.add(call);
    call.awaitTarget(this.targetWaitMs);
  }

  unroute(call: RoutableCall): void {
    this.waiting.delete(call);
  }

  noTarget(waitedMs: number): ZLinkError {
    return new ZLinkError('NotFound', `${this.label} had no ready server for ${waitedMs} ms`);
  }

  /** A target has come: what waits for one goes to it. */
  offerTarget(): void {
    this.hasTarget = true;
    for (const call of this.waiting) {
      this.waiting.delete(call);
      call.takeLink(this.link);
    }
  }

  /** Nothing of any call is left anywhere. */
  expectClean(): void {
    expect({
      faults: this.faults,
      deadlines: this.wheel.size,
      timers: this.clock.pendingTimers,
      waitingForTarget: this.waiting.size,
      waitingForCredit: this.link.waiting.size,
      pending: this.link.pending.size,
    }).toEqual({ faults: [], deadlines: 0, timers: 0, waitingForTarget: 0, waitingForCredit: 0, pending: 0 });
  }
}

export const ERROR_KINDS = Object.keys(ErrorKind) as ErrorKindName[]; // the keys of that object are exactly the kinds

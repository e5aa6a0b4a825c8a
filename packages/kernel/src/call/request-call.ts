/**
 * Requests: the builder an application holds, and the request it becomes.
 *
 * Q1 Exactly one of reply, error, timeout, abort, shutdown and disconnect settles the promise; what comes later only
 *    cleans up (CALL-004).
 * Q2 After the end nothing of the request is left: no wheel entry, no listener, no place in a table.
 * Q3 Once it was submitted to a link a request never goes to another one.
 */
import { type Codec, decodePayload, type PayloadSink } from '../codec/index.ts';
import { describeValue, ZLinkError } from '../errors/index.ts';
import { setRecordText } from '../errors/record-text.ts';
import {
  type DeadlineEntry,
  deadlineOf,
  follow,
  hasDeadline,
  type SignalFollower,
  unfollow,
} from '../internal/time/index.ts';
import type { InboundRecord, Link, OutboundRequest } from '../internal/transport/index.ts';
import { type OutboundName, RecordKind } from '../internal/wire/index.ts';
import { type Metadata, type ResolvedPacket, validateInbound } from '../message/index.ts';
import { decodeUtf8 } from '../message/text.ts';
import { boundedText, type CarriedFlow, type Flow, type MessageSpan } from '../observe/index.ts';
import type { CallPath, RoutableCall } from './call-path.ts';
import {
  type CallEnd,
  carriedBy,
  type FollowedRequest,
  isWatched,
  noteBackpressured,
  noteSent,
  requestEnded,
  startSpan,
} from './call-points.ts';
import { CallWait } from './call-wait.ts';
import type { RequestCall } from './call.ts';
import { OutgoingMessage } from './outgoing-message.ts';
import { rejected } from './rejected.ts';
import { requireTimeoutMs } from './timeout.ts';

export class RequestBuilder<R> implements RequestCall<R> {
  readonly #message: OutgoingMessage;
  #timeoutMs: number | undefined;

  /** @param path - the way to the target, or why there is none: then `submit` rejects with it */
  constructor(path: CallPath | ZLinkError, packet: ResolvedPacket) {
    this.#message = new OutgoingMessage(path, packet);
  }

  metadata(keyOrAll: string | Metadata, value?: string): this {
    this.#message.setMetadata(keyOrAll, value);
    return this;
  }

  flow(flow: Flow | undefined): this {
    this.#message.setFlow(flow);
    return this;
  }

  timeoutMs(ms: number): this {
    this.#message.requireOpen();
    this.#timeoutMs = requireTimeoutMs(ms);
    return this;
  }

  submit(signal?: AbortSignal): Promise<R> {
    try {
      const path = this.#message.seal(signal);
      return new Request<R>(path, this.#message, this.#timeoutMs ?? path.terms.requestTimeoutMs).start(signal);
    } catch (error) {
      return rejected(error);
    }
  }

  yield(): Promise<R> {
    const text = `yield of "${this.#message.packetName}" outside a spotWide Spot turn`;
    return rejected(new ZLinkError('InvalidOperation', text));
  }
}

type RequestState =
  /** Being routed or submitted, within `start`. */
  | { readonly kind: 'starting' }
  | CallWait
  /** Written to its link; the request itself is the wheel's entry. */
  | { readonly kind: 'submitted' }
  | { readonly kind: 'ended' };

const STARTING: RequestState = { kind: 'starting' };
const SUBMITTED: RequestState = { kind: 'submitted' };
const ENDED: RequestState = { kind: 'ended' };

class Request<R> implements RoutableCall, OutboundRequest, DeadlineEntry, SignalFollower, FollowedRequest {
  readonly kind = RecordKind.request;
  readonly name: OutboundName;
  readonly errorNumber = 0;
  readonly metadata: Uint8Array | undefined;
  readonly trace: CarriedFlow | undefined;
  correlation = 0;
  costBytes = 0;
  deadlineAtMs = 0;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  readonly path: CallPath;
  readonly span: MessageSpan | undefined;
  link: Link | undefined = undefined;
  readonly #message: OutgoingMessage;
  readonly #timeoutMs: number;
  #startedAtMs = 0;
  #state: RequestState = STARTING;
  #signal: AbortSignal | undefined;
  #resolve!: (value: R) => void; // set in start, before anything can settle
  #reject!: (error: unknown) => void;

  constructor(path: CallPath, message: OutgoingMessage, timeoutMs: number) {
    this.path = path;
    this.#message = message;
    this.#timeoutMs = timeoutMs;
    this.name = message.name;
    this.metadata = message.metadataBytes;
    this.span = path.terms.flow.isFollowing ? startSpan('client', path, message) : undefined;
    this.trace = this.span === undefined ? message.flow : carriedBy(message.flow, this.span);
  }

  get packetName(): string {
    return this.name.packetName;
  }

  get flow(): CarriedFlow | undefined {
    return this.trace;
  }

  get belongsToHandler(): boolean {
    return hasDeadline(this.#signal);
  }

  start(signal: AbortSignal | undefined): Promise<R> {
    this.#startedAtMs = this.path.terms.clock.nowMs();
    this.deadlineAtMs = this.#startedAtMs + this.#timeoutMs;
    this.path.meter?.requestStarted();
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      try {
        if (signal !== undefined) this.#follow(signal);
        if (this.deadlineAtMs <= this.#startedAtMs) return this.#fail('local', this.#noTimeLeft());
        this.path.route(this);
      } catch (error) {
        this.#fail('local', error);
      }
    });
  }

  awaitTarget(limitMs: number): void {
    this.#wait(undefined, limitMs);
  }

  takeLink(link: Link, limitMs = this.path.terms.sendTimeoutMs): void {
    this.link = link;
    let admitted: boolean;
    try {
      admitted = link.submit(this);
    } catch (error) {
      return this.#fail('local', error);
    }
    if (admitted) return this.onAdmitted();
    if (this.#state.kind === 'ended') return void link.withdraw(this); // Q1: encoding it has aborted its signal
    this.#wait(link, limitMs);
  }

  encode(sink: PayloadSink): void {
    this.#message.encode(sink);
  }

  onAdmitted(): void {
    const state = this.#state;
    if (state.kind === 'ended') return this.link?.abandon(this, true); // Q1: encoding it has aborted its signal
    this.#become(SUBMITTED);
    this.path.terms.wheel.add(this);
    if (state.kind === 'waiting') state.tell('succeeded');
    if (this.path.terms.flow.isFollowing) noteSent(this, 'request');
  }

  onRefused(error: ZLinkError): void {
    this.#fail('local', error);
  }

  onReply(record: InboundRecord): void {
    if (record.kind === RecordKind.error) return this.#failAnswered(record);
    const { contentType } = record.name!; // a link lets no reply without a name through
    const codec = this.path.terms.codecs.byContentType(contentType);
    if (codec === undefined) {
      return this.#fail(
        'unreadable',
        this.#badReply(`has content type ${describeValue(contentType)}, which is not registered`),
      );
    }
    let value: R;
    try {
      value = this.#decode(record, codec);
    } catch (cause) {
      return this.#fail('unreadable', this.#badReply('could not be decoded', cause));
    }
    this.#succeed(value, record.payloadEnd - record.payloadStart);
  }

  onFailed(error: ZLinkError): void {
    this.#fail('local', error);
  }

  onAbort(reason: unknown): void {
    this.#fail('cancelled', reason);
  }

  onDeadline(): void {
    const waited = Math.round(this.deadlineAtMs - this.#startedAtMs);
    this.#fail(
      'local',
      new ZLinkError(
        'DeadlineExceeded',
        `"${this.name.packetName}" to ${this.path.label} had no reply within ${waited} ms`,
        { submitted: true },
      ),
    );
  }

  /** Ends with the signal, and never has more time than the handler that passed its own signal on (C12). */
  #follow(signal: AbortSignal): void {
    const inheritedAtMs = deadlineOf(signal);
    if (inheritedAtMs !== undefined) this.deadlineAtMs = Math.min(this.deadlineAtMs, inheritedAtMs);
    this.#signal = signal;
    follow(signal, this);
  }

  #wait(link: Link | undefined, limitMs: number): void {
    const wait = new CallWait(this.path, this, link, limitMs, this.deadlineAtMs);
    this.#become(wait);
    wait.start();
    if (link !== undefined) noteBackpressured(this, 'request');
  }

  /** Whatever the codec throws, the caller gets one kind of error for a reply that cannot be read. */
  #badReply(what: string, cause?: unknown): ZLinkError {
    return new ZLinkError('ProtocolError', `reply to "${this.name.packetName}" ${what}`, { cause, submitted: true });
  }

  #noTimeLeft(): ZLinkError {
    return new ZLinkError('DeadlineExceeded', `no time was left for "${this.name.packetName}" to ${this.path.label}`);
  }

  #decode(record: InboundRecord, codec: Codec): R {
    const { reply } = this.#message;
    const { payload, payloadStart, payloadEnd } = record;
    const value = decodePayload(codec, payload, payloadStart, payloadEnd, reply?.declaredType);
    const schema = reply?.schema;
    // The contract of the packet says that replies are R; a schema makes sure of it.
    return (schema === undefined ? value : validateInbound(schema, value, this.name.packetName)) as R;
  }

  #succeed(value: R, replyBytes: number): void {
    if (this.#state.kind === 'ended') return; // Q1
    this.#become(ENDED);
    if (isWatched(this)) requestEnded(this, 'succeeded', undefined, this.#startedAtMs, replyBytes);
    this.#resolve(value);
  }

  #failAnswered(record: InboundRecord): void {
    const error = remoteError(record, this.name.packetName);
    this.#fail(record.errorKind === undefined ? 'unreadable' : 'remote', error);
  }

  #fail(end: CallEnd, error: unknown): void {
    const state = this.#state;
    if (state.kind === 'ended') return; // Q1
    this.#become(ENDED);
    if (state.kind === 'waiting') {
      state.takeBack();
      state.tell(end, error);
    }
    if (state.kind === 'submitted') this.link?.abandon(this, end === 'cancelled');
    requestEnded(this, end, error, this.#startedAtMs);
    this.#reject(error);
  }

  #become(next: RequestState): void {
    const previous = this.#state;
    this.#state = next;
    if (previous.kind === 'waiting') previous.stop();
    if (previous.kind === 'submitted') this.path.terms.wheel.remove(this); // Q2
    if (next.kind === 'ended' && this.#signal !== undefined) unfollow(this.#signal, this);
  }
}

/** Characters of an error reply's text that are shown; the other side may have sent anything. */
const ERROR_TEXT_LIMIT = 1_024;

/** The error that the other side answered with: its kind, and its text where it sent one. */
function remoteError(record: InboundRecord, packetName: string): ZLinkError {
  const kind = record.errorKind;
  if (kind === undefined) {
    return new ZLinkError('ProtocolError', `error reply to "${packetName}" has an unknown kind`, { submitted: true });
  }
  const text = boundedText(decodeUtf8(record.payload, record.payloadStart, record.payloadEnd) ?? '', ERROR_TEXT_LIMIT);
  const error = new ZLinkError(kind, text === '' ? `"${packetName}" failed` : text, { submitted: true });
  // What did not fit there may be quoted in it (TRACE-004).
  if (kind === 'ProtocolError') setRecordText(error, `[${kind}] the other side could not read "${packetName}"`);
  return error;
}

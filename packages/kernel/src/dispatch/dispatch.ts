/**
 * One received message on its way through handler and reply.
 *
 * Owns what is particular to this message: its bytes until they are decoded, its deadline, its signal, its reply. Leaves
 * every decision to the dispatcher. One object is at once the queue's node, the entry in the deadline wheel and the
 * reply that the link writes, so that a message costs this allocation and its context (DISP-010): hence the many fields.
 *
 * D1 `queued` holds a job permit; leaving it returns the permit (JOBQ-004).
 * D2 It is over when everything it holds is over: the handler with its scope, and a reply that waits for credit.
 * D3 At most one reply record is submitted with success (CALL-004).
 * D4 The signal is made when it is asked for, and knows of an abort that came before (C12).
 */
import { type Codec, encodePayload, type PayloadSink } from '../codec/index.ts';
import { ErrorKind, ZLinkError } from '../errors/index.ts';
import { type DeadlineEntry, setDeadline } from '../internal/time/index.ts';
import type { InboundName, InboundRecord, Link, OutboundRecord } from '../internal/transport/index.ts';
import type { OutboundName } from '../internal/wire/names.ts';
import { RecordKind } from '../internal/wire/record.ts';
import { EMPTY_METADATA, type Metadata } from '../message/index.ts';
import { type CarriedFlow, correlationId, type FollowedMessage, type MessageSpan, setFlow } from '../observe/index.ts';
import { type DropReason, type Outcome, type Verb, verbOf } from './counters.ts';
import type { DispatchList } from './dispatch-list.ts';
import type { PeerError } from './peer-error.ts';

/** What contexts are made from. */
export interface DispatchFacts {
  readonly verb: Verb;
  readonly packetName: string;
  readonly contentType: string;
  readonly messageMetadata: Metadata;
  readonly correlationId: string | undefined;
  readonly signal: AbortSignal;
  /** Undefined: nobody is answered, whatever the message is. */
  readonly link: Link | undefined;
  /** Of an event. */
  readonly topic: Uint8Array | undefined;
  /** What its handler may pass on; undefined: it arrived at diagnostics level `off`. */
  readonly handlerFlow: CarriedFlow | undefined;
}

/** What a dispatch tells and asks its dispatcher. */
export interface DispatchOwner {
  /** Watches the deadline of `dispatch`; `false`: it has passed. */
  watch(dispatch: Dispatch): boolean;
  deadlinePassed(dispatch: Dispatch): void;
  replyAdmitted(dispatch: Dispatch): void;
  replyRefused(dispatch: Dispatch, error: ZLinkError): void;
}

export type DispatchPhase = 'queued' | 'running' | 'ended';

/** What spans and durations need to know of a handler. */
export interface HandlerTrail {
  readonly span: MessageSpan | undefined;
  readonly startedAtMs: number;
  /** What the handler passes on, once it was asked for. */
  flow: CarriedFlow | undefined;
}

/** `open`: no reply yet. `waiting`: submitted, waits for credit. `closed`: written, or there will be none. */
export type ReplyState = 'open' | 'waiting' | 'closed';

/** How the reply of a packet is encoded. */
export interface ReplyForm {
  readonly codec: Codec;
  readonly declaredType: unknown;
  readonly name: OutboundName;
}

export class Dispatch implements OutboundRecord, DeadlineEntry, DispatchFacts, FollowedMessage {
  readonly verb: Verb;
  readonly link: Link | undefined;
  readonly topic: Uint8Array | undefined;
  readonly inboundName: InboundName;
  /** What it takes in the mailbox. */
  readonly reservedBytes: number;
  phase: DispatchPhase = 'queued';
  replyState: ReplyState = 'open';
  /** How it ends, once known; read when nothing is held any more. */
  outcome: Outcome = 'handled';
  /** Things that are not over yet (D2). */
  holds = 1;
  /** Nobody waits for the result any more. */
  abandoned: DropReason | undefined = undefined;
  abortReason: ZLinkError | undefined = undefined;
  /** As it was received. */
  readonly flow: CarriedFlow | undefined;
  /** Of its handler; undefined where there are neither spans nor durations. */
  trail: HandlerTrail | undefined = undefined;

  payload: Uint8Array;
  readonly payloadStart: number;
  readonly payloadEnd: number;
  metadataBytes: Uint8Array | undefined;
  messageMetadata: Metadata = EMPTY_METADATA;

  list: DispatchList | undefined = undefined;
  next: Dispatch | undefined = undefined;
  previous: Dispatch | undefined = undefined;

  // The entry in the deadline wheel.
  deadlineAtMs: number;
  wheelSlot = -1;
  wheelNext: DeadlineEntry | undefined = undefined;
  wheelPrevious: DeadlineEntry | undefined = undefined;

  // The reply as the link sees it; it carries no metadata of its own (MSG-012).
  kind: RecordKind = RecordKind.reply;
  name: OutboundName | undefined = undefined;
  correlation: number;
  errorNumber = 0;
  costBytes = 0;
  readonly metadata = undefined;
  readonly trace = undefined;
  /** The link's last try ended in the codec, not in the link. */
  encodingFailed = false;

  readonly #owner: DispatchOwner;
  #controller: AbortController | undefined = undefined;
  #form: ReplyForm | undefined = undefined;
  /** Value of a reply, text of an error reply. */
  #content: unknown = undefined;

  /** @param link - that the message came over: a request always has one, an event none */
  constructor(
    owner: DispatchOwner,
    record: InboundRecord,
    link: Link | undefined,
    deadlineAtMs: number,
    flow: CarriedFlow | undefined,
  ) {
    this.#owner = owner;
    this.flow = flow;
    this.verb = verbOf(record);
    this.link = link;
    this.topic = record.topic;
    this.inboundName = record.name!; // a link lets no send or request without a name through
    this.reservedBytes = record.costBytes;
    this.payload = record.payload;
    this.payloadStart = record.payloadStart;
    this.payloadEnd = record.payloadEnd;
    this.metadataBytes = record.metadata;
    this.correlation = record.correlation;
    this.deadlineAtMs = deadlineAtMs;
  }

  get packetName(): string {
    return this.inboundName.packetName;
  }

  get contentType(): string {
    return this.inboundName.contentType;
  }

  get correlationId(): string | undefined {
    return this.verb === 'request' ? correlationId(this.link!, 'target', this.correlation) : undefined;
  }

  /** Calls of the handler are children of its span, if it has one. */
  get handlerFlow(): CarriedFlow | undefined {
    const { trail } = this;
    let { flow } = this;
    if (trail?.span !== undefined) flow = trail.flow ??= flow?.withTraceContext(trail.span.context);
    Object.freeze(flow); // now that a handler sees it: most never ask
    return flow;
  }

  get signal(): AbortSignal {
    return (this.#controller ??= this.#openController()).signal;
  }

  /** The first reason counts. */
  abort(reason: ZLinkError, abandoned: DropReason): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    this.abandoned = abandoned;
    this.#controller?.abort(reason);
  }

  /** The received bytes are decoded: they are a part of a batch that others of it may already be done with. */
  forgetBytes(): void {
    this.payload = NO_BYTES;
    this.metadataBytes = undefined;
  }

  becomeReply(form: ReplyForm, value: unknown): void {
    this.kind = RecordKind.reply;
    this.name = form.name;
    this.#form = form;
    this.#content = value;
  }

  becomeErrorReply(error: PeerError): void {
    this.kind = RecordKind.error;
    this.name = undefined;
    this.errorNumber = ErrorKind[error.kind];
    this.costBytes = 0; // that of a reply is not this record's
    this.#form = undefined;
    this.#content = error.text;
  }

  /** The reply has left or never will. */
  closeReply(): void {
    this.replyState = 'closed';
    this.#content = undefined;
  }

  encode(sink: PayloadSink): void {
    const form = this.#form;
    if (form === undefined) {
      sink.writeText(this.#content as string); // set by becomeErrorReply
      return;
    }
    this.encodingFailed = true; // until it has not
    encodePayload(form.codec, this.#content, form.declaredType, sink);
    this.encodingFailed = false;
  }

  onAdmitted(): void {
    this.#owner.replyAdmitted(this);
  }

  onRefused(error: ZLinkError): void {
    this.#owner.replyRefused(this, error);
  }

  onDeadline(): void {
    this.#owner.deadlinePassed(this);
  }

  #openController(): AbortController {
    const controller = new AbortController();
    // Calls started with it inherit the rest of the time, and are known as part of accepted work (C12).
    setDeadline(controller.signal, this.deadlineAtMs === 0 ? Infinity : this.deadlineAtMs);
    const flow = this.handlerFlow;
    if (flow !== undefined) setFlow(controller.signal, flow); // TRACE-026
    const isAwaited = this.phase === 'running' && this.replyState === 'open' && this.abortReason === undefined;
    if (isAwaited && !this.#owner.watch(this)) this.#owner.deadlinePassed(this);
    if (this.abortReason !== undefined) controller.abort(this.abortReason); // D4
    return controller;
  }
}

const NO_BYTES = new Uint8Array(0);

/**
 * One-way sends: the builder an application holds, and the send it becomes.
 *
 * T1 A send that is accepted at once is an already resolved promise and leaves nothing behind: no timer, no listener.
 * T2 A waiting send ends exactly once: accepted, refused, out of time, or no longer wanted (CALL-004).
 */
import type { PayloadSink } from '../codec/index.ts';
import type { ZLinkError } from '../errors/index.ts';
import { deadlineOf, follow, hasDeadline, type SignalFollower, unfollow } from '../internal/time/index.ts';
import type { Link } from '../internal/transport/index.ts';
import { type OutboundName, RecordKind } from '../internal/wire/index.ts';
import type { Metadata, ResolvedPacket } from '../message/index.ts';
import type { CarriedFlow, Flow, MessageSpan } from '../observe/index.ts';
import type { CallPath, RoutableCall } from './call-path.ts';
import {
  type CallEnd,
  carriedBy,
  type FollowedCall,
  noteBackpressured,
  sendAccepted,
  sendFailed,
  startSpan,
} from './call-points.ts';
import { CallWait } from './call-wait.ts';
import type { SendCall } from './call.ts';
import { OutgoingMessage } from './outgoing-message.ts';
import { rejected } from './rejected.ts';

export class SendBuilder implements SendCall {
  readonly #message: OutgoingMessage;

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

  submit(signal?: AbortSignal): Promise<void> {
    try {
      return new Send(this.#message.seal(signal), this.#message).start(signal);
    } catch (error) {
      return rejected(error);
    }
  }
}

/** `starting`: being routed or submitted, within `start`. */
type SendState = { readonly kind: 'starting' } | CallWait | { readonly kind: 'ended' };

const STARTING: SendState = { kind: 'starting' };
const ENDED: SendState = { kind: 'ended' };
const ACCEPTED = Promise.resolve();

class Send implements RoutableCall, SignalFollower, FollowedCall {
  readonly kind = RecordKind.send;
  readonly name: OutboundName;
  readonly errorNumber = 0;
  readonly deadlineAtMs = 0;
  readonly metadata: Uint8Array | undefined;
  readonly trace: CarriedFlow | undefined;
  correlation = 0;
  costBytes = 0;

  readonly path: CallPath;
  readonly span: MessageSpan | undefined;
  link: Link | undefined = undefined;
  readonly #message: OutgoingMessage;
  #state: SendState = STARTING;
  #signal: AbortSignal | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(path: CallPath, message: OutgoingMessage) {
    this.path = path;
    this.#message = message;
    this.name = message.name;
    this.metadata = message.metadataBytes;
    this.span = path.terms.flow.isFollowing ? startSpan('producer', path, message) : undefined;
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

  start(signal: AbortSignal | undefined): Promise<void> {
    this.#signal = signal;
    try {
      this.path.route(this);
    } catch (error) {
      sendFailed(this, 'local', error);
      throw error;
    }
    if (this.#state === ENDED) return ACCEPTED; // T1
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (signal === undefined) return;
      if (signal.aborted) return this.#fail('cancelled', signal.reason); // encoding it has aborted the signal
      try {
        follow(signal, this);
      } catch (error) {
        this.#fail('local', error); // what takes no listener cannot end the wait
      }
    });
  }

  awaitTarget(limitMs: number): void {
    this.#wait(undefined, limitMs);
  }

  takeLink(link: Link, limitMs = this.path.terms.sendTimeoutMs): void {
    this.link = link;
    let accepted: boolean;
    try {
      accepted = link.submit(this);
    } catch (error) {
      if (this.#resolve === undefined) throw error; // still inside `start`, which rejects
      return this.#fail('local', error);
    }
    if (accepted) return this.#accept();
    if (this.#state.kind === 'ended') return void link.withdraw(this); // T2: encoding it has aborted its signal
    this.#wait(link, limitMs);
  }

  encode(sink: PayloadSink): void {
    this.#message.encode(sink);
  }

  onAdmitted(): void {
    this.#accept();
  }

  onRefused(error: ZLinkError): void {
    this.#fail('local', error);
  }

  onAbort(reason: unknown): void {
    this.#fail('cancelled', reason);
  }

  #wait(link: Link | undefined, limitMs: number): void {
    // A handler's own deadline, passed on by its signal, is never exceeded (C12).
    const inheritedAtMs = this.#signal === undefined ? undefined : deadlineOf(this.#signal);
    const wait = new CallWait(this.path, this, link, limitMs, inheritedAtMs ?? Infinity);
    this.#become(wait);
    wait.start();
    if (link !== undefined) noteBackpressured(this, 'send');
  }

  #accept(): void {
    const state = this.#state;
    this.#become(ENDED);
    if (state.kind === 'waiting') state.tell('succeeded');
    if (this.span !== undefined || this.path.terms.flow.isFollowing) sendAccepted(this);
    this.#resolve?.();
  }

  #fail(end: CallEnd, error: unknown): void {
    const state = this.#state;
    if (state.kind === 'ended') return; // T2
    this.#become(ENDED);
    if (state.kind === 'waiting') {
      state.takeBack();
      state.tell(end, error);
    }
    sendFailed(this, end, error);
    this.#reject?.(error);
  }

  #become(next: SendState): void {
    const previous = this.#state;
    this.#state = next;
    if (previous.kind === 'waiting') previous.stop();
    if (next.kind === 'ended' && this.#resolve !== undefined && this.#signal !== undefined)
      unfollow(this.#signal, this);
  }
}

/**
 * One-way sends: the builder an application holds, and the send it becomes.
 *
 * T1 A send that is accepted at once is an already resolved promise and leaves nothing behind: no timer, no listener.
 * T2 A waiting send ends exactly once: accepted, refused, out of time, or no longer wanted (CALL-004).
 */
import { isZLinkError, ZLinkError } from '../errors/index.ts';
import { type Metadata, MetadataBuilder, type ResolvedPacket } from '../message/index.ts';
import { deadlineOf } from '../internal/time/index.ts';
import type { Link } from '../internal/transport/index.ts';
import { type OutboundName, RecordKind } from '../internal/wire/index.ts';
import type { PayloadSink } from '../codec/index.ts';
import type { CallPath, RoutableCall } from './call-path.ts';
import type { SendCall } from './call.ts';
import { OutgoingMessage } from './outgoing-message.ts';
import { follow, type SignalFollower, unfollow } from './signal-followers.ts';
import { submittedTwice } from './single-use.ts';
import { CallTimer } from './timer.ts';

export class SendBuilder implements SendCall {
  readonly #path: CallPath | ZLinkError;
  readonly #packet: ResolvedPacket;
  #metadata: MetadataBuilder | undefined;
  #submitted = false;

  /** @param path - the way to the target, or why there is none: then `submit` rejects with it */
  constructor(path: CallPath | ZLinkError, packet: ResolvedPacket) {
    this.#path = path;
    this.#packet = packet;
  }

  metadata(keyOrAll: string | Metadata, value?: string): this {
    if (this.#submitted) throw submittedTwice(this.#packet.packetName);
    this.#metadata ??= new MetadataBuilder();
    if (typeof keyOrAll === 'object') this.#metadata.setAll(keyOrAll);
    else this.#metadata.set(keyOrAll, value!); // the overload with a key has a value; the builder checks it
    return this;
  }

  submit(signal?: AbortSignal): Promise<void> {
    if (this.#submitted) return Promise.reject(submittedTwice(this.#packet.packetName));
    this.#submitted = true;
    if (signal?.aborted === true) return rejected(signal.reason);
    const path = this.#path;
    if (isZLinkError(path)) return rejected(path);
    try {
      const message = new OutgoingMessage(this.#packet, this.#metadata?.encode(), path);
      return new Send(path, message).start(signal);
    } catch (error) {
      return rejected(error);
    }
  }
}

type SendState =
  /** Being routed or submitted, within `start`. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'awaitingTarget'; readonly timer: CallTimer }
  | { readonly kind: 'awaitingCredit'; readonly timer: CallTimer; readonly link: Link }
  | { readonly kind: 'ended' };

const STARTING: SendState = { kind: 'starting' };
const ENDED: SendState = { kind: 'ended' };
const ACCEPTED = Promise.resolve();

class Send implements RoutableCall, SignalFollower {
  readonly kind = RecordKind.send;
  readonly name: OutboundName;
  readonly errorNumber = 0;
  readonly deadlineAtMs = 0;
  readonly metadata: Uint8Array | undefined;
  readonly trace: Uint8Array | undefined = undefined;
  correlation = 0;
  costBytes = 0;

  readonly #path: CallPath;
  readonly #message: OutgoingMessage;
  #state: SendState = STARTING;
  #startedAtMs = 0;
  #signal: AbortSignal | undefined;
  #resolve: (() => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  constructor(path: CallPath, message: OutgoingMessage) {
    this.#path = path;
    this.#message = message;
    this.name = message.name;
    this.metadata = message.metadata;
  }

  get belongsToHandler(): boolean {
    return this.#signal !== undefined && deadlineOf(this.#signal) !== undefined;
  }

  start(signal: AbortSignal | undefined): Promise<void> {
    this.#signal = signal;
    this.#path.route(this);
    if (this.#state === ENDED) return ACCEPTED; // T1
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (signal === undefined) return;
      if (signal.aborted) return this.#fail(signal.reason); // encoding it has aborted the signal
      follow(signal, this);
    });
  }

  awaitTarget(limitMs: number): void {
    this.#startedAtMs = this.#path.clock.nowMs();
    const waitMs = Math.min(limitMs, this.#path.requestTimeoutMs);
    const timer = new CallTimer(this.#limit(waitMs), () =>
      this.#fail(new ZLinkError('NotFound', `${this.#path.label} had no ready target for ${waitMs} ms`)),
    );
    this.#become({ kind: 'awaitingTarget', timer });
    this.#path.wheel.add(timer);
  }

  takeLink(link: Link): void {
    let accepted: boolean;
    try {
      accepted = link.submit(this);
    } catch (error) {
      if (this.#resolve === undefined) throw error; // still inside `start`, which rejects
      return this.#fail(error);
    }
    if (accepted) return this.#accept();
    if (this.#state.kind === 'ended') return void link.withdraw(this); // T2: encoding it has aborted its signal
    this.#startedAtMs = this.#path.clock.nowMs();
    const timeoutMs = this.#path.sendTimeoutMs;
    const timer = new CallTimer(this.#limit(timeoutMs), () =>
      this.#fail(
        new ZLinkError('DeadlineExceeded', `${this.#path.label} did not accept the message within ${timeoutMs} ms`),
      ),
    );
    this.#become({ kind: 'awaitingCredit', timer, link });
    this.#path.wheel.add(timer);
  }

  encode(sink: PayloadSink): void {
    this.#message.encode(sink);
  }

  onAdmitted(): void {
    this.#accept();
  }

  onRefused(error: ZLinkError): void {
    this.#fail(error);
  }

  onAbort(reason: unknown): void {
    this.#fail(reason);
  }

  /** A handler's own deadline, passed on by its signal, is never exceeded (C12). */
  #limit(timeoutMs: number): number {
    const atMs = this.#startedAtMs + timeoutMs;
    const inheritedAtMs = this.#signal === undefined ? undefined : deadlineOf(this.#signal);
    return inheritedAtMs === undefined ? atMs : Math.min(atMs, inheritedAtMs);
  }

  #accept(): void {
    this.#become(ENDED);
    this.#resolve?.();
  }

  #fail(error: unknown): void {
    const state = this.#state;
    if (state.kind === 'ended') return; // T2
    this.#become(ENDED);
    if (state.kind === 'awaitingTarget') this.#path.unroute(this);
    if (state.kind === 'awaitingCredit') state.link.withdraw(this);
    this.#reject?.(error);
  }

  #become(next: SendState): void {
    const previous = this.#state;
    this.#state = next;
    if (previous.kind === 'awaitingTarget' || previous.kind === 'awaitingCredit') {
      this.#path.wheel.remove(previous.timer);
    }
    if (next.kind === 'ended' && this.#resolve !== undefined && this.#signal !== undefined)
      unfollow(this.#signal, this);
  }
}

/** Rejects with whatever it was: an abort reason may be any value. */
export async function rejected(reason: unknown): Promise<never> {
  throw reason;
}

/**
 * One publish, as an application holds it.
 *
 * Owns that it happens once, and what is told of it: one record, whoever receives the event (TRACE-005). Leaves encoding and
 * what is accepted to the publisher.
 *
 * 1. What was accepted is an already resolved promise; nothing waits, so an abort has nothing to end (CALL-001, CALL-002).
 */
import {
  carriedBy,
  type FanoutPublishCall,
  type FollowedCall,
  rejected,
  sendAccepted,
  sendFailed,
  startSpan,
} from '@zlink/kernel/call';
import { isZLinkError, ZLinkError } from '@zlink/kernel/errors';
import { hasDeadline, requireSignal } from '@zlink/kernel/internal/time';
import type { ResolvedPacket } from '@zlink/kernel/message';
import { type CarriedFlow, type Flow, type MessageSpan, requireFlow } from '@zlink/kernel/observe';
import type { EventPath, OutgoingEvent } from './event-path.ts';
import type { Topic } from './topic.ts';

const ACCEPTED = Promise.resolve();

export class PublishCall implements FanoutPublishCall, OutgoingEvent {
  readonly packet: ResolvedPacket;
  readonly topic: Topic;
  trace: CarriedFlow | undefined = undefined;
  readonly #path: EventPath | ZLinkError;
  #signal: AbortSignal | undefined;
  #isSubmitted = false;

  /** @param path - to the publisher, or why there is none: then `submit` rejects with it */
  constructor(path: EventPath | ZLinkError, packet: ResolvedPacket, topic: Topic) {
    this.#path = path;
    this.packet = packet;
    this.topic = topic;
  }

  get belongsToHandler(): boolean {
    return hasDeadline(this.#signal);
  }

  flow(flow: Flow | undefined): this {
    this.#requireOpen();
    this.trace = requireFlow(flow);
    return this;
  }

  submit(signal?: AbortSignal): Promise<void> {
    try {
      this.#publish(signal);
      return ACCEPTED; // 1
    } catch (error) {
      return rejected(error);
    }
  }

  #publish(signal: AbortSignal | undefined): void {
    this.#requireOpen();
    this.#isSubmitted = true;
    requireSignal(signal);
    this.#signal = signal;
    if (signal?.aborted === true) throw signal.reason;
    const path = this.#path;
    if (isZLinkError(path)) throw path;
    this.trace = path.terms.flow.join(this.trace, signal);
    this.#publishTo(path);
  }

  #publishTo(path: EventPath): void {
    const { flow } = path.terms;
    const span = flow.isFollowing ? startSpan('producer', path, this.#followed(path, undefined)) : undefined;
    this.trace = carriedBy(this.trace, span);
    try {
      path.publish(this);
    } catch (error) {
      sendFailed(this.#followed(path, span), 'local', error);
      throw error;
    }
    if (flow.isFollowing) sendAccepted(this.#followed(path, span));
  }

  #followed(path: EventPath, span: MessageSpan | undefined): FollowedCall {
    const { topic, trace: flow } = this;
    return { path, span, packetName: this.packet.packetName, flow, topic, link: undefined, correlation: 0 };
  }

  #requireOpen(): void {
    if (!this.#isSubmitted) return;
    throw new ZLinkError('InvalidOperation', `publish of "${this.packet.packetName}" was already submitted`);
  }
}

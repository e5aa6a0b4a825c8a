/**
 * One publish, as an application holds it.
 *
 * Owns that it happens once. Leaves encoding and what is accepted to the publisher.
 *
 * 1. What was accepted is an already resolved promise; nothing waits, so an abort has nothing to end (CALL-001, CALL-002).
 */
import { type FanoutPublishCall, rejected } from '@zlink/kernel/call';
import { isZLinkError, ZLinkError } from '@zlink/kernel/errors';
import { hasDeadline } from '@zlink/kernel/internal/time';
import type { ResolvedPacket } from '@zlink/kernel/message';
import type { EventPath, OutgoingEvent } from './event-path.ts';
import type { Topic } from './topic.ts';

const ACCEPTED = Promise.resolve();

export class PublishCall implements FanoutPublishCall, OutgoingEvent {
  readonly packet: ResolvedPacket;
  readonly topic: Topic;
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

  submit(signal?: AbortSignal): Promise<void> {
    try {
      this.#publish(signal);
      return ACCEPTED; // 1
    } catch (error) {
      return rejected(error);
    }
  }

  #publish(signal: AbortSignal | undefined): void {
    if (this.#isSubmitted) {
      throw new ZLinkError('InvalidOperation', `publish of "${this.packet.packetName}" was already submitted`);
    }
    this.#isSubmitted = true;
    this.#signal = signal;
    signal?.throwIfAborted();
    const path = this.#path;
    if (isZLinkError(path)) throw path;
    path.publish(this);
  }
}

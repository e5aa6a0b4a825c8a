/**
 * A subscription: a SUB that takes all that one publisher sends, or all that one run of it does (FAN-005, [C08]).
 *
 * Owns its socket's part in an engine. Leaves the connection to dialed-socket.ts, and dialling again, beacons and silence to the
 * fanout topic.
 *
 * 1. What is not read stays where it is: in the receive mark of the socket, then in the system's buffers, then in the
 *    publisher's mark (CORE-016).
 * 2. An attempt that is not open within the time of a handshake has failed: to strangers, and to peers of a version so old that
 *    it has no handshake, libzmq would listen for ever. What such a peer says is garbage to the fanout topic; over CURVE it is
 *    not heard.
 * 3. No part of a message is larger than a publisher may send, from its first byte on (SEC-002).
 */
import type { Subscriber } from 'zeromq';
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';
import type { Subscription, SubscriptionOptions, SubscriptionSink } from '@zlink/kernel/internal/transport';
import { HANDSHAKE_TIMEOUT_MS, topicsOf } from '@zlink/kernel/internal/wire';
import { DialedSocket, type DialHost } from './dialed-socket.ts';
import { handshakeText } from './native-errors.ts';

export interface SubscriberHost extends DialHost {
  readonly clock: Clock;
  /** One that has subscribed to these topics. */
  openSubscriber(topics: readonly Uint8Array[], connectTimeoutMs: number): Subscriber;
  onSubscriptionClosed(subscription: SubscriberEndpoint): void;
}

export class SubscriberEndpoint implements Subscription {
  readonly #dial: DialedSocket<Subscriber>;
  readonly #clock: Clock;
  #openTimer: TimerHandle | undefined;

  constructor({ address, generation }: SubscriptionOptions, sink: SubscriptionSink, host: SubscriberHost) {
    this.#clock = host.clock;
    this.#openTimer = host.clock.setTimer(() => this.fail(handshakeText('handshakeIncomplete')), HANDSHAKE_TIMEOUT_MS); // 2
    const user = {
      openSocket: (connectTimeoutMs: number) => host.openSubscriber(topicsOf(generation), connectTimeoutMs),
      onOpen: () => {
        this.#clearTimer();
        sink.onOpen();
      },
      onMessage: (parts: readonly Uint8Array[]) => sink.onMessage(parts),
      onClosed: (reason: string) => sink.onClosed(reason),
      onReleased: () => {
        this.#clearTimer();
        host.onSubscriptionClosed(this);
      },
    };
    this.#dial = new DialedSocket(address, user, host);
  }

  pause(): void {
    this.#dial.pause();
  }

  resume(): void {
    this.#dial.resume();
  }

  close(): Promise<void> {
    this.#dial.close(0);
    return this.#dial.gone();
  }

  /** Ends the subscription and tells its sink. */
  fail(reason: string): void {
    this.#dial.fail(reason);
  }

  #clearTimer(): void {
    if (this.#openTimer !== undefined) this.#clock.clearTimer(this.#openTimer);
    this.#openTimer = undefined;
  }
}

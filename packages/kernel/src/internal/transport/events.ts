/**
 * The port of classic fanout: publishers, and subscriptions that get all that one publisher sends.
 *
 * Owns the vocabulary between the fanout topic and an engine. Leaves bytes to `internal/wire`, and beacons, readiness,
 * loss and dialling again to the topic. There is no link here: no handshake of ours, no credit, no reply.
 *
 * E1 A message arrives whole or not at all; what arrives is in the order in which it was sent, each at most once.
 * E2 A subscriber that does not read loses whole messages past its mark. It costs the others nothing, and the publisher
 *    no more memory than that mark (CORE-016).
 * E3 A message that was sent while `subscriptions` counted a subscriber reaches it, below its mark and while it is
 *    connected ([C08]).
 * E4 A subscription may name the run that it looks for: it gets the frames of that run, beacons, and nothing else. A publisher
 *    of another run does not count it, and refuses it by the message that `internal/wire` has for that. A publisher that knows
 *    of no run counts only who names none.
 */

export interface EventTransport {
  /** @throws ZLinkError if the address cannot be bound */
  bind(options: PublisherOptions): Promise<EventPublisher>;
  /** Dials once. The sink hears nothing within this call. */
  subscribe(options: SubscriptionOptions, sink: SubscriptionSink): Subscription;
  /**
   * For the suites: ends all that is open; resolves when nothing is left. Idempotent. A host ends the engine by closing its
   * `Transport`.
   */
  close(): Promise<void>;
}

export interface PublisherOptions {
  /** `tcp://host:port`; port 0 takes a free one. */
  readonly bindAddress: string;
  /** Host in `endpoint`; default: the bound one. */
  readonly advertiseHost?: string | undefined;
  /** Of this run; not 0. */
  readonly generation?: bigint | undefined;
  /** Told about connections that ended before they subscribed, by reason label. */
  readonly onRefused?: ((reason: string) => void) | undefined;
}

export interface EventPublisher {
  /** Advertised endpoint with the real port. */
  readonly endpoint: string;
  /** For the suites: bound endpoint with the real port. */
  readonly boundAddress: string;
  /** Subscriptions that stand now, to this run or to whichever it is. */
  readonly subscriptions: number;
  /** Calls `listener` after each change of `subscriptions`, never within a call of the owner; a later one takes its place. */
  onSubscriptions(listener: () => void): void;
  /**
   * Hands over one message to all that have subscribed to it, and never waits or throws. The parts belong to the engine from here
   * on and are never written again. After the end of the publisher it does nothing.
   */
  send(parts: Uint8Array[]): void;
  /** Ends the publisher; what was sent before still leaves within `lingerMs`. Resolves when the port is free. Idempotent. */
  close(lingerMs: number): Promise<void>;
}

export interface SubscriptionOptions {
  readonly address: string;
  /** Of the run that is looked for; default: whichever it is. */
  readonly generation?: bigint | undefined;
}

export interface SubscriptionSink {
  /** The connection stands. That the publisher has heard of the subscription is not known yet. */
  onOpen(): void;
  /** The buffers stay valid and unchanged for as long as anyone holds them. */
  onMessage(parts: readonly Uint8Array[]): void;
  /**
   * The connection is gone or never came to be: told once, after the last message, never to an owner that has closed.
   * `reason` is for people. A paused subscription is told after it was resumed, and read, to its end.
   */
  onClosed(reason: string): void;
}

/** One connection attempt and its connection. */
export interface Subscription {
  /** From here on nothing is delivered until `resume`; the pressure reaches the publisher's mark. */
  pause(): void;
  resume(): void;
  /** Resolves when nothing of it is left. Idempotent. */
  close(): Promise<void>;
}

/**
 * The port of classic fanout over a `MemoryNetwork`: publishers and subscriptions without sockets or native code.
 *
 * Owns what a transport has open. Leaves marks to memory-publisher.ts, delivery and faults to the network: a fault concerns
 * an address that was dialled, `toDialer` is the way of the events.
 *
 * 1. A transport is in `globalThis.__zlinkOpenTransports` while it is open, so that a leak is found.
 */
import { EVENT_FRAME_BYTES } from '@zlink/kernel/internal/wire';
import type {
  EventPublisher,
  EventTransport,
  PipeEngine,
  PublisherOptions,
  Subscription,
  SubscriptionOptions,
  SubscriptionSink,
} from '@zlink/kernel/internal/transport';
import type { MemoryHost } from './memory-connection.ts';
import { createMemoryEngine } from './memory-engine.ts';
import type { MemoryNetwork } from './memory-network.ts';
import { MemoryPublisher } from './memory-publisher.ts';
import { MemorySubscription } from './memory-subscription.ts';

const DEFAULT_MARK_COUNT = 1_000;
const CLOSED = 'transport closed';

export interface MemoryEventTransportOptions {
  /** Names the transport in a leak report. */
  readonly name?: string;
  /** Messages that one subscriber may have unread; default: 1,000, as over ZeroMQ. */
  readonly markCount?: number;
  /** The machine that the transport is on, for faults between hosts; none by default. */
  readonly host?: MemoryHost;
}

/** Transports on the same network reach each other. */
export function createMemoryEventTransport(
  network: MemoryNetwork,
  options: MemoryEventTransportOptions = {},
): EventTransport {
  return new MemoryEventTransport(network, options);
}

class MemoryEventTransport implements EventTransport {
  readonly #network: MemoryNetwork;
  readonly #engine: PipeEngine;
  readonly #markCount: number;
  readonly #publishers = new Set<MemoryPublisher>();
  readonly #subscriptions = new Set<MemorySubscription>();

  constructor(network: MemoryNetwork, options: MemoryEventTransportOptions) {
    const { name = 'memory event transport', markCount, host } = options;
    this.#network = network;
    this.#engine = createMemoryEngine(network, { name, ...(host === undefined ? {} : { host }) });
    this.#markCount = markCount ?? DEFAULT_MARK_COUNT;
  }

  async bind(options: PublisherOptions): Promise<EventPublisher> {
    const publisher = new MemoryPublisher(options, this.#markCount, (closed) => this.#publishers.delete(closed));
    const onRefused = (reason: string): void => options.onRefused?.(reason);
    const listening = { address: options.bindAddress, maxPartBytes: EVENT_FRAME_BYTES, onRefused };
    publisher.bound(await this.#engine.listen(listening, (pipe) => publisher.accept(pipe)));
    this.#publishers.add(publisher);
    return publisher;
  }

  subscribe(options: SubscriptionOptions, sink: SubscriptionSink): Subscription {
    const onClosed = (closed: MemorySubscription): void => void this.#subscriptions.delete(closed);
    const subscription = new MemorySubscription(options, sink, this.#network, onClosed);
    subscription.dialed(
      this.#engine.connect({ address: options.address, maxPartBytes: EVENT_FRAME_BYTES }, subscription),
    );
    this.#subscriptions.add(subscription);
    return subscription;
  }

  async close(): Promise<void> {
    for (const subscription of [...this.#subscriptions]) subscription.fail(CLOSED);
    await Promise.all([...this.#publishers].map((publisher) => publisher.close(0)));
    await this.#engine.close();
  }
}

/**
 * A publisher on a memory network.
 *
 * Owns who has subscribed, and how much each of them has not read. Leaves connections and faults to the network.
 *
 * P1 A subscriber has at most `markCount` messages that it has not read; past that it loses whole messages, and nobody else
 *    does (CORE-016). It says of every message that it has read it, so that whatever keeps it from reading or saying so fills its
 *    mark: a pause, a black hole, a receiver that the network holds up.
 * P2 A peer that says anything but what subscriptions say is none.
 * P3 A subscription to another run is not counted and is refused; it stays until its peer ends it, as over ZeroMQ ([C08]).
 */
import {
  advertisedEndpoint,
  type EventPublisher,
  type Pipe,
  type PipeListener,
  type PipeSink,
  type PublisherOptions,
} from '@zlink/kernel/internal/transport';
import { isAskedFor, otherRunParts, runOf, runTopic, topicsOf } from '@zlink/kernel/internal/wire';

/** What a subscription says, by its first byte: that it is one, and to which run if to a certain one; or that it has read. */
const SUBSCRIBED = 1;
const READ = 2;
const NOTHING = new Uint8Array(0);

export function subscribedMessage(generation: bigint | undefined): Uint8Array {
  return Uint8Array.of(SUBSCRIBED, ...(generation === undefined ? [] : runTopic(generation)));
}

export function readMessage(): Uint8Array {
  return Uint8Array.of(READ);
}

export class MemoryPublisher implements EventPublisher {
  readonly #options: PublisherOptions;
  readonly #markCount: number;
  readonly #onClosed: (publisher: MemoryPublisher) => void;
  readonly #subscribers = new Set<Subscriber>();
  /** Those of them that will get what this run sends (P3). */
  readonly #counted = new Set<Subscriber>();
  readonly #pipes = new Set<Pipe>();
  #socket: PipeListener | undefined;
  #listener: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: PublisherOptions, markCount: number, onClosed: (publisher: MemoryPublisher) => void) {
    this.#options = options;
    this.#markCount = markCount;
    this.#onClosed = onClosed;
  }

  /** Told once, before anybody can connect. */
  bound(socket: PipeListener): void {
    this.#socket = socket;
  }

  get boundAddress(): string {
    return this.#socket?.address ?? this.#options.bindAddress;
  }

  get endpoint(): string {
    return advertisedEndpoint(this.boundAddress, this.#options.advertiseHost);
  }

  get subscriptions(): number {
    return this.#counted.size;
  }

  onSubscriptions(listener: () => void): void {
    this.#listener = listener;
  }

  send(parts: Uint8Array[]): void {
    for (const subscriber of this.#subscribers) subscriber.send(parts);
  }

  accept(pipe: Pipe): PipeSink {
    this.#pipes.add(pipe);
    const subscriber = new Subscriber(pipe, this.#markCount);
    return {
      onPipeOpen: () => undefined,
      onPipeMessage: (parts, first) => this.#onMessage(subscriber, parts[first]),
      onPipeClosed: () => this.#onGone(subscriber),
    };
  }

  close(lingerMs: number): Promise<void> {
    this.#closing ??= this.#close(lingerMs);
    return this.#closing;
  }

  async #close(lingerMs: number): Promise<void> {
    this.#subscribers.clear();
    this.#counted.clear();
    for (const pipe of this.#pipes) pipe.close(lingerMs);
    this.#onClosed(this);
    await this.#socket?.close();
  }

  #onMessage(subscriber: Subscriber, message: Uint8Array | undefined): void {
    const [verb] = message ?? [];
    const topic = message?.subarray(1) ?? NOTHING;
    if (verb === READ && topic.length === 0 && this.#subscribers.has(subscriber)) {
      subscriber.unreadCount--;
    } else if (verb === SUBSCRIBED && (topic.length === 0 || runOf(topic) !== undefined)) {
      this.#onSubscription(subscriber, runOf(topic));
    } else {
      this.#options.onRefused?.('unknownProtocol'); // P2
      subscriber.pipe.close(0);
      this.#onGone(subscriber);
    }
  }

  #onSubscription(subscriber: Subscriber, generation: bigint | undefined): void {
    subscriber.topics = topicsOf(generation);
    this.#subscribers.add(subscriber);
    if (generation !== undefined && generation !== this.#options.generation) {
      this.send(otherRunParts(generation)); // P3
    } else {
      this.#counted.add(subscriber);
      this.#listener?.();
    }
  }

  #onGone(subscriber: Subscriber): void {
    this.#pipes.delete(subscriber.pipe);
    this.#subscribers.delete(subscriber);
    if (this.#counted.delete(subscriber)) this.#listener?.();
  }
}

class Subscriber {
  readonly pipe: Pipe;
  unreadCount = 0;
  /** What it has asked for. */
  topics: readonly Uint8Array[] = [];
  readonly #markCount: number;

  constructor(pipe: Pipe, markCount: number) {
    this.pipe = pipe;
    this.#markCount = markCount;
  }

  send(parts: Uint8Array[]): void {
    if (!isAskedFor(parts, this.topics)) return;
    if (this.unreadCount >= this.#markCount) return; // P1
    this.unreadCount++;
    this.pipe.send([...parts]); // each has a list of its own; the bytes are shared
  }
}

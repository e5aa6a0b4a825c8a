/**
 * A publisher on a memory network.
 *
 * Owns who has subscribed, and how much each of them has not read. Leaves connections and faults to the network.
 *
 * P1 A subscriber has at most `markCount` messages that it has not read; past that it loses whole messages, and nobody else
 *    does (CORE-016). It says of every message that it has read it, so that whatever keeps it from reading or saying so fills its
 *    mark: a pause, a black hole, a receiver that the network holds up.
 * P2 A peer that says anything but what subscriptions say is none.
 */
import {
  advertisedEndpoint,
  type EventPublisher,
  type Pipe,
  type PipeListener,
  type PipeSink,
  type PublisherOptions,
} from '@zlink/kernel/internal/transport';

/** What a subscription says: that it is one, and that it has read a message. */
export const SUBSCRIBED = Uint8Array.of(1);
export const READ = Uint8Array.of(2);

export class MemoryPublisher implements EventPublisher {
  readonly #options: PublisherOptions;
  readonly #markCount: number;
  readonly #onClosed: (publisher: MemoryPublisher) => void;
  readonly #subscribers = new Set<Subscriber>();
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
    return this.#subscribers.size;
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
    for (const pipe of this.#pipes) pipe.close(lingerMs);
    this.#onClosed(this);
    await this.#socket?.close();
  }

  #onMessage(subscriber: Subscriber, message: Uint8Array | undefined): void {
    if (isSame(message, READ) && this.#subscribers.has(subscriber)) {
      subscriber.unreadCount--;
    } else if (isSame(message, SUBSCRIBED)) {
      this.#subscribers.add(subscriber);
      this.#listener?.();
    } else {
      this.#options.onRefused?.('unknownProtocol'); // P2
      subscriber.pipe.close(0);
      this.#onGone(subscriber);
    }
  }

  #onGone(subscriber: Subscriber): void {
    this.#pipes.delete(subscriber.pipe);
    if (this.#subscribers.delete(subscriber)) this.#listener?.();
  }
}

class Subscriber {
  readonly pipe: Pipe;
  unreadCount = 0;
  readonly #markCount: number;

  constructor(pipe: Pipe, markCount: number) {
    this.pipe = pipe;
    this.#markCount = markCount;
  }

  send(parts: Uint8Array[]): void {
    if (this.unreadCount >= this.#markCount) return; // P1
    this.unreadCount++;
    this.pipe.send([...parts]); // each has a list of its own; the bytes are shared
  }
}

function isSame(bytes: Uint8Array | undefined, expected: Uint8Array): boolean {
  return bytes?.length === expected.length && expected.every((byte, at) => byte === bytes[at]);
}

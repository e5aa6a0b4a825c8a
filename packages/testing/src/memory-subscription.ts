/**
 * A subscription on a memory network.
 *
 * Owns what has arrived and was not read. Leaves the connection to the network.
 *
 * S1 While it is paused nothing is delivered; what arrives counts as unread at the publisher (CORE-016).
 * S2 An attempt that is not open within the time of a handshake has failed, by the network's clock.
 * S3 The end is told after everything that came before it, once, and never to an owner that has closed.
 */
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';
import type {
  Pipe,
  PipeSink,
  Subscription,
  SubscriptionOptions,
  SubscriptionSink,
} from '@zlink/kernel/internal/transport';
import { HANDSHAKE_TIMEOUT_MS } from '@zlink/kernel/internal/wire';
import { readMessage, subscribedMessage } from './memory-publisher.ts';

/** What a subscription needs of its network. */
interface SubscriptionHost {
  readonly clock: Clock;
  /** Runs a callback in a later turn. */
  later(task: () => void): void;
}

export class MemorySubscription implements Subscription, PipeSink {
  readonly #generation: bigint | undefined;
  readonly #sink: SubscriptionSink;
  readonly #host: SubscriptionHost;
  readonly #onClosed: (subscription: MemorySubscription) => void;
  #pipe: Pipe | undefined;
  #unread: (readonly Uint8Array[])[] = [];
  #endReason: string | undefined;
  #openTimer: TimerHandle | undefined;
  #isPaused = false;
  #isClosed = false;

  constructor(
    { generation }: SubscriptionOptions,
    sink: SubscriptionSink,
    host: SubscriptionHost,
    onClosed: (subscription: MemorySubscription) => void,
  ) {
    this.#generation = generation;
    this.#sink = sink;
    this.#host = host;
    this.#onClosed = onClosed;
    this.#openTimer = host.clock.setTimer(() => this.fail('not answered in time'), HANDSHAKE_TIMEOUT_MS); // S2
  }

  /** Told once, before anything happens. */
  dialed(pipe: Pipe): void {
    this.#pipe = pipe;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#host.later(() => this.#read());
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#clearTimer();
    this.#unread = [];
    this.#pipe?.close(0);
    this.#onClosed(this);
  }

  /** Ends it whatever it has not read, and tells its owner. */
  fail(reason: string): void {
    if (this.#isClosed) return;
    void this.close();
    this.#sink.onClosed(reason);
  }

  onPipeOpen(): void {
    this.#clearTimer();
    this.#pipe?.send([subscribedMessage(this.#generation)]);
    this.#sink.onOpen();
  }

  onPipeMessage(parts: readonly Uint8Array[], first: number): void {
    this.#unread.push(first === 0 ? parts : parts.slice(first));
    this.#read();
  }

  onPipeClosed(reason: string): void {
    this.#endReason = reason;
    this.#read();
  }

  #read(): void {
    while (!this.#isPaused && !this.#isClosed) {
      const parts = this.#unread.shift();
      if (parts === undefined) return this.#endOnceRead();
      this.#pipe?.send([readMessage()]);
      this.#sink.onMessage(parts);
    }
  }

  #endOnceRead(): void {
    if (this.#endReason !== undefined) this.fail(this.#endReason); // S3
  }

  #clearTimer(): void {
    if (this.#openTimer !== undefined) this.#host.clock.clearTimer(this.#openTimer);
    this.#openTimer = undefined;
  }
}

/**
 * The engine ports over zeromq.js: pipes, publishers and subscriptions on libzmq sockets.
 *
 * Owns the context and everything that is open on it. Leaves the link protocol to kernel's `internal/link`, and what events
 * mean to the fanout topic.
 *
 * 1. Engines share nothing, so that several hosts can live in one process (CORE-013).
 * 2. `close` resolves when nothing of the engine is left: no socket, no port, no pending call. Then the process can exit
 *    by itself ([C25]).
 * 3. An engine is in `globalThis.__zlinkOpenTransports` while it is open, so that a leak is found.
 */
import type { Context } from 'zeromq';
import { ZLinkError } from '@zlink/kernel/errors';
import {
  type EventPublisher,
  type EventTransport,
  noteClosed,
  noteOpen,
  type Pipe,
  type PipeConnectOptions,
  type PipeEngine,
  type PipeListener,
  type PipeListenOptions,
  type PipeSecurity,
  type PipeSink,
  type PublisherOptions,
  type Subscription,
  type SubscriptionOptions,
  type SubscriptionSink,
} from '@zlink/kernel/internal/transport';
import { resolveDial } from './addresses.ts';
import { ClientKeys } from './client-keys.ts';
import { returnContext, takeContext } from './contexts.ts';
import { createCurveProof, curveClientOptions } from './curve.ts';
import { type DealerHost, DealerPipe } from './dealer-pipe.ts';
import { type ResolvedEngineOptions, resolveEngineOptions, type ZmqEngineOptions } from './engine-options.ts';
import { ListenerOpener } from './listener-opener.ts';
import { nativeCode } from './native-errors.ts';
import type { PublisherEndpoint } from './publisher-endpoint.ts';
import type { RouterListener } from './router-listener.ts';
import { openDealer, openSubscriber, requireNativeFeatures } from './socket-options.ts';
import { SubscriberEndpoint, type SubscriberHost } from './subscriber-endpoint.ts';

const engineClosed = 'engine is closed';

/** Pipes for links and the transport of fanout, on one context. */
export interface ZmqEngine extends PipeEngine, EventTransport {}

/** @throws ConfigurationError on options that cannot be */
export function createZmqEngine(options: ZmqEngineOptions = {}): ZmqEngine {
  requireNativeFeatures();
  return new LibzmqEngine(resolveEngineOptions(options));
}

class LibzmqEngine implements ZmqEngine {
  readonly name = 'zmq engine';
  readonly security: PipeSecurity | undefined;
  readonly #context: Context;
  readonly #dialHost: DealerHost & SubscriberHost;
  readonly #opener: ListenerOpener;
  readonly #listeners = new Set<RouterListener>();
  readonly #publishers = new Set<PublisherEndpoint>();
  readonly #dialed = new Set<DealerPipe | SubscriberEndpoint>();
  /** What still has a socket, closed or not. */
  readonly #present = new Set<Promise<void>>();
  #closed: Promise<void> | undefined;

  constructor(options: ResolvedEngineOptions) {
    const { clock, security, warn } = options;
    const context = takeContext(options.ioThreads);
    const keys = security && curveClientOptions(security);
    const dialProblem = security !== undefined && keys === undefined ? 'no server key is pinned' : undefined;
    this.#context = context;
    const clientKeys = security && new ClientKeys(security.allowedClientKeys);
    this.security = security && clientKeys && createCurveProof(security, clientKeys);
    this.#opener = new ListenerOpener(context, options, clientKeys);
    this.#dialHost = {
      clock,
      dialProblem,
      resolve: resolveDial,
      openSocket: (maxPartBytes, connectTimeoutMs) => openDealer(context, maxPartBytes, connectTimeoutMs, keys),
      openSubscriber: (topics, connectTimeoutMs) => openSubscriber(context, topics, connectTimeoutMs, keys),
      nowMs: () => clock.nowMs(),
      onSocket: (gone) => this.#stayFor(gone),
      onClosed: (pipe) => this.#dialed.delete(pipe),
      onSubscriptionClosed: (subscription) => this.#dialed.delete(subscription),
      onFault: (address, error) => warn({ event: 'internal fault', address, code: nativeCode(error), error }),
    };
    noteOpen(this); // 3
  }

  async listen(options: PipeListenOptions, accept: (pipe: Pipe) => PipeSink): Promise<PipeListener> {
    this.#requireOpen();
    const opening = this.#opener.open(options, accept, (closed) => this.#listeners.delete(closed));
    this.#stayFor(opening.then(ignore, ignore));
    const listener = await opening;
    this.#listeners.add(listener);
    this.#stayFor(listener.gone);
    if (this.#closed !== undefined) {
      await listener.abandon(engineClosed);
      this.#requireOpen();
    }
    return listener;
  }

  connect(options: PipeConnectOptions, sink: PipeSink): Pipe {
    this.#requireOpen();
    const pipe = new DealerPipe(options, sink, this.#dialHost);
    this.#dialed.add(pipe);
    return pipe;
  }

  async bind(options: PublisherOptions): Promise<EventPublisher> {
    this.#requireOpen();
    const opening = this.#opener.openPublisher(options, (closed) => this.#publishers.delete(closed));
    this.#stayFor(opening.then(ignore, ignore));
    const publisher = await opening;
    this.#publishers.add(publisher);
    this.#stayFor(publisher.gone);
    if (this.#closed !== undefined) {
      await publisher.close(0);
      this.#requireOpen();
    }
    return publisher;
  }

  subscribe(options: SubscriptionOptions, sink: SubscriptionSink): Subscription {
    this.#requireOpen();
    const subscription = new SubscriberEndpoint(options, sink, this.#dialHost);
    this.#dialed.add(subscription);
    return subscription;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const dialed of [...this.#dialed]) dialed.fail(engineClosed);
    for (const publisher of [...this.#publishers]) void publisher.close(0);
    for (const listener of [...this.#listeners]) void listener.abandon(engineClosed);
    while (this.#present.size > 0) await Promise.all(this.#present); // 2: a listener may still have been opening
    await this.#opener.close();
    returnContext(this.#context);
    noteClosed(this);
  }

  #stayFor(gone: Promise<void>): void {
    this.#present.add(gone);
    void gone.then(() => this.#present.delete(gone));
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) throw new ZLinkError('ShuttingDown', engineClosed);
  }
}

function ignore(): void {
  // How opening went is told to who asked for it.
}

/**
 * The engine port over a `MemoryNetwork`: links without sockets or native code.
 *
 * Owns listeners and what an engine has open. Leaves delivery and faults to the network.
 *
 * 1. Like a ROUTER, a listener's socket puts a routing part before each message; `first` skips it.
 * 2. An engine is in `globalThis.__zlinkOpenTransports` while it is open, so that a leak is found.
 * 3. `close` resolves when nothing of the engine is under way any more.
 */
import {
  noteClosed,
  noteOpen,
  type Pipe,
  type PipeConnectOptions,
  type PipeEngine,
  type PipeListener,
  type PipeListenOptions,
  type PipeSecurity,
  type PipeSink,
} from '@zlink/kernel/internal/transport';
import type { ConnectionSide, MemoryHost } from './memory-connection.ts';
import type { MemoryAcceptor, MemoryNetwork } from './memory-network.ts';
import { OpenEnds } from './open-ends.ts';

const ENGINE_CLOSED = 'engine closed';

export interface MemoryEngineOptions {
  /** Names the engine in a leak report. */
  readonly name?: string;
  /** Proof of identity; none by default. See `createFakeSecurity`. */
  readonly security?: PipeSecurity;
  /** The machine that the engine is on, for faults between hosts; none by default. */
  readonly host?: MemoryHost;
}

/** Engines on the same network reach each other. */
export function createMemoryEngine(network: MemoryNetwork, options: MemoryEngineOptions = {}): PipeEngine {
  return new MemoryEngine(network, options);
}

class MemoryEngine implements PipeEngine {
  readonly name: string;
  readonly security: PipeSecurity | undefined;
  readonly #network: MemoryNetwork;
  readonly #host: MemoryHost | undefined;
  readonly #listeners = new Set<MemoryListener>();
  readonly #ends = new OpenEnds();
  #closing: Promise<void> | undefined;

  constructor(network: MemoryNetwork, options: MemoryEngineOptions) {
    this.#network = network;
    this.name = options.name ?? 'memory engine';
    this.security = options.security;
    this.#host = options.host;
    noteOpen(this);
  }

  async listen(options: PipeListenOptions, accept: (pipe: Pipe) => PipeSink): Promise<PipeListener> {
    if (this.#closing !== undefined) throw new Error(ENGINE_CLOSED);
    const listener = new MemoryListener(this.#network, this.#host, options, accept, () =>
      this.#listeners.delete(listener),
    );
    this.#listeners.add(listener);
    return listener;
  }

  connect(options: PipeConnectOptions, sink: PipeSink): Pipe {
    if (this.#closing !== undefined) throw new Error(ENGINE_CLOSED);
    const pipe = this.#network.connect(options.address, sideOf(this.#ends, options.maxPartBytes, this.#host), sink);
    this.#ends.add(pipe);
    return pipe;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#ends.abandonAll(ENGINE_CLOSED);
    await Promise.all([this.#ends.empty(), ...[...this.#listeners].map((listener) => listener.abandon())]);
    await new Promise<void>((resolve) => this.#network.later(resolve)); // the sinks are told before this resolves
    noteClosed(this);
  }
}

class MemoryListener implements PipeListener {
  readonly address: string;
  readonly #network: MemoryNetwork;
  readonly #ends = new OpenEnds();
  readonly #acceptor: MemoryAcceptor;
  readonly #onClosed: () => void;
  #bound = true;

  constructor(
    network: MemoryNetwork,
    host: MemoryHost | undefined,
    options: PipeListenOptions,
    accept: (pipe: Pipe) => PipeSink,
    onClosed: () => void,
  ) {
    this.#network = network;
    this.#onClosed = onClosed;
    this.#acceptor = {
      host,
      accept: (connection) =>
        connection.accept(this.address, sideOf(this.#ends, options.maxPartBytes, host), (pipe) => {
          this.#ends.add(pipe); // first: `accept` may close the pipe at once
          return accept(pipe);
        }),
    };
    this.address = network.bind(options.address, this.#acceptor);
  }

  async unbind(): Promise<void> {
    if (this.#bound) this.#network.unbind(this.address, this.#acceptor);
    this.#bound = false;
  }

  async close(): Promise<void> {
    await this.unbind();
    await this.#ends.empty();
    this.#onClosed();
  }

  /** The engine is closed under this listener. */
  async abandon(): Promise<void> {
    this.#ends.abandonAll(ENGINE_CLOSED);
    await this.close();
  }
}

function sideOf(ends: OpenEnds, maxPartBytes: number, host: MemoryHost | undefined): ConnectionSide {
  return { host, maxPartBytes, onReleased: (pipe) => ends.remove(pipe) };
}

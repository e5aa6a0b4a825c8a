/**
 * Opens listeners and publishers: binds, with the admission check in place before the first peer can come.
 *
 * Owns what all listeners of an engine share: the ZAP handler with its domains and the rate of attempts. Leaves what is
 * open to itself.
 *
 * 1. No socket is bound before somebody answers for who may connect (SEC-002).
 * 2. A listener that others can reach and that is not secured is worth a warning, one per bind (SEC-001).
 * 3. A listener that cannot be opened leaves nothing, and the next attempt starts anew.
 */
import type { Context, Router, XPublisher } from 'zeromq';
import { ZLinkError } from '@zlink/kernel/errors';
import { isLoopbackHost, parseEndpoint } from '@zlink/kernel/identity';
import type { Pipe, PipeListenOptions, PipeSink, PublisherOptions } from '@zlink/kernel/internal/transport';
import { resolveBind } from './addresses.ts';
import { AdmissionGate } from './admission-gate.ts';
import { AttemptRate } from './attempt-rate.ts';
import { type CurveServerOptions, curveServerOptions } from './curve.ts';
import type { ClientKeys } from './client-keys.ts';
import type { ResolvedEngineOptions } from './engine-options.ts';
import { bindError, nativeCode } from './native-errors.ts';
import { PublisherEndpoint } from './publisher-endpoint.ts';
import { RouterListener } from './router-listener.ts';
import { openPublisher, openRouter } from './socket-options.ts';
import { ZapHandler } from './zap.ts';

/** What is bound, and who decides about its peers. */
interface Bound<S> {
  readonly socket: S;
  readonly gate: AdmissionGate;
  readonly onRefused: (reason: string) => void;
  /** Nobody will be asked for it any more. */
  readonly release: () => void;
}

export class ListenerOpener {
  readonly #context: Context;
  readonly #options: ResolvedEngineOptions;
  readonly #rate: AttemptRate;
  readonly #clientKeys: ClientKeys | undefined;
  /** By ZAP domain. */
  readonly #gates = new Map<string, AdmissionGate>();
  #domains = 0;
  #zap: Promise<ZapHandler> | undefined;

  constructor(context: Context, options: ResolvedEngineOptions, clientKeys: ClientKeys | undefined) {
    this.#context = context;
    this.#options = options;
    this.#clientKeys = clientKeys;
    this.#rate = new AttemptRate(options.attemptRate, () => options.clock.nowMs());
  }

  /** @throws ZLinkError if the address cannot be bound */
  async open(
    options: PipeListenOptions,
    accept: (pipe: Pipe) => PipeSink,
    onClosed: (listener: RouterListener) => void,
  ): Promise<RouterListener> {
    const { address, maxPartBytes } = options;
    const { socket, gate, onRefused, release } = await this.#bind(address, options.onRefused, (domain) =>
      openRouter(this.#context, maxPartBytes, domain, this.#curve),
    );
    const listener = new RouterListener(socket, { ...options, onRefused }, accept, {
      clock: this.#options.clock,
      gate,
      onFault: this.#onFault,
      onClosed: (closed) => {
        release();
        onClosed(closed);
      },
    });
    if (listener.isClosed) throw new ZLinkError('Unavailable', `${address} cannot be bound`); // 3: it cannot be watched
    return listener;
  }

  /** @throws ZLinkError if the address cannot be bound */
  async openPublisher(
    options: PublisherOptions,
    onClosed: (publisher: PublisherEndpoint) => void,
  ): Promise<PublisherEndpoint> {
    const { bindAddress } = options;
    const { socket, gate, onRefused, release } = await this.#bind(bindAddress, options.onRefused, (domain) =>
      openPublisher(this.#context, domain, this.#curve),
    );
    const publisher = new PublisherEndpoint(socket, options, {
      clock: this.#options.clock,
      gate,
      onRefused,
      onFault: this.#onFault,
      onClosed: (closed) => {
        release();
        onClosed(closed);
      },
    });
    if (publisher.isClosed) throw new ZLinkError('Unavailable', `${bindAddress} cannot be bound`); // 3: it cannot be watched
    return publisher;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    const zap = await this.#zap?.catch(() => undefined); // 3: who asked for it was told
    await zap?.close();
  }

  get #curve(): CurveServerOptions | undefined {
    const { security } = this.#options;
    return security && curveServerOptions(security);
  }

  readonly #onFault = (address: string, error: unknown): void =>
    this.#options.warn({ event: 'internal fault', address, code: nativeCode(error), error });

  /** Counting what was refused is no reason for a listener to fail. */
  #count(address: string, reason: string, onRefused: PublisherOptions['onRefused']): void {
    try {
      onRefused?.(reason);
    } catch (error) {
      this.#onFault(address, error);
    }
  }

  /** Waits until there is a handler that answers. */
  async #openZap(address: string): Promise<void> {
    this.#zap ??= ZapHandler.open(this.#context, {
      gateOf: (domain) => this.#gates.get(domain),
      nowMs: () => this.#options.clock.nowMs(),
      onFault: (error) => this.#onFault(address, error),
    });
    const opening = this.#zap;
    const outcome = await opening.catch((error: unknown) => ({ isOpen: false, error }));
    if (outcome.isOpen) return;
    if (this.#zap === opening) this.#zap = undefined; // 3
    if ('error' in outcome) throw this.#bindFailed(address, outcome.error);
    return this.#openZap(address); // it has failed since it was opened
  }

  async #bind<S extends Router | XPublisher>(
    address: string,
    onRefused: PublisherOptions['onRefused'],
    openSocket: (domain: string) => S,
  ): Promise<Bound<S>> {
    const { clock } = this.#options;
    const count = (reason: string): void => this.#count(address, reason, onRefused);
    const domain = `listener-${++this.#domains}`;
    const gate = new AdmissionGate({ rate: this.#rate, clientKeys: this.#clientKeys, clock, onRefused: count });
    const release = (): void => void this.#gates.delete(domain);
    this.#gates.set(domain, gate);
    try {
      await this.#openZap(address); // 1
      const socket = await this.#bindSocket(address, () => openSocket(domain));
      return { socket, gate, onRefused: count, release };
    } catch (error) {
      release(); // 3
      throw error;
    }
  }

  async #bindSocket<S extends Router | XPublisher>(address: string, openSocket: () => S): Promise<S> {
    const { security, warn } = this.#options;
    let socket: S | undefined;
    try {
      const target = await resolveBind(address);
      if (target === undefined) throw new ZLinkError('InvalidOperation', `${address} is no address of this machine`);
      socket = openSocket();
      await socket.bind(target);
    } catch (error) {
      socket?.close();
      throw this.#bindFailed(address, error);
    }
    const host = parseEndpoint(address)?.host ?? '';
    if (security === undefined && !isLoopbackHost(host)) {
      warn({ event: 'unsecured bind', address, text: 'anyone who reaches this address can connect and read along' }); // 2
    }
    return socket;
  }

  #bindFailed(address: string, error: unknown): ZLinkError {
    if (error instanceof ZLinkError) return error;
    this.#options.warn({ event: 'bind failed', address, code: nativeCode(error) });
    return bindError(address, error);
  }
}

/**
 * Opens listeners: binds, with the admission check in place before the first peer can come.
 *
 * Owns what all listeners of an engine share: the ZAP handler and the rate of attempts. Leaves an open listener to itself.
 *
 * 1. No socket is bound before somebody answers for who may connect (SEC-002).
 * 2. A listener that others can reach and that is not secured is worth a warning, one per bind (SEC-001).
 */
import type { Context, Router } from 'zeromq';
import { ZLinkError } from '@zlink/kernel/errors';
import { isLoopbackHost, parseEndpoint } from '@zlink/kernel/identity';
import type { Pipe, PipeListenOptions, PipeSink } from '@zlink/kernel/internal/transport';
import { resolveBind } from './addresses.ts';
import { AdmissionGate } from './admission-gate.ts';
import { AttemptRate } from './attempt-rate.ts';
import { curveServerOptions } from './curve.ts';
import type { ResolvedEngineOptions } from './engine-options.ts';
import { bindError, nativeCode } from './native-errors.ts';
import { type ListenerHost, RouterListener } from './router-listener.ts';
import { openRouter } from './socket-options.ts';
import { ZapHandler } from './zap.ts';

export class ListenerOpener {
  readonly #context: Context;
  readonly #options: ResolvedEngineOptions;
  readonly #dial: ListenerHost['dial'];
  readonly #rate: AttemptRate;
  #zap: Promise<ZapHandler> | undefined;

  constructor(context: Context, options: ResolvedEngineOptions, dial: ListenerHost['dial']) {
    this.#context = context;
    this.#options = options;
    this.#dial = dial;
    this.#rate = new AttemptRate(options.attemptRate, () => options.clock.nowMs());
  }

  /** @throws ZLinkError if the address cannot be bound */
  async open(
    options: PipeListenOptions,
    accept: (pipe: Pipe) => PipeSink,
    onClosed: (listener: RouterListener) => void,
  ): Promise<RouterListener> {
    const { clock, security } = this.#options;
    const nowMs = (): number => clock.nowMs();
    this.#zap ??= ZapHandler.open(this.#context, nowMs);
    const zap = await this.#zap; // 1
    const gate = new AdmissionGate({ rate: this.#rate, security, clock, onRefused: options.onRefused });
    const domain = zap.addGate(gate);
    const keys = security && curveServerOptions(security);
    const socket = openRouter(this.#context, options.maxPartBytes, domain, keys);
    try {
      await this.#bind(socket, options.address);
    } catch (error) {
      zap.removeGate(domain);
      throw error;
    }
    const release = (closed: RouterListener): void => {
      zap.removeGate(domain);
      onClosed(closed);
    };
    return new RouterListener(socket, options, accept, {
      clock,
      gate,
      dial: this.#dial,
      onClosed: release,
    });
  }

  async close(): Promise<void> {
    await (await this.#zap)?.close();
  }

  async #bind(socket: Router, address: string): Promise<void> {
    const { security, warn } = this.#options;
    try {
      const target = await resolveBind(address);
      if (target === undefined) throw new ZLinkError('InvalidOperation', `${address} is no address of this machine`);
      await socket.bind(target);
    } catch (error) {
      socket.close();
      if (error instanceof ZLinkError) throw error;
      warn({ event: 'bind failed', address, code: nativeCode(error) });
      throw bindError(address, error);
    }
    const host = parseEndpoint(address)?.host ?? '';
    if (security === undefined && !isLoopbackHost(host)) {
      warn({ event: 'unsecured bind', address, text: 'anyone who reaches this address can connect and read along' }); // 2
    }
  }
}

/**
 * A pipe dialled through a listener's ROUTER, so that both directions of a mesh share one socket.
 *
 * Owns one attempt. Leaves the socket, routing ids and events to the listener.
 *
 * D1 The sink hears exactly one `onPipeClosed`, unless the owner has closed the pipe: then nothing more (E1).
 * D2 Every connection has a fresh routing id and is hung up when it ends: libzmq keeps no frame for a later one (CORE-014).
 * D3 A host name with several addresses is tried address by address; a failed handshake is an answer and ends that.
 */
import { ZLinkError } from '@zlink/kernel/errors';
import type { Pipe, PipeConnectOptions, PipeSink } from '@zlink/kernel/internal/transport';
import { resolveDial } from './addresses.ts';
import { handshakeText, NOT_A_PEER, NOT_CONNECTED, sendFailureText } from './native-errors.ts';
import type { DialingSocket } from './routed-socket.ts';
import type { SocketEvent } from './socket-monitor.ts';

type DialState =
  | { readonly kind: 'resolving' }
  | {
      readonly kind: 'connecting';
      readonly target: string;
      readonly routingId: Uint8Array;
      readonly others: readonly string[];
    }
  | { readonly kind: 'open'; readonly target: string; readonly routingId: Uint8Array }
  | { readonly kind: 'closed' };

export class RoutedDial implements Pipe {
  readonly address: string;
  readonly #sink: PipeSink;
  readonly #socket: DialingSocket<RoutedDial>;
  #state: DialState = { kind: 'resolving' };

  constructor(options: PipeConnectOptions, sink: PipeSink, socket: DialingSocket<RoutedDial>) {
    this.address = options.address;
    this.#sink = sink;
    this.#socket = socket;
    void resolveDial(options.address).then((targets) => {
      if (this.#state.kind === 'closed') return;
      if (targets.ok) this.#dial(targets.addresses);
      else this.fail(targets.reason);
    });
  }

  send(parts: Uint8Array[]): void {
    const state = this.#state;
    if (state.kind === 'closed') return; // D1: the owner knows or is about to be told
    if (state.kind !== 'open') throw new ZLinkError('InvalidOperation', `pipe to ${this.address} is not open yet`);
    this.#socket.send(state.routingId, parts, this.#onSendFailed);
  }

  close(lingerMs: number): void {
    const state = this.#state;
    if (state.kind === 'closed') return;
    this.#state = { kind: 'closed' };
    if (state.kind !== 'resolving') this.#socket.hangUp(state.target, lingerMs); // D2
  }

  /** Ends the pipe and tells its sink. */
  fail(reason: string): void {
    if (this.#state.kind === 'closed') return;
    this.close(0);
    this.#sink.onPipeClosed(reason);
  }

  hear(parts: readonly Uint8Array[], first: number): void {
    this.#open(); // the message may be noticed before the event
    if (this.#state.kind === 'open') this.#sink.onPipeMessage(parts, first);
  }

  /** An event at the address of this dial. */
  onEvent(event: SocketEvent): void {
    switch (event.kind) {
      case 'ready':
        return this.#open();
      case 'refused':
        return this.fail(handshakeText(event.fault));
      case 'released':
        return this.#tryNext();
      case 'lost':
        if (this.#state.kind === 'connecting') this.fail(NOT_A_PEER);
        return; // an open pipe ends with the message that says so, after all that came before it
    }
  }

  readonly #onSendFailed = (error: unknown): void => this.fail(sendFailureText(error));

  #dial(targets: readonly [string, ...string[]]): void {
    const [target, ...others] = targets;
    const start = this.#socket.dial(target, this);
    if (!start.ok) return this.fail(start.reason);
    this.#state = { kind: 'connecting', target, routingId: start.routingId, others };
  }

  #open(): void {
    if (this.#state.kind !== 'connecting') return;
    const { target, routingId } = this.#state;
    this.#state = { kind: 'open', target, routingId };
    this.#sink.onPipeOpen();
  }

  #tryNext(): void {
    if (this.#state.kind !== 'connecting') return;
    const { target, others } = this.#state;
    const [next, ...rest] = others;
    if (next === undefined) return this.fail(NOT_CONNECTED);
    this.#socket.hangUp(target, 0);
    this.#state = { kind: 'resolving' };
    this.#dial([next, ...rest]); // D3
  }
}

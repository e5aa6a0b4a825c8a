/**
 * A dialled pipe: one DEALER per address tried, never used for another connection.
 *
 * Owns the sockets of one attempt. Leaves trying again to the link (CORE-009).
 *
 * D1 The sink hears exactly one `onPipeClosed`, unless the owner has closed the pipe: then nothing more (E1).
 * D2 The end of a connection is reported after the messages that came before it (E3).
 * D3 A socket ends with its connection; what was not sent dies with it (E2, CORE-014).
 * D4 An error of libzmq that is not expected, or a sink that throws, ends this pipe and nothing else (WIRE-003).
 * D5 A host name with several addresses is tried address by address; a failed handshake is an answer and ends that.
 */
import type { Dealer } from 'zeromq';
import { ZLinkError } from '@zlink/kernel/errors';
import { afterPendingReads } from '@zlink/kernel/internal/time';
import type { Pipe, PipeConnectOptions, PipeSink } from '@zlink/kernel/internal/transport';
import type { DialTargets } from './addresses.ts';
import {
  CONNECTION_LOST,
  dialFailureText,
  faultText,
  handshakeText,
  NOT_A_PEER,
  NOT_CONNECTED,
  sendFailureText,
} from './native-errors.ts';
import { ReceiveLoop } from './receive-loop.ts';
import { type SocketEvent, watchSocket } from './socket-monitor.ts';

export interface DealerHost {
  /** Why this host may not dial, if so. */
  readonly dialProblem: string | undefined;
  /** See addresses.ts. */
  resolve(address: string): Promise<DialTargets>;
  openSocket(maxPartBytes: number, connectTimeoutMs: number): Dealer;
  nowMs(): number;
  /** `gone` settles when nothing of the socket is left. */
  onSocket(gone: Promise<void>): void;
  onClosed(pipe: DealerPipe): void;
  /** For the log; must not throw. */
  onFault(address: string, error: unknown): void;
}

/** An address that does not answer at all shall leave the others of its name some of the attempt's time. */
const notLastAddressMs = 1_500;

type DealerState =
  | { readonly kind: 'resolving' }
  | { readonly kind: 'connecting'; readonly socket: Dealer; readonly otherAddresses: readonly string[] }
  | { readonly kind: 'open'; readonly socket: Dealer }
  | { readonly kind: 'closed' };

export class DealerPipe implements Pipe {
  readonly address: string;
  readonly #maxPartBytes: number;
  readonly #sink: PipeSink;
  readonly #host: DealerHost;
  #state: DealerState = { kind: 'resolving' };

  constructor(options: PipeConnectOptions, sink: PipeSink, host: DealerHost) {
    this.address = options.address;
    this.#maxPartBytes = options.maxPartBytes;
    this.#sink = sink;
    this.#host = host;
    void host.resolve(options.address).then((targets) => {
      if (this.#state.kind === 'closed') return;
      if (!targets.ok) this.fail(targets.reason);
      else if (host.dialProblem !== undefined) this.fail(host.dialProblem);
      else this.#dial(targets.addresses);
    });
  }

  send(parts: Uint8Array[]): void {
    const state = this.#state;
    if (state.kind === 'closed') return; // D1: the owner knows or is about to be told
    if (state.kind !== 'open') throw new ZLinkError('InvalidOperation', `pipe to ${this.address} is not open yet`);
    state.socket.send(parts).catch(this.#onSendFailed);
  }

  close(lingerMs: number): void {
    const state = this.#state;
    if (state.kind === 'closed') return;
    if (state.kind !== 'resolving') release(state.socket, lingerMs);
    this.#state = { kind: 'closed' };
    this.#host.onClosed(this);
  }

  /** Ends the pipe and tells its sink. */
  fail(reason: string): void {
    if (this.#state.kind === 'closed') return;
    this.close(0);
    try {
      this.#sink.onPipeClosed(reason);
    } catch (error) {
      this.#host.onFault(this.address, error); // D4
    }
  }

  readonly #onSendFailed = (error: unknown): void => this.fail(sendFailureText(error));

  #dial(addresses: readonly [string, ...string[]]): void {
    const [address, ...otherAddresses] = addresses;
    try {
      const socket = this.#host.openSocket(this.#maxPartBytes, otherAddresses.length > 0 ? notLastAddressMs : 0);
      this.#state = { kind: 'connecting', socket, otherAddresses };
      const onFault = (error: unknown): void => this.#onFault(socket, error);
      const reader = { deliver: (parts: Buffer[]): void => this.#onMessage(socket, parts), onFault };
      const loop = new ReceiveLoop(socket, reader, () => this.#host.nowMs());
      const onEvent = (event: SocketEvent): void => this.#onEvent(socket, loop, event);
      this.#host.onSocket(watchSocket(socket, { onEvent, onFault }));
      socket.connect(address);
    } catch (error) {
      this.fail(dialFailureText(error));
    }
  }

  #onMessage(socket: Dealer, parts: readonly Uint8Array[]): void {
    if (!this.#isCurrent(socket)) return;
    this.#open(socket); // a message may be noticed before the event of its connection
    this.#sink.onPipeMessage(parts, 0);
  }

  #onEvent(socket: Dealer, loop: ReceiveLoop, event: SocketEvent): void {
    if (!this.#isCurrent(socket)) return;
    switch (event.kind) {
      case 'ready':
        return this.#open(socket);
      case 'refused':
        return this.fail(handshakeText(event.fault));
      case 'released':
        return this.#tryNext();
      case 'lost':
        if (this.#state.kind === 'open') this.#failOnceRead(socket, loop);
        else this.fail(NOT_A_PEER);
    }
  }

  #open(socket: Dealer): void {
    if (this.#state.kind !== 'connecting') return;
    this.#state = { kind: 'open', socket };
    this.#sink.onPipeOpen();
  }

  #tryNext(): void {
    if (this.#state.kind !== 'connecting') return;
    const { socket, otherAddresses } = this.#state;
    const [next, ...rest] = otherAddresses;
    if (next === undefined) return this.fail(NOT_CONNECTED);
    release(socket, 0);
    this.#state = { kind: 'resolving' };
    this.#dial([next, ...rest]); // D5
  }

  /** D2: libzmq signals received messages before the end, so a turn without a message has seen the last of them. */
  #failOnceRead(socket: Dealer, loop: ReceiveLoop): void {
    const { deliveredCount } = loop;
    afterPendingReads(() => {
      if (!this.#isCurrent(socket)) return;
      if (loop.isEmpty && loop.deliveredCount === deliveredCount) this.fail(CONNECTION_LOST);
      else this.#failOnceRead(socket, loop);
    });
  }

  #onFault(socket: Dealer, error: unknown): void {
    this.#host.onFault(this.address, error);
    if (this.#isCurrent(socket)) this.fail(faultText(error)); // D4
  }

  #isCurrent(socket: Dealer): boolean {
    const state = this.#state;
    return (state.kind === 'connecting' || state.kind === 'open') && state.socket === socket;
  }
}

function release(socket: Dealer, lingerMs: number): void {
  socket.linger = lingerMs;
  socket.close();
}

/**
 * One attempt to reach an address: a socket per resolved address tried, never used for another connection.
 *
 * Owns the sockets of the attempt. Leaves trying again to whoever dials (CORE-009), and sending to dealer-pipe.ts.
 *
 * D1 The user hears exactly one `onClosed`, unless it has closed the attempt: then nothing more.
 * D2 The end of a connection is reported after the messages that came before it; while reading is paused, not at all.
 * D3 A socket ends with its connection; what was not sent dies with it (CORE-014).
 * D4 An error of libzmq that is not expected, or a user that throws, ends this attempt and nothing else (WIRE-003).
 * D5 A host name with several addresses is tried address by address; a failed handshake is an answer and ends that.
 */
import type { Dealer, Subscriber } from 'zeromq';
import { afterPendingReads } from '@zlink/kernel/internal/time';
import type { DialTargets } from './addresses.ts';
import {
  CONNECTION_LOST,
  dialFailureText,
  faultText,
  handshakeText,
  NOT_A_PEER,
  NOT_CONNECTED,
} from './native-errors.ts';
import { ReceiveLoop } from './receive-loop.ts';
import { type SocketEvent, watchSocket } from './socket-monitor.ts';

/** What every dial of an engine has in common. */
export interface DialHost {
  /** Why this host may not dial, if so. */
  readonly dialProblem: string | undefined;
  /** See addresses.ts. */
  resolve(address: string): Promise<DialTargets>;
  nowMs(): number;
  /** `gone` settles when nothing of the socket is left. */
  onSocket(gone: Promise<void>): void;
  /** For the log; must not throw. */
  onFault(address: string, error: unknown): void;
}

export interface DialUser<S> {
  /** Not yet connected. @param connectTimeoutMs - 0: as long as the operating system tries */
  openSocket(connectTimeoutMs: number): S;
  onOpen(): void;
  onMessage(parts: readonly Uint8Array[]): void;
  /** It has ended by itself. */
  onClosed(reason: string): void;
  /** It has ended, however. Told before `onClosed`. */
  onReleased(): void;
}

/** An address that does not answer at all shall leave the others of its name some of the attempt's time. */
const notLastAddressMs = 1_500;

type DialState<S> =
  | { readonly kind: 'resolving' }
  | {
      readonly kind: 'connecting';
      readonly socket: S;
      readonly loop: ReceiveLoop;
      readonly otherAddresses: readonly string[];
    }
  | { readonly kind: 'open'; readonly socket: S; readonly loop: ReceiveLoop }
  /** The connection has ended; what it has brought is still being read. */
  | { readonly kind: 'lost'; readonly socket: S; readonly loop: ReceiveLoop }
  | { readonly kind: 'closed' };

export class DialedSocket<S extends Dealer | Subscriber> {
  readonly address: string;
  readonly #user: DialUser<S>;
  readonly #host: DialHost;
  readonly #gone: Promise<void>[] = [];
  #state: DialState<S> = { kind: 'resolving' };
  #isPaused = false;
  #isAwaitingEnd = false;

  constructor(address: string, user: DialUser<S>, host: DialHost) {
    this.address = address;
    this.#user = user;
    this.#host = host;
    void host.resolve(address).then((targets) => {
      if (this.#state.kind === 'closed') return;
      if (!targets.ok) this.fail(targets.reason);
      else if (host.dialProblem !== undefined) this.fail(host.dialProblem);
      else this.#dial(targets.addresses);
    });
  }

  /** Undefined: there is no connection that could be written to. */
  get openSocket(): S | undefined {
    return this.#state.kind === 'open' ? this.#state.socket : undefined;
  }

  get isDialing(): boolean {
    return this.#state.kind === 'resolving' || this.#state.kind === 'connecting';
  }

  /** Resolves when nothing of the sockets used so far is left. */
  async gone(): Promise<void> {
    await Promise.all(this.#gone);
  }

  pause(): void {
    this.#isPaused = true;
    const state = this.#state;
    if (state.kind !== 'resolving' && state.kind !== 'closed') state.loop.pause();
  }

  resume(): void {
    this.#isPaused = false;
    const state = this.#state;
    if (state.kind === 'resolving' || state.kind === 'closed') return;
    state.loop.resume();
    if (state.kind === 'lost') this.#endOnceRead(state.socket, state.loop);
  }

  close(lingerMs: number): void {
    const state = this.#state;
    if (state.kind === 'closed') return;
    if (state.kind !== 'resolving') release(state.socket, lingerMs);
    this.#state = { kind: 'closed' };
    this.#user.onReleased();
  }

  /** Ends the attempt and tells its user. */
  fail(reason: string): void {
    if (this.#state.kind === 'closed') return;
    this.close(0);
    try {
      this.#user.onClosed(reason);
    } catch (error) {
      this.#host.onFault(this.address, error); // D4
    }
  }

  #dial(addresses: readonly [string, ...string[]]): void {
    const [address, ...otherAddresses] = addresses;
    try {
      const socket = this.#user.openSocket(otherAddresses.length > 0 ? notLastAddressMs : 0);
      const onFault = (error: unknown): void => this.#onFault(socket, error);
      const reader = { deliver: (parts: Buffer[]): void => this.#onMessage(socket, parts), onFault };
      const loop = new ReceiveLoop(socket, reader, () => this.#host.nowMs());
      if (this.#isPaused) loop.pause();
      this.#state = { kind: 'connecting', socket, loop, otherAddresses };
      const onEvent = (event: SocketEvent): void => this.#onEvent(socket, loop, event);
      const gone = watchSocket(socket, { onEvent, onFault });
      this.#gone.push(gone);
      this.#host.onSocket(gone);
      socket.connect(address);
    } catch (error) {
      this.fail(dialFailureText(error));
    }
  }

  #onMessage(socket: S, parts: readonly Uint8Array[]): void {
    if (!this.#isCurrent(socket)) return;
    this.#open(socket); // a message may be noticed before the event of its connection
    this.#user.onMessage(parts);
  }

  #onEvent(socket: S, loop: ReceiveLoop, event: SocketEvent): void {
    if (!this.#isCurrent(socket)) return;
    switch (event.kind) {
      case 'ready':
        return this.#open(socket);
      case 'refused':
        return this.fail(handshakeText(event.fault));
      case 'released':
        return this.#tryNext();
      case 'lost':
        if (this.#state.kind === 'connecting') return this.fail(NOT_A_PEER);
        this.#state = { kind: 'lost', socket, loop };
        this.#endOnceRead(socket, loop);
    }
  }

  #open(socket: S): void {
    if (this.#state.kind !== 'connecting') return;
    this.#state = { kind: 'open', socket, loop: this.#state.loop };
    this.#user.onOpen();
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
  #endOnceRead(socket: S, loop: ReceiveLoop): void {
    if (this.#isAwaitingEnd) return;
    this.#isAwaitingEnd = true;
    const { deliveredCount } = loop;
    afterPendingReads(() => {
      this.#isAwaitingEnd = false;
      if (!this.#isCurrent(socket) || this.#isPaused) return; // `resume` begins anew
      if (loop.isEmpty && loop.deliveredCount === deliveredCount) this.fail(CONNECTION_LOST);
      else this.#endOnceRead(socket, loop);
    });
  }

  #onFault(socket: S, error: unknown): void {
    this.#host.onFault(this.address, error);
    if (this.#isCurrent(socket)) this.fail(faultText(error)); // D4
  }

  #isCurrent(socket: S): boolean {
    const state = this.#state;
    return state.kind !== 'resolving' && state.kind !== 'closed' && state.socket === socket;
  }
}

function release(socket: Dealer | Subscriber, lingerMs: number): void {
  socket.linger = lingerMs;
  socket.close();
}

/**
 * A bound ROUTER: accepts peers and tells their messages apart.
 *
 * Owns the socket and the table of its pipes. Leaves each pipe's life to accepted-pipe.ts, who gets in to the admission
 * gate, the count of strangers to handshake-ledger.ts, and dials to dealer-pipe.ts.
 *
 * L1 libzmq names a peer by a zero byte and a 32-bit number, unique among the peers of a socket. A peer that names itself
 *    is none of ours and is not heard.
 * L2 An empty message is the end of a peer's connection, after everything else it has sent (CORE-008, E3).
 * L3 `unbind` refuses newcomers but keeps the port: libzmq would hang up on every accepted peer with it.
 * L4 The socket never dials. To hang up a dial while it asks for admission makes libzmq's `close` wait for ever, and
 *    dialling takes the signal that a waiting receive needs (R3). So every dial of a node has a socket of its own.
 * L5 An error of libzmq that is not expected ends the listener with all its pipes, not the process (WIRE-003).
 */
import type { Router } from 'zeromq';
import type { Clock } from '@zlink/kernel/internal/time';
import type { Pipe, PipeListener, PipeListenOptions, PipeSink } from '@zlink/kernel/internal/transport';
import { AcceptedPipe, type SharedRouter } from './accepted-pipe.ts';
import { plainAddress } from './addresses.ts';
import type { AdmissionGate } from './admission-gate.ts';
import { readBound, watchBound } from './bound-socket.ts';
import type { HandshakeLedger } from './handshake-ledger.ts';
import { CONNECTION_LOST, faultText } from './native-errors.ts';

interface ListenerHost {
  readonly clock: Clock;
  readonly gate: AdmissionGate;
  onClosed(listener: RouterListener): void;
  /** For the log; must not throw. */
  onFault(address: string, error: unknown): void;
}

const routingIdBytes = 5;

export class RouterListener implements PipeListener, SharedRouter {
  readonly address: string;
  /** Resolves when nothing of the socket is left. */
  readonly gone: Promise<void>;
  readonly #socket: Router;
  readonly #accept: (pipe: Pipe) => PipeSink;
  readonly #onRefused: (reason: string) => void;
  readonly #host: ListenerHost;
  readonly #ledger: HandshakeLedger;
  readonly #pipes = new Map<number, AcceptedPipe>();
  #keepSendingUntilMs = 0;

  /** Takes over a bound socket. */
  constructor(socket: Router, options: PipeListenOptions, accept: (pipe: Pipe) => PipeSink, host: ListenerHost) {
    this.address = plainAddress(socket.lastEndpoint ?? options.address);
    this.#socket = socket;
    this.#accept = accept;
    this.#host = host;
    const { clock } = host;
    const { onRefused } = options;
    this.#onRefused = onRefused;
    const onFault = (error: unknown): void => this.#end(error);
    this.#ledger = readBound(socket, { clock, onRefused, deliver: (parts) => this.#onMessage(parts), onFault });
    this.gone = watchBound(socket, this.#ledger, onFault);
  }

  async unbind(): Promise<void> {
    this.#host.gate.close(); // L3
  }

  close(): Promise<void> {
    return this.abandon('listener is closed');
  }

  get isClosed(): boolean {
    return this.#socket.closed;
  }

  /** Closes; pipes that their owners have not closed end with `reason`. Resolves when the port is free. */
  abandon(reason: string): Promise<void> {
    if (this.#socket.closed) return this.gone;
    const { clock, gate } = this.#host;
    gate.close();
    this.#ledger.close();
    for (const pipe of [...this.#pipes.values()]) pipe.fail(reason);
    this.#pipes.clear();
    this.#socket.linger = Math.max(0, Math.ceil(this.#keepSendingUntilMs - clock.nowMs()));
    this.#socket.close();
    this.#host.onClosed(this);
    return this.gone;
  }

  send(routingId: Uint8Array, parts: readonly Uint8Array[], onFailed: (error: unknown) => void): void {
    const message = new Array<Uint8Array>(parts.length + 1);
    message[0] = routingId;
    for (let at = 0; at < parts.length; at++) message[at + 1] = parts[at]!; // within bounds
    this.#socket.send(message).catch(onFailed);
  }

  keepSending(lingerMs: number): void {
    this.#keepSendingUntilMs = Math.max(this.#keepSendingUntilMs, this.#host.clock.nowMs() + lingerMs);
  }

  onFault(error: unknown): void {
    this.#host.onFault(this.address, error);
  }

  #end(error: unknown): void {
    this.onFault(error);
    void this.abandon(faultText(error)); // L5
  }

  #onMessage(parts: readonly Buffer[]): void {
    if (this.#socket.closed) return; // it was on its way here when the socket was closed, and cannot be answered
    const id = parts[0];
    if (id === undefined) return; // a ROUTER always puts one first
    const isEnd = parts.length === 2 && parts[1]?.length === 0; // L2
    if (id.length !== routingIdBytes || id[0] !== 0) {
      if (isEnd) this.#ledger.peerLeft();
      else this.#onRefused('selfNamedPeer'); // L1
    } else if (isEnd) {
      this.#onPeerLeft(id.readUInt32BE(1));
    } else {
      this.#onPeerMessage(id.readUInt32BE(1), id, parts);
    }
  }

  #onPeerMessage(peer: number, id: Buffer, parts: readonly Buffer[]): void {
    let pipe = this.#pipes.get(peer);
    if (pipe === undefined) {
      pipe = new AcceptedPipe(this.address, id, this);
      this.#pipes.set(peer, pipe);
      pipe.open(this.#accept);
    }
    if (!pipe.hear(parts)) this.#onRefused('closedPipe');
  }

  #onPeerLeft(peer: number): void {
    this.#ledger.peerLeft();
    const pipe = this.#pipes.get(peer);
    this.#pipes.delete(peer);
    pipe?.fail(CONNECTION_LOST);
  }
}

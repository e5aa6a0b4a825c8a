/**
 * A bound ROUTER: accepts peers, tells their messages apart, and dials through the same socket (RouteMesh).
 *
 * Owns the socket and the tables of its pipes. Leaves each pipe's life to accepted-pipe.ts and routed-dial.ts, who gets in
 * to the admission gate, and the count of strangers to handshake-ledger.ts.
 *
 * L1 libzmq names an accepted peer by a zero byte and a 32-bit number, a dialled one by the alias it was given. A peer
 *    that names itself is none of ours and is not heard. Aliases cannot be guessed.
 * L2 An empty message is the end of a peer's connection, after everything else it has sent (CORE-008, E3).
 * L3 `unbind` refuses newcomers but keeps the port: libzmq would hang up on every accepted peer with it.
 */
import { randomBytes } from 'node:crypto';
import type { Router } from 'zeromq';
import type { Pipe, PipeConnectOptions, PipeListener, PipeListenOptions, PipeSink } from '@zlink/kernel/internal/transport';
import { AcceptedPipe } from './accepted-pipe.ts';
import { plainAddress } from './addresses.ts';
import type { AdmissionGate } from './admission-gate.ts';
import { HandshakeLedger } from './handshake-ledger.ts';
import { CONNECTION_LOST } from './native-errors.ts';
import { receiveAll } from './receive-loop.ts';
import { RoutedDial } from './routed-dial.ts';
import type { DialingSocket } from './routed-socket.ts';
import { type SocketEvent, watchSocket } from './socket-monitor.ts';
import { connectRouter } from './socket-options.ts';

export interface RouterHost {
  /** Why this host may not dial, if so. */
  readonly dialProblem: string | undefined;
  readonly gate: AdmissionGate;
  nowMs(): number;
  onClosed(listener: RouterListener): void;
}

const acceptedIdBytes = 5;
const aliasSecretBytes = 12;

export class RouterListener implements PipeListener, DialingSocket<RoutedDial> {
  readonly address: string;
  readonly #socket: Router;
  readonly #accept: (pipe: Pipe) => PipeSink;
  readonly #onRefused: (reason: string) => void;
  readonly #host: RouterHost;
  readonly #ledger: HandshakeLedger;
  readonly #gone: Promise<void>;
  readonly #accepted = new Map<number, AcceptedPipe>();
  readonly #dials = new Map<string, RoutedDial>();
  /** Who dials which address. */
  readonly #dialedAddresses = new Map<string, { readonly alias: string; readonly dial: RoutedDial }>();
  /** Addresses whose dial is over, but not yet the event that says so. */
  readonly #departed = new Set<string>();
  readonly #aliasPrefix = randomBytes(aliasSecretBytes).toString('base64url');
  #aliases = 0;
  #lingerUntilMs = 0;

  /** Takes over a bound socket. */
  constructor(socket: Router, options: PipeListenOptions, accept: (pipe: Pipe) => PipeSink, host: RouterHost) {
    this.address = plainAddress(socket.lastEndpoint ?? options.address);
    this.#socket = socket;
    this.#accept = accept;
    this.#onRefused = options.onRefused;
    this.#host = host;
    this.#ledger = new HandshakeLedger(options.onRefused, () => socket.readable);
    this.#gone = watchSocket(socket, (event) => this.#onEvent(event));
    void receiveAll(socket, (parts) => this.#onMessage(parts), () => host.nowMs());
  }

  connect(options: PipeConnectOptions, sink: PipeSink): Pipe {
    return new RoutedDial(options, sink, this);
  }

  async unbind(): Promise<void> {
    this.#host.gate.close(); // L3
  }

  close(): Promise<void> {
    if (!this.#socket.closed) this.#close();
    return this.#gone;
  }

  #close(): void {
  }
}

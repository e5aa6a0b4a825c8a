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
 * L4 One dial per address: libzmq names the dials of a socket by their address alone, in events and when hanging up.
 */
import { randomBytes } from 'node:crypto';
import type { Router } from 'zeromq';
import type {
  Pipe,
  PipeConnectOptions,
  PipeListener,
  PipeListenOptions,
  PipeSink,
} from '@zlink/kernel/internal/transport';
import { AcceptedPipe } from './accepted-pipe.ts';
import { plainAddress } from './addresses.ts';
import type { AdmissionGate } from './admission-gate.ts';
import { HandshakeLedger } from './handshake-ledger.ts';
import { CONNECTION_LOST, dialFailureText } from './native-errors.ts';
import { receiveAll } from './receive-loop.ts';
import { RoutedDial } from './routed-dial.ts';
import type { DialingSocket, DialStart } from './routed-socket.ts';
import { type SocketEvent, watchSocket } from './socket-monitor.ts';
import { connectRouter } from './socket-options.ts';

export interface RouterHost {
  /** Why this host may not dial, if so. */
  readonly dialProblem: string | undefined;
  readonly gate: AdmissionGate;
  nowMs(): number;
  onClosed(listener: RouterListener): void;
}

interface DialEntry {
  readonly dial: RoutedDial;
  readonly address: string;
  readonly alias: string;
  /** The event of the connection's end has come, its last message not yet. */
  endSeen: boolean;
}

const acceptedIdBytes = 5;
const aliasSecretBytes = 12;

export class RouterListener implements PipeListener, DialingSocket<RoutedDial> {
  readonly address: string;
  /** Resolves when nothing of the socket is left. */
  readonly gone: Promise<void>;
  readonly #socket: Router;
  readonly #accept: (pipe: Pipe) => PipeSink;
  readonly #onRefused: (reason: string) => void;
  readonly #host: RouterHost;
  readonly #ledger: HandshakeLedger;
  readonly #accepted = new Map<number, AcceptedPipe>();
  readonly #dialsByAlias = new Map<string, DialEntry>();
  readonly #dialsByAddress = new Map<string, DialEntry>();
  /** Dialled addresses whose connection is over here while its end is still to be reported. */
  readonly #endsToCome = new Set<string>();
  readonly #aliasPrefix = randomBytes(aliasSecretBytes).toString('base64url'); // L1
  #aliases = 0;
  #keepSendingUntilMs = 0;

  /** Takes over a bound socket. */
  constructor(socket: Router, options: PipeListenOptions, accept: (pipe: Pipe) => PipeSink, host: RouterHost) {
    this.address = plainAddress(socket.lastEndpoint ?? options.address);
    this.#socket = socket;
    this.#accept = accept;
    this.#onRefused = options.onRefused;
    this.#host = host;
    this.#ledger = new HandshakeLedger(options.onRefused, () => socket.readable);
    this.gone = watchSocket(socket, (event) => this.#onEvent(event));
    void receiveAll(
      socket,
      (parts) => this.#onMessage(parts),
      () => host.nowMs(),
    );
  }

  connect(options: PipeConnectOptions, sink: PipeSink): Pipe {
    return new RoutedDial(options, sink, this);
  }

  async unbind(): Promise<void> {
    this.#host.gate.close(); // L3
  }

  close(): Promise<void> {
    return this.abandon('listener closed');
  }

  /** Closes; pipes that their owners have not closed end with `reason`. Resolves when the port is free. */
  abandon(reason: string): Promise<void> {
    if (this.#socket.closed) return this.gone;
    this.#host.gate.close();
    for (const pipe of [...this.#accepted.values()]) pipe.fail(reason);
    for (const { dial } of [...this.#dialsByAlias.values()]) dial.fail(reason);
    this.#accepted.clear();
    this.#socket.linger = Math.max(0, Math.ceil(this.#keepSendingUntilMs - this.#host.nowMs()));
    this.#socket.close();
    this.#host.onClosed(this);
    return this.gone;
  }

  send(routingId: Uint8Array, parts: readonly Uint8Array[], onFailed: (error: unknown) => void): void {
    this.#socket.send(withRoutingId(routingId, parts)).catch(onFailed);
  }

  keepSending(lingerMs: number): void {
    this.#keepSendingUntilMs = Math.max(this.#keepSendingUntilMs, this.#host.nowMs() + lingerMs);
  }

  dial(address: string, dial: RoutedDial): DialStart {
    const { dialProblem } = this.#host;
    if (dialProblem !== undefined) return { ok: false, reason: dialProblem };
    if (this.#socket.closed) return { ok: false, reason: 'listener closed' };
    if (this.#dialsByAddress.has(address)) return { ok: false, reason: `${address} is already dialled here` }; // L4
    const alias = `${this.#aliasPrefix}${++this.#aliases}`;
    try {
      connectRouter(this.#socket, address, alias);
    } catch (error) {
      return { ok: false, reason: dialFailureText(error) };
    }
    const entry: DialEntry = { dial, address, alias, endSeen: false };
    this.#dialsByAlias.set(alias, entry);
    this.#dialsByAddress.set(address, entry);
    return { ok: true, routingId: Buffer.from(alias, 'latin1') };
  }

  hangUp(address: string, lingerMs: number): void {
    const entry = this.#dialsByAddress.get(address);
    if (entry === undefined || this.#socket.closed) return;
    this.#dialsByAddress.delete(address);
    this.#dialsByAlias.delete(entry.alias);
    this.#socket.linger = lingerMs;
    try {
      this.#socket.disconnect(address);
    } catch {
      // libzmq has given the connection up already.
    }
  }

  #onMessage(parts: readonly Buffer[]): void {
    const id = parts[0];
    if (id === undefined) return; // a ROUTER always puts one first
    const ends = parts.length === 2 && parts[1]?.length === 0; // L2
    if (id.length === acceptedIdBytes && id[0] === 0) {
      if (ends) this.#onAcceptedLeft(id.readUInt32BE(1));
      else this.#onAcceptedMessage(id.readUInt32BE(1), id, parts);
    } else {
      const alias = id.toString('latin1');
      if (ends) this.#onNamedLeft(alias);
      else this.#onNamedMessage(alias, parts);
    }
  }

  #onAcceptedMessage(peer: number, id: Buffer, parts: readonly Buffer[]): void {
    let pipe = this.#accepted.get(peer);
    if (pipe === undefined) {
      pipe = new AcceptedPipe(this.address, id, this);
      this.#accepted.set(peer, pipe);
      pipe.open(this.#accept);
    }
    if (!pipe.hear(parts, 1)) this.#onRefused('closedPipe');
  }

  #onAcceptedLeft(peer: number): void {
    this.#ledger.peerLeft();
    const pipe = this.#accepted.get(peer);
    this.#accepted.delete(peer);
    pipe?.fail(CONNECTION_LOST);
  }

  #onNamedMessage(alias: string, parts: readonly Buffer[]): void {
    const entry = this.#dialsByAlias.get(alias);
    if (entry !== undefined) entry.dial.hear(parts, 1);
    else if (!alias.startsWith(this.#aliasPrefix)) this.#onRefused('selfNamedPeer'); // L1
  }

  #onNamedLeft(alias: string): void {
    const entry = this.#dialsByAlias.get(alias);
    if (entry === undefined) {
      if (!alias.startsWith(this.#aliasPrefix)) this.#ledger.peerLeft();
      return;
    }
    if (!entry.endSeen) this.#endsToCome.add(entry.address);
    entry.dial.fail(CONNECTION_LOST);
  }

  #onEvent(event: SocketEvent): void {
    const entry = this.#dialsByAddress.get(event.address);
    if (entry !== undefined) return this.#onDialEvent(entry, event);
    if (event.kind === 'refused') this.#ledger.handshakeFailed(event.fault);
    if (event.kind === 'lost' && !this.#endsToCome.delete(event.address)) this.#ledger.connectionEnded();
  }

  #onDialEvent(entry: DialEntry, event: SocketEvent): void {
    if (event.kind === 'lost') entry.endSeen = true;
    if (event.kind === 'refused') this.#endsToCome.add(event.address); // the dial gives up before its end is reported
    entry.dial.onEvent(event);
  }
}

function withRoutingId(routingId: Uint8Array, parts: readonly Uint8Array[]): Uint8Array[] {
  const message = new Array<Uint8Array>(parts.length + 1);
  message[0] = routingId;
  for (let at = 0; at < parts.length; at++) message[at + 1] = parts[at]!; // within bounds
  return message;
}

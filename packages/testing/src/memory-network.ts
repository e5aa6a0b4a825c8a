/**
 * A network inside one process: named addresses, connections between them, and their faults.
 *
 * Owns who listens where and the fault controls. Leaves the life of a connection to `MemoryConnection` and the engine
 * port to `memory-engine`.
 *
 * N1 Everything arrives in a later macrotask, never inside the call that caused it.
 * N2 A message arrives or its pipe is closed; only a black hole swallows, and a connection that lost something to it is
 *    cut when the black hole ends, since nothing may follow a gap.
 * N3 A fault on an address or between hosts holds for its connections of now and later, until `restore`.
 * N4 A host that was severed is gone for good: it reaches nobody, and its addresses are free for another one.
 */
import { ZLinkError } from '@zlink/kernel/errors';
import { formatEndpoint, isWildcardHost, parseEndpoint } from '@zlink/kernel/identity';
import { type Clock, systemClock } from '@zlink/kernel/internal/time';
import type { Pipe, PipeSink } from '@zlink/kernel/internal/transport';
import { type ConnectionHost, type ConnectionSide, MemoryConnection, type MemoryHost } from './memory-connection.ts';
import { EVERYWHERE, type FaultDirection, MemoryFaults, type WayFaults } from './memory-faults.ts';
import type { LaneFaults } from './memory-lane.ts';
import type { MemoryPipe } from './memory-pipe.ts';
import { MemoryTurns } from './memory-turns.ts';

/** The address that was dialled, `'*'` for all of them, or either end of one connection. */
export type FaultTarget = string | Pipe;

/** Who listens at an address. */
export interface MemoryAcceptor {
  readonly host: MemoryHost | undefined;
  /** Takes over a connection whose attempt has arrived. */
  accept(connection: MemoryConnection): void;
}

const FIRST_FREE_PORT = 49_152;
const LAST_PORT = 65_535;
const LOST = 'connection lost';
const REFUSED = 'connection refused';

export class MemoryNetwork {
  readonly clock: Clock;
  readonly #acceptors = new Map<string, MemoryAcceptor>();
  readonly #connections = new Set<MemoryConnection>();
  readonly #faults = new MemoryFaults();
  readonly #turns = new MemoryTurns();
  readonly #host: ConnectionHost;
  readonly #severed = new WeakSet<MemoryHost>();
  #lastFreePort = FIRST_FREE_PORT - 1;

  /** @param options - `clock` measures delays and linger; the system's by default */
  constructor(options: { readonly clock?: Clock } = {}) {
    this.clock = options.clock ?? systemClock;
    this.#host = {
      clock: this.clock,
      ask: (lane) => this.#turns.ask(lane),
      later: (task) => this.#turns.later(task),
      onAttempt: (connection) => this.#onAttempt(connection),
      onOver: (connection) => {
        this.#connections.delete(connection);
        this.#faults.end(connection);
      },
    };
  }

  /** Connections of which an end is still there. */
  get openConnections(): number {
    return this.#connections.size;
  }

  /** The dialling ends of what leads to `address`, oldest first: targets for faults of single connections. */
  pipesTo(address: string): readonly Pipe[] {
    return this.#find(address).map((connection) => connection.dialer);
  }

  /** Breaks connections at once: what is under way is lost and both ends are told. */
  cut(target: FaultTarget): void {
    for (const connection of this.#find(target)) connection.break(LOST);
  }

  /** Swallows what flows that way, the ends of connections included: a side may stay half-open. */
  blackhole(target: FaultTarget, direction: FaultDirection = 'both'): void {
    this.#change(target, direction, { blackhole: true });
  }

  /** What is sent from now on arrives `ms` later by the network's clock. */
  delay(target: FaultTarget, ms: number, direction: FaultDirection = 'both'): void {
    this.#change(target, direction, { delayMs: ms });
  }

  /** The side that is flowed to reads nothing, as a stopped process would; what was sent waits. */
  pauseReceiver(target: FaultTarget, direction: FaultDirection = 'both'): void {
    this.#change(target, direction, { paused: true });
  }

  resumeReceiver(target: FaultTarget, direction: FaultDirection = 'both'): void {
    this.#change(target, direction, { paused: false });
  }

  /** New connections to `address` are refused although someone listens there. */
  refuse(address: string): void {
    this.#faults.refuse(address);
  }

  /**
   * Changes what is wrong on the way from one host to another, whoever of them has dialled.
   *
   * @param from - the name of a host, or `'*'` for all of them, as `to`
   */
  changeWay(from: string, to: string, change: Partial<WayFaults>): void {
    this.#faults.changeWay(from, to, change);
    for (const connection of this.#connections) this.#apply(connection);
  }

  /** Breaks the connections between two hosts at once; both are told. */
  cutBetween(one: string, other: string): void {
    for (const connection of [...this.#connections]) {
      const [dialer, listener] = [connection.dialerHost?.name, connection.listenerHost?.name];
      if ((dialer === one && listener === other) || (dialer === other && listener === one)) connection.break(LOST);
    }
  }

  /** N4 */
  sever(host: MemoryHost): void {
    this.#severed.add(host);
    for (const [address, acceptor] of this.#acceptors) if (acceptor.host === host) this.#acceptors.delete(address);
    for (const connection of [...this.#connections]) {
      if (connection.dialerHost === host || connection.listenerHost === host) connection.break(LOST);
    }
  }

  /** For leak checks. */
  holdings(host: MemoryHost): { readonly listeners: number; readonly connections: number } {
    const isHis = ({ dialerHost, listenerHost }: MemoryConnection) => dialerHost === host || listenerHost === host;
    return {
      listeners: [...this.#acceptors.values()].filter((acceptor) => acceptor.host === host).length,
      connections: [...this.#connections].filter(isHis).length,
    };
  }

  /** Ends the faults of `target`, or all of them. */
  restore(target?: FaultTarget): void {
    if (target === undefined) this.#faults.endAll();
    else if (typeof target === 'string') this.#faults.end(target);
    else for (const connection of this.#find(target)) this.#faults.end(connection);
    for (const connection of [...this.#connections]) {
      this.#apply(connection);
      if (connection.hasGap) connection.break(LOST); // N2
    }
  }

  /**
   * Binds an address; port 0 takes a free one.
   * @returns the bound address
   * @throws ZLinkError when the address is malformed or taken
   */
  bind(address: string, acceptor: MemoryAcceptor): string {
    const wanted = parseEndpoint(address);
    if (wanted === undefined) throw new ZLinkError('InvalidOperation', `address ${address} is malformed`);
    if (this.#isSevered(acceptor.host)) throw new ZLinkError('InvalidOperation', `address ${address} cannot be bound`);
    const bound = formatEndpoint(wanted.host, wanted.port === 0 ? this.#freePort() : wanted.port);
    if (this.#acceptors.has(bound)) throw new ZLinkError('AlreadyExists', `address ${bound} is taken`);
    this.#acceptors.set(bound, acceptor);
    return bound;
  }

  /** Does nothing if the address has become another one's (N4). */
  unbind(address: string, acceptor: MemoryAcceptor): void {
    if (this.#acceptors.get(address) === acceptor) this.#acceptors.delete(address);
  }

  connect(address: string, side: ConnectionSide, sink: PipeSink): MemoryPipe {
    const connection = new MemoryConnection(this.#host, address, side, sink);
    connection.listenerHost = this.#acceptorAt(address)?.host;
    this.#connections.add(connection);
    this.#apply(connection);
    connection.start();
    return connection.dialer;
  }

  /** Runs a callback in a later macrotask. */
  later(task: () => void): void {
    this.#turns.later(task);
  }

  #onAttempt(connection: MemoryConnection): void {
    const acceptor = this.#acceptorAt(connection.address);
    connection.listenerHost = acceptor?.host;
    const isRefused = this.#faults.isRefused(connection) || this.#isSevered(connection.dialerHost);
    if (acceptor === undefined || isRefused) return connection.break(REFUSED);
    this.#apply(connection);
    acceptor.accept(connection);
  }

  #isSevered(host: MemoryHost | undefined): boolean {
    return host !== undefined && this.#severed.has(host);
  }

  /** A wildcard listener answers at every host name of its port. */
  #acceptorAt(address: string): MemoryAcceptor | undefined {
    const exact = this.#acceptors.get(address);
    if (exact !== undefined) return exact;
    const port = parseEndpoint(address)?.port;
    for (const [bound, acceptor] of this.#acceptors) {
      const at = parseEndpoint(bound);
      if (at !== undefined && at.port === port && isWildcardHost(at.host)) return acceptor;
    }
    return undefined;
  }

  /** Free ports go up and come round late: a closed listener's port is not someone else's a moment later. */
  #freePort(): number {
    for (let tried = FIRST_FREE_PORT; tried <= LAST_PORT; tried++) {
      this.#lastFreePort = this.#lastFreePort >= LAST_PORT ? FIRST_FREE_PORT : this.#lastFreePort + 1;
      const port = this.#lastFreePort;
      if (![...this.#acceptors.keys()].some((bound) => bound.endsWith(`:${port}`))) return port;
    }
    throw new Error('no port of the memory network is free');
  }

  #find(target: FaultTarget): MemoryConnection[] {
    const fits =
      typeof target === 'string'
        ? (connection: MemoryConnection) => target === EVERYWHERE || connection.address === target
        : (connection: MemoryConnection) => connection.has(target);
    return [...this.#connections].filter(fits);
  }

  #change(target: FaultTarget, direction: FaultDirection, change: Partial<LaneFaults>): void {
    const concerned = this.#find(target);
    if (typeof target === 'string') this.#faults.change(target, direction, change);
    else for (const connection of concerned) this.#faults.change(connection, direction, change);
    for (const connection of concerned) this.#apply(connection);
  }

  #apply(connection: MemoryConnection): void {
    connection.toListener.setFaults(this.#faults.of(connection, 'toListener'));
    connection.toDialer.setFaults(this.#faults.of(connection, 'toDialer'));
  }
}

/**
 * A TCP proxy on loopback that misbehaves on demand, for tests over real sockets.
 *
 * Owns its server, the proxied connections and their faults. Leaves the bytes of one direction to `FaultRelay`.
 *
 * P1 Without a fault it is a wire: bytes, ends and resets pass in both directions.
 * P2 A connection that lost bytes to a black hole is cut when the black hole ends: a stream has no gaps.
 * P3 After `close` no socket and no timer of the proxy is left.
 * P4 Every connection has chance of its own, by its number: the same seed and the same bytes meet the same faults, whatever
 *    other connections do.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { formatEndpoint, parseEndpoint } from '@zlink/kernel/identity';
import { type Clock, type RandomSource, systemClock } from '@zlink/kernel/internal/time';
import { checkAmount, drawn, type FaultAmount, NO_RELAY_FAULTS, type RelayFaults } from './fault-plan.ts';
import { FaultRelay, type RelayOwner } from './fault-relay.ts';
import { seededRandom } from './seeded-random.ts';

/** Which way bytes flow: to the proxied target, to the client that dialled the proxy, or either. */
export type ProxyDirection = 'toTarget' | 'toClient' | 'both';
type OneWay = Exclude<ProxyDirection, 'both'>;

export interface FaultProxyOptions {
  /** `tcp://host:port` of the real listener. */
  readonly target: string;
  /** Measures delays; the system's by default. */
  readonly clock?: Clock;
  /** For all that is drawn; default 1. */
  readonly seed?: number;
}

/** Faults hold for present connections and later ones; where a direction may be given, `both` is the default. */
export interface FaultProxy {
  /** `tcp://127.0.0.1:port`: dial this instead of the target. */
  readonly address: string;
  readonly connections: number;
  /** Connections taken since the start, refused ones not counted. */
  readonly accepted: number;
  readonly refused: number;
  /** Bytes that have come in since the start, whatever became of them. */
  readonly receivedBytes: { readonly toTarget: number; readonly toClient: number };
  /** Bytes that were let through since the start. */
  readonly passedBytes: { readonly toTarget: number; readonly toClient: number };
  readonly flippedBits: number;
  /** Resets all connections, now; with one direction only the side that it leads to, the other one gets an orderly end. */
  cut(direction?: ProxyDirection): void;
  /** Swallows bytes and ends of connections: a half-open peer. */
  blackhole(direction?: ProxyDirection): void;
  /** What is read from now on leaves `ms` later, in order; a drawn delay changes every 1,024 bytes. */
  delay(ms: FaultAmount, direction?: ProxyDirection): void;
  /** Lets at most `bytes` through at once, and the next ones `everyMs` later. */
  drip(bytes: number, everyMs: number, direction?: ProxyDirection): void;
  /** Flips one bit in so many bytes, on average. */
  flipBits(everyBytes: number, direction?: ProxyDirection): void;
  /** New connections are reset as soon as they come in: all, or a share of them from 0 to 1. */
  refuse(share?: number): void;
  /** Ends each connection in an orderly way after `bytes` more bytes; `both` counts both ways together. */
  truncateAfter(bytes: FaultAmount, direction?: ProxyDirection): void;
  /** Resets both sides of each connection after `bytes` more bytes; the last ones may be lost with it. */
  resetAfter(bytes: FaultAmount, direction?: ProxyDirection): void;
  /** Connections that are taken from now on lead to another listener; present ones stay. */
  leadTo(target: string): void;
  /** Ends all faults; see P2. */
  restore(): void;
  close(): Promise<void>;
}

export async function createFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new TcpFaultProxy(listenerAt(options.target), options.clock ?? systemClock, options.seed ?? 1);
  await proxy.listen();
  return proxy;
}

interface Listener {
  readonly host: string;
  readonly port: number;
}

function listenerAt(target: string): Listener {
  const endpoint = parseEndpoint(target);
  if (endpoint === undefined || endpoint.port === 0) throw new Error(`target ${target} is no endpoint`);
  return { host: endpoint.host, port: endpoint.port };
}

/** How a connection ends when its bytes are spent. */
type SpentEnd = 'end' | 'reset';

/** Bytes that each connection may still pass in a direction. */
interface ByteLimit {
  readonly direction: ProxyDirection;
  readonly bytes: FaultAmount;
  readonly end: SpentEnd;
}

/** What holds for all connections of a proxy. */
interface ProxyFaults {
  readonly toTarget: RelayFaults;
  readonly toClient: RelayFaults;
  readonly refusedShare: number;
  readonly limit: ByteLimit | undefined;
}

const NO_FAULTS: ProxyFaults = {
  toTarget: NO_RELAY_FAULTS,
  toClient: NO_RELAY_FAULTS,
  refusedShare: 0,
  limit: undefined,
};

const SEEDS = 0x1_0000_0000;

class TcpFaultProxy implements FaultProxy {
  readonly receivedBytes = { toTarget: 0, toClient: 0 };
  readonly passedBytes = { toTarget: 0, toClient: 0 };
  flippedBits = 0;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  /** One number for each newcomer: what it draws is made of it (P4). */
  readonly #random: RandomSource;
  #target: Listener;
  #faults = NO_FAULTS;
  #address = '';
  #accepted = 0;
  #refused = 0;

  constructor(target: Listener, clock: Clock, seed: number) {
    this.#target = target;
    this.#clock = clock;
    this.#random = seededRandom(seed);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
  }

  get address(): string {
    return this.#address;
  }

  get connections(): number {
    return this.#connections.size;
  }

  get accepted(): number {
    return this.#accepted;
  }

  get refused(): number {
    return this.#refused;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    const bound = this.#server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the proxy has no TCP address');
    this.#address = formatEndpoint(bound.address, bound.port);
  }

  cut(direction: ProxyDirection = 'both'): void {
    for (const connection of [...this.#connections]) connection.cut(direction);
  }

  blackhole(direction: ProxyDirection = 'both'): void {
    this.#change(direction, { blackhole: true });
  }

  delay(ms: FaultAmount, direction: ProxyDirection = 'both'): void {
    checkAmount('delay', ms);
    this.#change(direction, { delayMs: ms });
  }

  drip(bytes: number, everyMs: number, direction: ProxyDirection = 'both'): void {
    checkAmount('drip', [1, bytes]);
    checkAmount('drip', [1, everyMs]);
    this.#change(direction, { drip: { bytes, everyMs } });
  }

  flipBits(everyBytes: number, direction: ProxyDirection = 'both'): void {
    checkAmount('flipBits', [1, everyBytes]);
    this.#change(direction, { flipEveryBytes: everyBytes });
  }

  refuse(share = 1): void {
    if (!(share >= 0 && share <= 1))
      throw new RangeError(`refuse: ${share} is not allowed, allowed: a share from 0 to 1`);
    this.#become({ ...this.#faults, refusedShare: share });
  }

  truncateAfter(bytes: FaultAmount, direction: ProxyDirection = 'both'): void {
    checkAmount('truncateAfter', bytes);
    this.#limit({ direction, bytes, end: 'end' });
  }

  resetAfter(bytes: FaultAmount, direction: ProxyDirection = 'both'): void {
    checkAmount('resetAfter', bytes);
    this.#limit({ direction, bytes, end: 'reset' });
  }

  leadTo(target: string): void {
    this.#target = listenerAt(target);
  }

  restore(): void {
    this.#become(NO_FAULTS);
    for (const connection of [...this.#connections]) {
      connection.limit(undefined);
      if (connection.hasGap) connection.cut(); // P2
    }
  }

  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #change(direction: ProxyDirection, change: Partial<RelayFaults>): void {
    const { toTarget, toClient } = this.#faults;
    this.#become({
      ...this.#faults,
      toTarget: direction === 'toClient' ? toTarget : { ...toTarget, ...change },
      toClient: direction === 'toTarget' ? toClient : { ...toClient, ...change },
    });
  }

  #limit(limit: ByteLimit): void {
    this.#become({ ...this.#faults, limit });
    for (const connection of this.#connections) connection.limit(limit);
  }

  #become(faults: ProxyFaults): void {
    this.#faults = faults;
    for (const connection of this.#connections) connection.setFaults(faults.toTarget, faults.toClient);
  }

  #accept(client: Socket): void {
    client.on('error', ignoreError); // the close that follows says all there is to say
    const number = this.#random();
    if (number < this.#faults.refusedShare) {
      this.#refused++;
      reset(client);
      return;
    }
    this.#accepted++;
    const target = connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    const connection = new ProxiedConnection(client, target, {
      clock: this.#clock,
      seed: Math.floor(number * SEEDS),
      onReceived: (direction, byteCount) => (this.receivedBytes[direction] += byteCount),
      onPassed: (direction, byteCount) => (this.passedBytes[direction] += byteCount),
      onFlipped: () => this.flippedBits++,
      onOver: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    connection.setFaults(this.#faults.toTarget, this.#faults.toClient);
    connection.limit(this.#faults.limit);
  }
}

/** What a connection has of its proxy. */
interface ConnectionHost {
  readonly clock: Clock;
  readonly seed: number;
  onReceived(direction: OneWay, byteCount: number): void;
  onPassed(direction: OneWay, byteCount: number): void;
  onFlipped(): void;
  onOver(): void;
}

/** Two sockets that live and die together, unless a black hole hides the death of one. */
class ProxiedConnection {
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #host: ConnectionHost;
  readonly #random: RandomSource;
  readonly #toTarget: FaultRelay;
  readonly #toClient: FaultRelay;
  #limit: { readonly direction: ProxyDirection; readonly end: SpentEnd; bytesLeft: number } | undefined;
  #hidesTarget = false;
  #hidesClient = false;

  constructor(client: Socket, target: Socket, host: ConnectionHost) {
    this.#client = client;
    this.#target = target;
    this.#host = host;
    this.#random = seededRandom(host.seed);
    target.on('error', ignoreError);
    this.#toTarget = this.#relay(client, target, 'toTarget');
    this.#toClient = this.#relay(target, client, 'toClient');
    client.on('close', (broken: boolean) => this.#onClose(target, broken, this.#hidesClient));
    target.on('close', (broken: boolean) => this.#onClose(client, broken, this.#hidesTarget));
  }

  /** Bytes are missing, or one side has gone unnoticed by the other. */
  get hasGap(): boolean {
    return this.#toTarget.hasGap || this.#toClient.hasGap || this.#client.destroyed || this.#target.destroyed;
  }

  setFaults(toTarget: RelayFaults, toClient: RelayFaults): void {
    this.#hidesClient = toTarget.blackhole;
    this.#hidesTarget = toClient.blackhole;
    this.#toTarget.setFaults(toTarget);
    this.#toClient.setFaults(toClient);
  }

  limit(limit: ByteLimit | undefined): void {
    this.#limit = limit && { direction: limit.direction, end: limit.end, bytesLeft: drawn(limit.bytes, this.#random) };
  }

  /** What is not reset itself learns of the end as of an orderly one. */
  cut(direction: ProxyDirection = 'both'): void {
    if (direction !== 'toTarget') reset(this.#client);
    if (direction !== 'toClient') reset(this.#target);
    if (direction === 'both') this.#end();
  }

  #relay(from: Socket, to: Socket, direction: OneWay): FaultRelay {
    const random = { delays: this.#ownRandom(), flips: this.#ownRandom() };
    const owner: RelayOwner = {
      clock: this.#host.clock,
      allow: (byteCount) => this.#allow(direction, byteCount),
      onSpent: () => this.#onSpent(),
      onReceived: (byteCount) => this.#host.onReceived(direction, byteCount),
      onPassed: (byteCount) => this.#host.onPassed(direction, byteCount),
      onFlipped: () => this.#host.onFlipped(),
    };
    return new FaultRelay(from, to, random, owner);
  }

  #ownRandom(): RandomSource {
    return seededRandom(Math.floor(this.#random() * SEEDS));
  }

  #allow(direction: OneWay, byteCount: number): number {
    const limit = this.#limit;
    if (limit === undefined || (limit.direction !== 'both' && limit.direction !== direction)) return byteCount;
    const allowed = Math.min(byteCount, limit.bytesLeft);
    limit.bytesLeft -= allowed;
    return allowed;
  }

  /** A reset could overtake the bytes that were let through, so a truncated connection has an orderly end. */
  #onSpent(): void {
    if (this.#limit?.end === 'reset') return this.cut();
    this.#client.destroySoon();
    this.#target.destroySoon();
  }

  #onClose(other: Socket, broken: boolean, hidden: boolean): void {
    if (hidden && !other.destroyed) return; // the black hole swallows the news too
    if (broken) reset(other);
    else other.destroySoon();
    if (other.destroyed) this.#end();
  }

  #end(): void {
    this.#toTarget.stop();
    this.#toClient.stop();
    this.#host.onOver();
  }
}

/** A socket whose end is under way cannot be reset, and would stay open for the attempt. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function ignoreError(): void {}

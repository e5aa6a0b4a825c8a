/**
 * A TCP proxy on loopback that misbehaves on demand, for tests over real sockets.
 *
 * Owns its server, the proxied connections and their faults. Leaves the bytes of one direction to `FaultRelay`.
 *
 * P1 Without a fault it is a wire: bytes, ends and resets pass in both directions.
 * P2 A connection that lost bytes to a black hole is cut when the black hole ends: a stream has no gaps.
 * P3 After `close` no socket and no timer of the proxy is left.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { formatEndpoint, parseEndpoint } from '@zlink/kernel/identity';
import { type Clock, systemClock } from '@zlink/kernel/internal/time';
import { FaultRelay, type RelayFaults } from './fault-relay.ts';

/** Which way bytes flow: to the proxied target, to the client that dialled the proxy, or either. */
export type ProxyDirection = 'toTarget' | 'toClient' | 'both';

export interface FaultProxyOptions {
  /** `tcp://host:port` of the real listener. */
  readonly target: string;
  /** Measures delays; the system's by default. */
  readonly clock?: Clock;
}

export interface FaultProxy {
  /** `tcp://127.0.0.1:port`: dial this instead of the target. */
  readonly address: string;
  readonly connections: number;
  /** Connections taken since the start, refused ones not counted. */
  readonly accepted: number;
  /** Resets all connections, now. */
  cut(): void;
  /** Swallows bytes and ends of connections that way, present ones and later ones: a half-open peer. */
  blackhole(direction?: ProxyDirection): void;
  /** Bytes read from now on leave `ms` later, both ways. */
  delay(ms: number): void;
  /** New connections are reset as soon as they come in. */
  refuse(): void;
  /** Cuts each connection after `bytes` more bytes, both ways counted together. */
  truncateAfter(bytes: number): void;
  /** Ends all faults; see P2. */
  restore(): void;
  close(): Promise<void>;
}

export async function createFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const target = parseEndpoint(options.target);
  if (target === undefined || target.port === 0) throw new Error(`target ${options.target} is no endpoint`);
  const proxy = new TcpFaultProxy(target.host, target.port, options.clock ?? systemClock);
  await proxy.listen();
  return proxy;
}

/** What holds for all connections of a proxy. */
interface ProxyFaults {
  readonly toTarget: RelayFaults;
  readonly toClient: RelayFaults;
  readonly refused: boolean;
  readonly bytesLeft: number;
}

const NO_FAULTS: ProxyFaults = {
  toTarget: { blackhole: false, delayMs: 0 },
  toClient: { blackhole: false, delayMs: 0 },
  refused: false,
  bytesLeft: Infinity,
};

class TcpFaultProxy implements FaultProxy {
  readonly #targetHost: string;
  readonly #targetPort: number;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  #faults = NO_FAULTS;
  #address = '';
  #accepted = 0;

  constructor(targetHost: string, targetPort: number, clock: Clock) {
    this.#targetHost = targetHost;
    this.#targetPort = targetPort;
    this.#clock = clock;
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

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    const bound = this.#server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the proxy has no TCP address');
    this.#address = formatEndpoint(bound.address, bound.port);
  }

  cut(): void {
    for (const connection of [...this.#connections]) connection.cut();
  }

  blackhole(direction: ProxyDirection = 'both'): void {
    const { toTarget, toClient } = this.#faults;
    this.#become({
      ...this.#faults,
      toTarget: { ...toTarget, blackhole: toTarget.blackhole || direction !== 'toClient' },
      toClient: { ...toClient, blackhole: toClient.blackhole || direction !== 'toTarget' },
    });
  }

  delay(ms: number): void {
    const { toTarget, toClient } = this.#faults;
    this.#become({
      ...this.#faults,
      toTarget: { ...toTarget, delayMs: ms },
      toClient: { ...toClient, delayMs: ms },
    });
  }

  refuse(): void {
    this.#become({ ...this.#faults, refused: true });
  }

  truncateAfter(bytes: number): void {
    this.#become({ ...this.#faults, bytesLeft: bytes });
    for (const connection of this.#connections) connection.truncateAfter(bytes);
  }

  restore(): void {
    this.#become(NO_FAULTS);
    for (const connection of [...this.#connections]) {
      connection.truncateAfter(Infinity);
      if (connection.hasGap) connection.cut(); // P2
    }
  }

  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #become(faults: ProxyFaults): void {
    this.#faults = faults;
    for (const connection of this.#connections) connection.setFaults(faults.toTarget, faults.toClient);
  }

  #accept(client: Socket): void {
    client.on('error', ignoreError); // the close that follows says all there is to say
    if (this.#faults.refused) {
      client.resetAndDestroy();
      return;
    }
    this.#accepted++;
    const target = connect({ host: this.#targetHost, port: this.#targetPort, allowHalfOpen: true, noDelay: true });
    const connection = new ProxiedConnection(client, target, this.#clock, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    connection.setFaults(this.#faults.toTarget, this.#faults.toClient);
    connection.truncateAfter(this.#faults.bytesLeft);
  }
}

/** Two sockets that live and die together, unless a black hole hides the death of one. */
class ProxiedConnection {
  readonly #client: Socket;
  readonly #target: Socket;
  readonly #toTarget: FaultRelay;
  readonly #toClient: FaultRelay;
  readonly #onOver: () => void;
  #bytesLeft = Infinity;
  #hidesTarget = false;
  #hidesClient = false;

  constructor(client: Socket, target: Socket, clock: Clock, onOver: () => void) {
    this.#client = client;
    this.#target = target;
    this.#onOver = onOver;
    target.on('error', ignoreError);
    const allow = (byteCount: number) => this.#allow(byteCount);
    const cutBehind = () => this.#cutBehindWritten();
    this.#toTarget = new FaultRelay(client, target, clock, allow, cutBehind);
    this.#toClient = new FaultRelay(target, client, clock, allow, cutBehind);
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

  truncateAfter(bytes: number): void {
    this.#bytesLeft = bytes;
  }

  cut(): void {
    this.#client.resetAndDestroy();
    this.#target.resetAndDestroy();
    this.#end();
  }

  #allow(byteCount: number): number {
    const allowed = Math.min(byteCount, this.#bytesLeft);
    this.#bytesLeft -= allowed;
    return allowed;
  }

  /** A reset could overtake the bytes that were let through, so this end is an orderly one. */
  #cutBehindWritten(): void {
    this.#client.destroySoon();
    this.#target.destroySoon();
  }

  #onClose(other: Socket, broken: boolean, hidden: boolean): void {
    if (hidden && !other.destroyed) return; // the black hole swallows the news too
    if (broken) other.resetAndDestroy();
    else other.destroySoon();
    if (other.destroyed) this.#end();
  }

  #end(): void {
    this.#toTarget.stop();
    this.#toClient.stop();
    this.#onOver();
  }
}

function ignoreError(): void {}

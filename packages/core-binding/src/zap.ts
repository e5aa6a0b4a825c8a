/**
 * The engine's ZAP handler (ZeroMQ RFC 27): libzmq asks it about every connection before the peer can say anything.
 *
 * Owns the protocol. Leaves the decision to the admission gate of the listener, which libzmq names by its domain.
 *
 * Request:  routing id, empty, version, request id, domain, address, identity, mechanism, credentials…
 * Answer:   routing id, empty, version, request id, status, text, user id, metadata
 *
 * 1. Every request gets one answer; one that is malformed, for an unknown domain, or whose gate fails is refused.
 * 2. A handler that cannot be bound or has failed leaves no socket. Nobody gets in until another one is opened (WIRE-003).
 */
import { type Context, Router } from 'zeromq';
import type { AdmissionGate } from './admission-gate.ts';
import { ReceiveLoop } from './receive-loop.ts';
import { encodeZ85 } from './z85.ts';

export interface ZapHost {
  gateOf(domain: string): Pick<AdmissionGate, 'admits'> | undefined;
  nowMs(): number;
  /** For the log; must not throw. */
  onFault(error: unknown): void;
}

const address = 'inproc://zeromq.zap.01'; // fixed by the RFC, one per context
const admitted = '200';
const refused = '400';
const curveKeyBytes = 32;
const mappedPrefix = '::ffff:';

export class ZapHandler {
  readonly #socket: Router;
  readonly #host: ZapHost;
  readonly #ended: Promise<void>;

  private constructor(socket: Router, host: ZapHost) {
    this.#socket = socket;
    this.#host = host;
    const deliver = (parts: Buffer[]): void =>
      void this.#answer(parts).catch((error: unknown) => this.#host.onFault(error));
    const onFault = (error: unknown): void => {
      host.onFault(error);
      this.#release(); // 2
    };
    this.#ended = new ReceiveLoop(socket, { deliver, onFault }, () => host.nowMs()).ended;
  }

  /** Rejects with what libzmq throws. */
  static async open(context: Context, host: ZapHost): Promise<ZapHandler> {
    const socket = new Router({
      context,
      linger: 0,
      sendTimeout: 0,
      sendHighWaterMark: 0,
      receiveHighWaterMark: 0,
    });
    try {
      await socket.bind(address);
    } catch (error) {
      socket.close(); // 2
      throw error;
    }
    return new ZapHandler(socket, host);
  }

  get isOpen(): boolean {
    return !this.#socket.closed;
  }

  async close(): Promise<void> {
    this.#release();
    await this.#ended;
  }

  #release(): void {
    if (this.#socket.closed) return;
    this.#socket.disconnect(address); // at once, so that the next handler on this context can bind it
    this.#socket.close();
  }

  async #answer(parts: readonly Uint8Array[]): Promise<void> {
    const [routingId, empty, version, requestId, domain, ip, , mechanism, clientKey] = parts;
    if (requestId === undefined) return; // nobody to answer to
    const key = textOf(mechanism) === 'CURVE' && clientKey?.length === curveKeyBytes ? encodeZ85(clientKey) : undefined;
    const allowed = await this.#admits(textOf(domain), plainIp(textOf(ip)), key);
    if (this.#socket.closed) return;
    const answer = [routingId, empty, version, requestId, allowed ? admitted : refused, '', '', ''];
    await this.#socket.send(answer as (Uint8Array | string)[]).catch(() => undefined); // the connection is gone meanwhile
  }

  async #admits(domain: string, ip: string, clientKey: string | undefined): Promise<boolean> {
    const gate = this.#host.gateOf(domain);
    try {
      return gate !== undefined && (await gate.admits(ip, clientKey));
    } catch (error) {
      this.#host.onFault(error);
      return false; // 1
    }
  }
}

function textOf(part: Uint8Array | undefined): string {
  return part === undefined ? '' : Buffer.from(part).toString('latin1');
}

function plainIp(ip: string): string {
  return ip.startsWith(mappedPrefix) && ip.includes('.') ? ip.slice(mappedPrefix.length) : ip;
}

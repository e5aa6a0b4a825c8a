/**
 * The engine's ZAP handler (ZeroMQ RFC 27): libzmq asks it about every connection before the peer can say anything.
 *
 * Owns the protocol. Leaves the decision to the admission gate of the listener, which libzmq names by its domain.
 *
 * Request:  routing id, empty, version, request id, domain, address, identity, mechanism, credentials…
 * Answer:   routing id, empty, version, request id, status, text, user id, metadata
 *
 * 1. Every request gets one answer; a request that is malformed or for an unknown domain is refused.
 */
import { type Context, Router } from 'zeromq';
import type { AdmissionGate } from './admission-gate.ts';
import { ReceiveLoop } from './receive-loop.ts';
import { encodeZ85 } from './z85.ts';

const address = 'inproc://zeromq.zap.01'; // fixed by the RFC, one per context
const admitted = '200';
const refused = '400';
const curveKeyBytes = 32;
const mappedPrefix = '::ffff:';

export class ZapHandler {
  readonly #socket: Router;
  readonly #gates = new Map<string, AdmissionGate>();
  readonly #ended: Promise<void>;
  #domains = 0;

  private constructor(socket: Router, nowMs: () => number) {
    this.#socket = socket;
    this.#ended = new ReceiveLoop(socket, (parts) => void this.#answer(parts), nowMs).ended;
  }

  static async open(context: Context, nowMs: () => number): Promise<ZapHandler> {
    const socket = new Router({
      context,
      linger: 0,
      sendTimeout: 0,
      sendHighWaterMark: 0,
      receiveHighWaterMark: 0,
    });
    await socket.bind(address);
    return new ZapHandler(socket, nowMs);
  }

  /** The domain under which `gate` is asked. */
  addGate(gate: AdmissionGate): string {
    const domain = `listener-${++this.#domains}`;
    this.#gates.set(domain, gate);
    return domain;
  }

  removeGate(domain: string): void {
    this.#gates.delete(domain);
  }

  async close(): Promise<void> {
    if (this.#socket.closed) return this.#ended;
    this.#socket.disconnect(address); // at once, so that the next engine on this context can bind it
    this.#socket.close();
    await this.#ended;
  }

  async #answer(parts: readonly Uint8Array[]): Promise<void> {
    const [routingId, empty, version, requestId, domain, ip, , mechanism, clientKey] = parts;
    if (requestId === undefined) return; // nobody to answer to
    const gate = this.#gates.get(textOf(domain));
    const key = textOf(mechanism) === 'CURVE' && clientKey?.length === curveKeyBytes ? encodeZ85(clientKey) : undefined;
    const allowed = gate !== undefined && (await gate.admits(plainIp(textOf(ip)), key));
    if (this.#socket.closed) return;
    const answer = [routingId, empty, version, requestId, allowed ? admitted : refused, '', '', ''];
    await this.#socket.send(answer as (Uint8Array | string)[]).catch(() => undefined); // the connection is gone meanwhile
  }
}

function textOf(part: Uint8Array | undefined): string {
  return part === undefined ? '' : Buffer.from(part).toString('latin1');
}

function plainIp(ip: string): string {
  return ip.startsWith(mappedPrefix) && ip.includes('.') ? ip.slice(mappedPrefix.length) : ip;
}

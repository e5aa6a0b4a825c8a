/**
 * A bound XPUB: one publisher and the count of those that have subscribed.
 *
 * Owns the socket. Leaves who gets in to the admission gate, the count of strangers to handshake-ledger.ts, and batches and
 * beacons to the fanout topic.
 *
 * P1 Sending never waits: past a subscriber's mark libzmq drops whole messages for that one alone (CORE-016).
 * P2 The socket tells of every subscription and of its end, a killed subscriber's too. One to everything counts, and one to this
 *    run; one to another run is refused; whatever else a peer says is not heard.
 *    A peer that says it more than once, or takes back what it never said, falsifies the count for `ready` and nothing else.
 * P3 A peer that subscribes has a subscription in the socket before it is counted: what is sent from then on reaches it
 *    ([C08]).
 * P4 An error of libzmq that is not expected ends the publisher, not the process (WIRE-003).
 */
import type { XPublisher } from 'zeromq';
import type { Clock } from '@zlink/kernel/internal/time';
import { advertisedEndpoint, type EventPublisher, type PublisherOptions } from '@zlink/kernel/internal/transport';
import { otherRunParts, runOf } from '@zlink/kernel/internal/wire';
import { plainAddress } from './addresses.ts';
import type { AdmissionGate } from './admission-gate.ts';
import { readBound, watchBound } from './bound-socket.ts';
import type { HandshakeLedger } from './handshake-ledger.ts';

interface PublisherHost {
  readonly clock: Clock;
  readonly gate: AdmissionGate;
  readonly onRefused: (reason: string) => void;
  onClosed(publisher: PublisherEndpoint): void;
  /** For the log; must not throw. */
  onFault(address: string, error: unknown): void;
}

const unsubscribed = 0;
const subscribed = 1;

export class PublisherEndpoint implements EventPublisher {
  readonly boundAddress: string;
  readonly endpoint: string;
  /** Resolves when nothing of the socket is left. */
  readonly gone: Promise<void>;
  readonly #socket: XPublisher;
  readonly #generation: bigint | undefined;
  readonly #host: PublisherHost;
  readonly #ledger: HandshakeLedger;
  #subscriptions = 0;
  #listener: (() => void) | undefined;

  /** Takes over a bound socket. */
  constructor(socket: XPublisher, options: PublisherOptions, host: PublisherHost) {
    this.boundAddress = plainAddress(socket.lastEndpoint ?? options.bindAddress);
    this.endpoint = advertisedEndpoint(this.boundAddress, options.advertiseHost);
    this.#socket = socket;
    this.#generation = options.generation;
    this.#host = host;
    const { clock, onRefused } = host;
    const onFault = (error: unknown): void => this.#end(error);
    this.#ledger = readBound(socket, { clock, onRefused, deliver: (parts) => this.#onMessage(parts), onFault });
    this.gone = watchBound(socket, this.#ledger, onFault);
  }

  get isClosed(): boolean {
    return this.#socket.closed;
  }

  get subscriptions(): number {
    return this.#subscriptions;
  }

  onSubscriptions(listener: () => void): void {
    this.#listener = listener;
  }

  send(parts: Uint8Array[]): void {
    if (!this.#socket.closed) this.#socket.send(parts).catch(this.#onSendFailed);
  }

  close(lingerMs: number): Promise<void> {
    if (this.#socket.closed) return this.gone;
    this.#host.gate.close();
    this.#ledger.close();
    this.#subscriptions = 0;
    this.#socket.linger = lingerMs;
    this.#socket.close();
    this.#host.onClosed(this);
    return this.gone;
  }

  /** A message that could not be handed over when the socket was closed was not sent in time. */
  readonly #onSendFailed = (error: unknown): void => {
    if (!this.#socket.closed) this.#end(error);
  };

  #end(error: unknown): void {
    this.#host.onFault(this.boundAddress, error);
    void this.close(0); // P4
  }

  #onMessage(parts: readonly Buffer[]): void {
    const [message] = parts;
    if (this.#socket.closed || message === undefined || parts.length !== 1) return;
    const [verb] = message;
    if (verb !== subscribed && verb !== unsubscribed) return;
    const topic = message.subarray(1);
    const run = topic.length === 0 ? this.#generation : runOf(topic);
    if (run === undefined && topic.length > 0) return; // P2
    if (verb === unsubscribed) this.#ledger.peerLeft();
    if (run === this.#generation) this.#count(verb === subscribed ? 1 : -1);
    else if (run !== undefined && verb === subscribed) this.send(otherRunParts(run));
  }

  #count(change: number): void {
    this.#subscriptions = Math.max(0, this.#subscriptions + change);
    try {
      this.#listener?.();
    } catch (error) {
      this.#host.onFault(this.boundAddress, error);
    }
  }
}

/**
 * Counts the strangers at a listener: connections that ended before they could carry a message ([C06]).
 *
 * Owns the arithmetic. libzmq reports that a connection has ended, but not which one: the end of a peer is also told by
 * its last message, so an end without such a message was a stranger's.
 *
 * 1. A verdict waits until the socket has been read, as the message may come after the event.
 * 2. A failed handshake is counted by its own event, and not again by the end that follows; refused access is counted
 *    where it was refused.
 */
import type { HandshakeFault } from './native-errors.ts';

/** Ended without a handshake that libzmq could understand. */
const UNKNOWN_PROTOCOL = 'unknownProtocol';

export class HandshakeLedger {
  readonly #onRefused: (reason: string) => void;
  /** True while messages are waiting to be read. */
  readonly #isBehind: () => boolean;
  #ownEnds = 0;
  #unexplained = 0;
  #settling = false;

  constructor(onRefused: (reason: string) => void, isBehind: () => boolean) {
    this.#onRefused = onRefused;
    this.#isBehind = isBehind;
  }

  handshakeFailed(fault: HandshakeFault): void {
    this.#ownEnds++;
    if (fault !== 'accessRefused') this.#onRefused(fault); // 2
  }

  connectionEnded(): void {
    if (this.#ownEnds > 0) {
      this.#ownEnds--;
      return;
    }
    this.#unexplained++;
    if (this.#settling) return;
    this.#settling = true;
    this.#settleLater();
  }

  /** A peer's last message was read. */
  peerLeft(): void {
    this.#unexplained--;
  }

  #settleLater(): void {
    // The first hop may run in the turn of the event itself, before its reads.
    setImmediate(() => setImmediate(() => this.#settle()));
  }

  #settle(): void {
    if (this.#isBehind()) return this.#settleLater(); // 1
    this.#settling = false;
    for (; this.#unexplained > 0; this.#unexplained--) this.#onRefused(UNKNOWN_PROTOCOL);
  }
}

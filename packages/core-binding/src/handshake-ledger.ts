/**
 * Counts the strangers at a listener: connections that ended before they could carry a message ([C06]).
 *
 * Owns the arithmetic. libzmq reports that a connection has ended, but not which one: the end of a peer is also told by
 * its last message, so an end without such a message was a stranger's.
 *
 * 1. A verdict waits a moment, as the message may come after the event, and until the socket has been read.
 * 2. A failed handshake is counted by its own event, and not again by the end that follows; refused access is counted
 *    where it was refused.
 */
import type { Clock, TimerHandle } from '@zlink/kernel/internal/time';
import type { HandshakeFault } from './native-errors.ts';

/** Label of those that did not get as far as a handshake. */
const UNKNOWN_PROTOCOL = 'unknownProtocol';
const settleMs = 20;

export interface HandshakeLedgerOptions {
  readonly clock: Clock;
  readonly onRefused: (reason: string) => void;
  /** True while messages are waiting to be read. */
  readonly isBehind: () => boolean;
}

export class HandshakeLedger {
  readonly #options: HandshakeLedgerOptions;
  /** Ends that are still to be reported for handshakes known to have failed. */
  #expectedEnds = 0;
  #unexplainedEnds = 0;
  #timer: TimerHandle | undefined;

  constructor(options: HandshakeLedgerOptions) {
    this.#options = options;
  }

  handshakeFailed(fault: HandshakeFault): void {
    this.#expectedEnds++;
    if (fault !== 'accessRefused') this.#options.onRefused(fault); // 2
  }

  connectionEnded(): void {
    if (this.#expectedEnds > 0) {
      this.#expectedEnds--;
      return;
    }
    this.#unexplainedEnds++;
    if (this.#timer === undefined) this.#settleLater();
  }

  /** A peer's last message was read. */
  peerLeft(): void {
    this.#unexplainedEnds--;
  }

  close(): void {
    if (this.#timer !== undefined) this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  #settleLater(): void {
    this.#timer = this.#options.clock.setTimer(() => this.#settle(), settleMs);
  }

  #settle(): void {
    if (this.#options.isBehind()) return this.#settleLater(); // 1
    this.#timer = undefined;
    for (; this.#unexplainedEnds > 0; this.#unexplainedEnds--) this.#options.onRefused(UNKNOWN_PROTOCOL);
  }
}

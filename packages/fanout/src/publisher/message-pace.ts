/**
 * When messages may leave that have room for more events.
 *
 * Owns the allowance. Leaves what travels in a message, and when it is full, to the batch.
 *
 * A mark counts messages, however small they are: a thousand turns with one event each are over in a moment, and would overrun a
 * subscriber whose machine was busy for that moment. So messages that come in quick succession share a rate, and the events
 * between two of them travel together; a full one waits for nothing. Then the mark is reached by large events as a bound in
 * bytes, and by small ones as a bound in time: from empty to full takes 1.8 s, and 0.8 s where libzmq has not told yet
 * of half a mark that was read (CORE-016).
 *
 * 1. After a rest `BURST_COUNT` messages may leave at once, each at the end of its turn; then one per `INTERVAL_MS`.
 */
import type { Clock } from '@zlink/kernel/internal/time';

const BURST_COUNT = 100;
const INTERVAL_MS = 2;

export class MessagePace {
  readonly #clock: Clock;
  #allowance = BURST_COUNT;
  #countedAtMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#countedAtMs = clock.nowMs();
  }

  /** 0: a message may leave now; else at most `INTERVAL_MS`. */
  get waitMs(): number {
    this.#earn();
    return Math.max(0, 1 - this.#allowance) * INTERVAL_MS;
  }

  /** A message has left. */
  spend(): void {
    this.#earn();
    this.#allowance = Math.max(0, this.#allowance - 1); // a timer may have fired a little early
  }

  #earn(): void {
    const nowMs = this.#clock.nowMs();
    this.#allowance = Math.min(BURST_COUNT, this.#allowance + (nowMs - this.#countedAtMs) / INTERVAL_MS);
    this.#countedAtMs = nowMs;
  }
}

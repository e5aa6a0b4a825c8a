/**
 * How much of what a link has written its peer has not proven to have read.
 *
 * Owns the count and its limit: replies and acks need no credit (CORE-005), so nothing else bounds what piles up for a peer
 * that goes on asking and never reads. Leaves probing to `liveness`, and ending the link to its owner.
 *
 * U1 A pipe keeps its order, so the ack of a probe proves that all before the probe was read. Ids of probes cannot be
 *    guessed (L3).
 * U2 A batch counts as half the limit at most: one message of any size is no reason to end a link.
 * U3 From half the limit on it is asked for proof: a peer that reads answers long before the other half is full.
 */

/** The limit on hosts with a smaller budget: several times the largest window, which a peer may leave unread by right. */
const SMALLEST_LIMIT_BYTES = 67_108_864;

export class Unread {
  readonly #limitBytes: number;
  #bytes = 0;
  /** The part of it that was written after the probe whose ack is awaited. */
  #unprobedBytes = 0;

  /** @param budgetBytes - what all peers together may have under way to this host; one may leave as much unread */
  constructor(budgetBytes: number) {
    this.#limitBytes = Math.max(SMALLEST_LIMIT_BYTES, budgetBytes);
  }

  /** Why the link must end; undefined: within the limit. */
  get excess(): string | undefined {
    return this.#bytes > this.#limitBytes ? `more than ${this.#limitBytes} bytes were left unread` : undefined;
  }

  /**
   * A batch was written, or there was none.
   * @returns whether proof is due (U3)
   */
  add(batchBytes: number): boolean {
    const halfBytes = this.#limitBytes / 2;
    const bytes = batchBytes > halfBytes ? halfBytes : batchBytes; // U2
    this.#bytes += bytes;
    this.#unprobedBytes += bytes;
    return batchBytes > 0 && this.#bytes >= halfBytes;
  }

  /** A new probe stands behind all that was written. */
  probed(): void {
    this.#unprobedBytes = 0;
  }

  /** That probe was answered (U1). */
  proven(): void {
    this.#bytes = this.#unprobedBytes;
  }
}

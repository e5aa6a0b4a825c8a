/**
 * How much work one owner (a channel, a node, later a Spot or Actor) holds: waiting and running together.
 *
 * Owns the two counts. Leaves order and running to the dispatcher.
 *
 * M1 Count and bytes are reserved together or not at all, and released together (JOBQ-006).
 */

export interface MailboxLimits {
  readonly messages: number;
  readonly bytes: number;
}

export class Mailbox {
  readonly limits: MailboxLimits;
  #messages = 0;
  #bytes = 0;

  constructor(limits: MailboxLimits) {
    this.limits = limits;
  }

  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  tryReserve(costBytes: number): boolean {
    if (this.#messages >= this.limits.messages) return false;
    // Written as a subtraction: a sum could leave the exact number range and pass (JOBQ-006).
    if (costBytes > this.limits.bytes - this.#bytes) return false;
    this.#messages++;
    this.#bytes += costBytes;
    return true;
  }

  release(costBytes: number): void {
    this.#messages--;
    this.#bytes -= costBytes;
  }
}

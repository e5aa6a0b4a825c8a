/**
 * Requests that wait for their answers, for sides that have no such table of their own.
 *
 * Owns who waits under which id. Leaves choosing ids to the sides.
 */
import type { Message } from '../cargo.ts';

interface Waiter {
  readonly resolve: (reply: Message) => void;
  readonly reject: (error: Error) => void;
}

export class PendingReplies {
  readonly #waiters = new Map<number, Waiter>();

  /** @param id - of no other request that waits */
  wait(id: number): Promise<Message> {
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, { resolve, reject });
    });
  }

  settle(id: number, reply: Message): void {
    const waiter = this.#waiters.get(id);
    if (waiter === undefined) throw new Error(`answer to request ${id}, which nobody waits for`);
    this.#waiters.delete(id);
    waiter.resolve(reply);
  }

  fail(error: Error): void {
    const waiters = [...this.#waiters.values()];
    this.#waiters.clear();
    for (const { reject } of waiters) reject(error);
  }
}

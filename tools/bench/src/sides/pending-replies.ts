/**
 * Requests that wait for their answers, for sides that have no such table of their own.
 *
 * Owns correlation ids from 1; 0 means that nobody waits.
 */
import type { Message } from '../cargo.ts';

interface Waiter {
  readonly resolve: (reply: Message) => void;
  readonly reject: (error: Error) => void;
}

export class PendingReplies {
  readonly #waiters = new Map<number, Waiter>();
  #lastId = 0;

  /** @param send - submits the request under the given id */
  add(send: (id: number) => void): Promise<Message> {
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId;
      this.#waiters.set(id, { resolve, reject });
      send(id);
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

/** Callers that wait until a number of servers, or of other nodes, is ready. */
import { describeValue, ZLinkError } from '../../errors/index.ts';

interface Waiter {
  readonly count: number;
  settle(error?: Error): void;
}

export class ReadinessWaiters {
  readonly #waiters = new Set<Waiter>();

  wait(count: number, readyCount: number, signal: AbortSignal | undefined): Promise<void> {
    if (!Number.isInteger(count) || count < 0) {
      const text = `count: ${describeValue(count)} is not allowed, allowed: integer from 0`;
      return Promise.reject(new ZLinkError('InvalidOperation', text));
    }
    if (readyCount >= count) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => waiter.settle(signal?.reason as Error); // an abort reason may be any value
      const waiter: Waiter = {
        count,
        settle: (error) => {
          this.#waiters.delete(waiter);
          signal?.removeEventListener('abort', onAbort);
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      if (signal?.aborted === true) return onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  settle(readyCount: number): void {
    for (const waiter of this.#waiters) if (readyCount >= waiter.count) waiter.settle();
  }

  fail(error: ZLinkError): void {
    for (const waiter of this.#waiters) waiter.settle(error);
  }
}

/**
 * One iteration over what a host shows: whoever observes takes the next item when there is one.
 *
 * Owns waiting and the end of one iteration. Leaves what there is to take to the queue behind it.
 *
 * 1. It ends with its signal, with `return()`, or behind the last item of a host that has stopped; with nothing else (MON-012).
 * 2. Nobody who tells waits for it, and nothing that it does reaches them (MON-013).
 */
import { follow, type SignalFollower, unfollow } from '../../internal/time/index.ts';

/** What waits for one observer. */
export interface ItemQueue<T> {
  /** The next one, which is then gone from here. */
  take(): T | undefined;
}

export class Observer<T> implements AsyncIterator<T, undefined> {
  readonly #queue: ItemQueue<T>;
  readonly #signal: AbortSignal | undefined;
  readonly #follower: SignalFollower = { onAbort: () => this.#end() };
  readonly #onEnd: (ended: Observer<T>) => void;
  /** Who has asked for an item, in this order. */
  #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  /** Nothing comes any more but what is in the queue. */
  #isLast = false;
  #isEnded = false;

  /** @param onEnd - called once, when nobody observes any more */
  constructor(queue: ItemQueue<T>, signal: AbortSignal | undefined, onEnd: (ended: Observer<T>) => void) {
    this.#queue = queue;
    this.#signal = signal;
    this.#onEnd = onEnd;
    if (signal?.aborted === false) follow(signal, this.#follower);
  }

  get #isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#isEnded) return Promise.resolve(DONE);
    const value = this.#queue.take();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#isLast) {
      this.#end();
      return Promise.resolve(DONE);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#end();
    return Promise.resolve(DONE);
  }

  /** There may be something to take. */
  wake(): void {
    while (this.#isWaiting) {
      const value = this.#queue.take();
      if (value === undefined) return;
      this.#waiting.shift()?.({ done: false, value });
    }
  }

  /** The host has stopped. */
  finish(): void {
    this.#isLast = true;
    this.wake();
    if (this.#isWaiting) this.#end();
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#signal !== undefined) unfollow(this.#signal, this.#follower);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(DONE);
    this.#onEnd(this);
  }
}

const DONE = Object.freeze({ done: true, value: undefined } as const);

/**
 * Sends what links have batched once per event-loop turn.
 *
 * In the check phase, not in a microtask: every reply wakes a caller that submits one more record in the same turn, and
 * a flush per microtask would send each of them alone (measured: a tenth of the throughput, no gain serially; CORE-001).
 */
import type { Clock, TimerHandle } from '../time/index.ts';

export interface Flushable {
  flush(): void;
}

/** Credit that no batch has taken along goes back after this time, so that an idle window becomes whole again. */
const IDLE_CREDIT_MS = 20;

export class Flusher {
  readonly #clock: Clock;
  #dirty: Flushable[] = [];
  readonly #idle = new Set<Flushable>();
  #idleTimer: TimerHandle | undefined;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The caller remembers that it is scheduled and does not schedule twice before its `flush`. */
  schedule(link: Flushable): void {
    if (this.#dirty.push(link) === 1) setImmediate(this.#run);
  }

  /** Flushes the link once it has been quiet for a moment. */
  scheduleIdle(link: Flushable): void {
    if (this.#closed) return; // its links are ending: no timer may outlive them
    this.#idle.add(link);
    this.#idleTimer ??= this.#clock.setTimer(this.#runIdle, IDLE_CREDIT_MS);
  }

  close(): void {
    this.#closed = true;
    this.#idle.clear();
    if (this.#idleTimer !== undefined) this.#clock.clearTimer(this.#idleTimer);
    this.#idleTimer = undefined;
  }

  readonly #run = (): void => {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const link of dirty) link.flush();
  };

  readonly #runIdle = (): void => {
    this.#idleTimer = undefined;
    const idle = [...this.#idle];
    this.#idle.clear();
    for (const link of idle) link.flush();
  };
}

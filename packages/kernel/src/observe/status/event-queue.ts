/**
 * The events that one observer has not taken yet (MON-011).
 *
 * 1. At most 1,024: one more takes the place of the oldest, which counts as discarded.
 */
import { plusLost } from './loss-count.ts';
import type { MonitoringEvent } from './monitoring-event.ts';
import type { ItemQueue } from './observer.ts';

export interface ObservedEvent {
  readonly event: MonitoringEvent;
  /** Events of this iteration that were dropped so far, as they were not read in time. */
  readonly loss: { readonly discarded: bigint };
}

const LIMIT = 1_024;

export class EventQueue implements ItemQueue<ObservedEvent> {
  readonly #events: MonitoringEvent[] = [];
  #discarded: bigint;

  /** @param discarded - of before, for tests of what is counted in years */
  constructor(discarded = 0n) {
    this.#discarded = discarded;
  }

  /** Whether another one is lost for it. */
  add(event: MonitoringEvent): boolean {
    const isFull = this.#events.length === LIMIT;
    if (isFull) {
      this.#events.shift(); // 1
      this.#discarded = plusLost(this.#discarded);
    }
    this.#events.push(event);
    return isFull;
  }

  take(): ObservedEvent | undefined {
    const event = this.#events.shift();
    if (event === undefined) return undefined;
    return Object.freeze({ event, loss: Object.freeze({ discarded: this.#discarded }) });
  }
}

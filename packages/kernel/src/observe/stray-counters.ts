/**
 * Counts what peers said that no call of ours was waiting for (CS-006, WIRE-005).
 *
 * Owns the numbers and their form in a host's counters: a row of its own, so that it never mixes with what handlers of the
 * same name received. Leaves the log to its owner.
 *
 * 1. All of it is dropped on arrival: accepted = sum(dropped), and nothing ever runs or waits.
 */
import type { MessageCounters } from './message-counters.ts';

/** `reply`: late, repeated, or of no request at all; `send` and `request`: from a server, which has nothing to ask (CS-001). */
type Stray = 'reply' | 'send' | 'request';

export class StrayCounters {
  readonly #counts = new Map<Stray, number>();

  count(what: Stray): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** @param meshName - of a node; undefined: they came to a client of the channel */
  snapshot(owner: string, meshName?: string): MessageCounters {
    const dropped = Object.freeze(Object.fromEntries(this.#counts));
    let accepted = 0;
    for (const count of this.#counts.values()) accepted += count;
    const place = meshName === undefined ? ({ surface: 'channel' } as const) : ({ surface: 'node', meshName } as const);
    const counts = { accepted, handled: 0, failed: 0, dropped, running: 0, queued: 0 };
    return Object.freeze({ owner, ...place, verb: 'stray', ...counts });
  }
}

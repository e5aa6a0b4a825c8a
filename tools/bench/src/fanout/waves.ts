/**
 * How many events are published in one go, and what rate several goes add up to.
 *
 * Owns that arithmetic. Pure: no clock, no I/O.
 *
 * 1. A wave is far below what may wait for a subscriber, so that nobody loses an event and each count is exact: nobody who
 *    is measured is slower than its mark, and how fast a side loses is no figure.
 */

/** The mark of a publisher is 64 MiB for each subscriber. */
const waveBytes = 16_777_216;
/** What an event has beside its body, in JSON and with its names, rounded up. */
const envelopeBytes = 128;
const minCount = 50;

/** @param perSecond - events that the last wave has reached; 0: nothing is known */
export function waveSize(perSecond: number, sliceMs: number, bodyBytes: number): number {
  const most = Math.floor(waveBytes / (bodyBytes + envelopeBytes)); // 1
  return Math.max(minCount, Math.min(most, Math.round((perSecond * sliceMs) / 1_000)));
}

/** What several waves took, one after the other; the pauses in between count for nobody. */
export class WaveSum {
  #count = 0;
  #elapsedMs = 0;

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  get perSecond(): number {
    return this.#elapsedMs === 0 ? 0 : (this.#count / this.#elapsedMs) * 1_000;
  }

  /** @param lastAtMs - when the last event arrived, at each subscriber: a wave is over with the slowest of them */
  add(count: number, startedAtMs: number, lastAtMs: readonly number[]): void {
    this.#count += count;
    this.#elapsedMs += Math.max(...lastAtMs) - startedAtMs;
  }
}

/**
 * A counter of what the host counts anyway: read when metrics are collected, and once more at the end of the host, and told by
 * how much it has grown since.
 *
 * Owns what was told. Leaves when it is read to the metrics of the host.
 *
 * 1. What the last collection of a host has not seen is told at its end: a counter that the meter reads would be gone by then.
 * 2. What is added to the same attributes is one total; it is told first when it is first there, if it is 0 as well.
 * 3. A reading that breaks off tells nothing, and loses nothing: the next one finds all of it.
 */
import type { Meter } from '@opentelemetry/api';
import type { TelemetryFailure } from '../failure.ts';
import type { ValuesOf } from './attribute-sets.ts';
import type { Metric } from './metric-list.ts';
import { type Series, ToldMetric } from './told-metric.ts';

/** By how much a series has grown. */
export interface Growth {
  readonly series: Series;
  readonly value: number;
}

export class TotalMetric<A extends readonly string[]> {
  readonly #metric: ToldMetric<A>;
  readonly #told = new Map<Series, number>();
  /** Of the reading that is under way. */
  readonly #sums = new Map<Series, number>();

  constructor(meter: Meter, metric: Metric<A>, failed: TelemetryFailure) {
    this.#metric = new ToldMetric(meter, metric, failed);
  }

  add(total: number, ...values: ValuesOf<A>): void {
    const series = this.#metric.series(...values);
    this.#sums.set(series, (this.#sums.get(series) ?? 0) + total); // 2
  }

  /** Ends a reading; what it returns counts as told. */
  takeGrowth(): readonly Growth[] {
    const growth = Array.from(this.#sums, ([series, sum]) => ({ series, value: sum - (this.#told.get(series) ?? 0) }));
    const news = growth.filter(({ series, value }) => value > 0 || !this.#told.has(series));
    for (const [series, sum] of this.#sums) this.#told.set(series, sum);
    this.#sums.clear();
    return news;
  }

  /** Breaks a reading off (3). */
  clear(): void {
    this.#sums.clear();
  }
}

/** Latencies of calls: of a moving window for the view, and of the whole run for the summary. */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import type { Latency } from './reports.ts';

export class LatencyRecord {
  readonly #window = createHistogram();
  readonly #total = createHistogram();

  add(elapsedMs: number): void {
    const us = Math.max(1, Math.round(elapsedMs * 1_000)); // histograms count whole numbers from 1
    this.#window.record(us);
    this.#total.record(us);
  }

  get total(): Latency {
    return latencyOf(this.#total);
  }

  /** What was added since the last call. */
  takeWindow(): Latency {
    const latency = latencyOf(this.#window);
    this.#window.reset();
    return latency;
  }
}

function latencyOf(histogram: RecordableHistogram): Latency {
  const { count } = histogram;
  if (count === 0) return { count, p50Ms: 0, p99Ms: 0 }; // an empty histogram has no percentiles
  return { count, p50Ms: histogram.percentile(50) / 1_000, p99Ms: histogram.percentile(99) / 1_000 };
}

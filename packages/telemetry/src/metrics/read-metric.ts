/**
 * A metric that is read whenever metrics are collected.
 *
 * Owns the sums of one collection. Leaves what is added to the reading, and telling the values to the metrics of the host.
 *
 * 1. What is added to the same attributes is one value: a provider would keep the last of several.
 * 2. What is not added in a collection is not there: a state that is over has no 0.
 */
import type { Attributes, Meter, Observable } from '@opentelemetry/api';
import { type TelemetryFailure, watched } from '../failure.ts';
import { AttributeSets, type ValuesOf } from './attribute-sets.ts';
import type { Metric } from './metric-list.ts';

/** What a collection tells. */
export interface Reading {
  readonly observable: Observable;
  readonly value: number;
  readonly attributes: Attributes;
}

export class ReadMetric<A extends readonly string[]> {
  readonly observable: Observable;
  readonly #attributes: AttributeSets<A>;
  readonly #sums = new Map<Attributes, number>();

  constructor(meter: Meter, metric: Metric<A>, failed: TelemetryFailure) {
    this.observable = watched(instrumentOf(meter, metric), 'meter', failed);
    this.#attributes = new AttributeSets(metric.attributes);
  }

  add(value: number, ...values: ValuesOf<A>): void {
    const attributes = this.#attributes.of(values);
    this.#sums.set(attributes, (this.#sums.get(attributes) ?? 0) + value); // 1
  }

  readings(): readonly Reading[] {
    return Array.from(this.#sums, ([attributes, value]) => ({ observable: this.observable, value, attributes }));
  }

  /** Ends a reading. */
  clear(): void {
    this.#sums.clear(); // 2
  }
}

function instrumentOf(meter: Meter, { name, kind, unit, description }: Metric): Observable {
  if (kind === 'upDownCounter') return meter.createObservableUpDownCounter(name, { unit, description });
  return meter.createObservableGauge(name, { unit, description });
}

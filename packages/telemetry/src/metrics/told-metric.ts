/**
 * A metric that is told when something happens: a counter or a histogram.
 *
 * 1. Telling never throws, and leaves no promise of the meter rejected (METRIC-004).
 */
import type { Attributes, Meter } from '@opentelemetry/api';
import { type TelemetryFailure, watched } from '../failure.ts';
import { AttributeSets, type ValuesOf } from './attribute-sets.ts';
import type { Metric } from './metric-list.ts';

type Write = (value: number, attributes: Attributes) => unknown;

export class ToldMetric<A extends readonly string[]> {
  readonly #write: Write;
  readonly #failed: TelemetryFailure;
  readonly #attributes: AttributeSets<A>;
  readonly #series = new Map<Attributes, Series>();

  constructor(meter: Meter, metric: Metric<A>, failed: TelemetryFailure) {
    this.#write = instrumentOf(meter, metric, failed);
    this.#failed = failed;
    this.#attributes = new AttributeSets(metric.attributes);
  }

  /** Of these values: always the same one. */
  series(...values: ValuesOf<A>): Series {
    const attributes = this.#attributes.of(values);
    const known = this.#series.get(attributes);
    if (known !== undefined) return known;
    const series = new Series(this.#write, attributes, this.#failed);
    this.#series.set(attributes, series);
    return series;
  }
}

export class Series {
  readonly #write: Write;
  readonly #attributes: Attributes;
  readonly #failed: TelemetryFailure;

  constructor(write: Write, attributes: Attributes, failed: TelemetryFailure) {
    this.#write = write;
    this.#attributes = attributes;
    this.#failed = failed;
  }

  /** @param value - what is added to a counter; what a histogram gets */
  tell(value: number): void {
    try {
      watched(this.#write(value, this.#attributes), 'meter', this.#failed);
    } catch (thrown) {
      this.#failed('meter', thrown); // 1
    }
  }
}

function instrumentOf(meter: Meter, { name, kind, unit, description }: Metric, failed: TelemetryFailure): Write {
  if (kind === 'histogram') {
    const histogram = watched(meter.createHistogram(name, { unit, description }), 'meter', failed);
    return (value, attributes) => histogram.record(value, attributes);
  }
  const counter = watched(meter.createCounter(name, { unit, description }), 'meter', failed);
  return (value, attributes) => counter.add(value, attributes);
}

/**
 * Collects what a meter provider has, as flat rows.
 *
 * 1. A gauge is what was read now. With the temporality that readers have by default this SDK repeats the last value of what is
 *    not read any more.
 */
import {
  AggregationTemporality,
  DataPointType,
  InstrumentType,
  MeterProvider,
  type MetricData,
  MetricReader,
} from '@opentelemetry/sdk-metrics';

export interface Row {
  readonly name: string;
  readonly kind: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram: how often, and the sum. */
  readonly value: number | { readonly count: number; readonly sum: number };
}

class TestReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export class Metrics {
  readonly #reader = new TestReader({
    aggregationTemporalitySelector: (type) =>
      type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE, // 1
  });
  readonly provider = new MeterProvider({ readers: [this.#reader] });

  async rows(): Promise<readonly Row[]> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw new Error(`collecting failed: ${errors.map(String).join(', ')}`);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(rowsOf));
  }

  async row(name: string, attributes: Row['attributes'] = {}): Promise<Row['value'] | undefined> {
    const wanted = JSON.stringify(attributes);
    const rows = await this.rows();
    return rows.find((row) => row.name === `zlink.${name}` && JSON.stringify(row.attributes) === wanted)?.value;
  }

  async scopes(): Promise<readonly { readonly name: string; readonly version?: string }[]> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics.map(({ scope: { name, version } }) => ({
      name,
      ...(version === undefined ? {} : { version }),
    }));
  }
}

function rowsOf(metric: MetricData): Row[] {
  const { name, unit } = metric.descriptor;
  return metric.dataPoints.map(({ attributes, value }) => ({
    name,
    kind: kindOf(metric),
    unit,
    attributes,
    value: typeof value === 'number' ? value : { count: value.count, sum: value.sum ?? NaN },
  }));
}

function kindOf(metric: MetricData): string {
  if (metric.dataPointType === DataPointType.GAUGE) return 'gauge';
  if (metric.dataPointType === DataPointType.SUM) return metric.isMonotonic ? 'counter' : 'upDownCounter';
  return 'histogram';
}

/**
 * What the metrics of a host's provider are now, as flat rows.
 *
 * 1. A gauge is what was read now. With the temporality that readers have by default this SDK repeats the last value of what is
 *    not read any more.
 */
import {
  AggregationTemporality,
  DataPointType,
  InstrumentType,
  type MetricData,
  MeterProvider,
  MetricReader,
} from '@opentelemetry/sdk-metrics';

export interface Row {
  readonly name: string;
  readonly kind: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram: how often. */
  readonly value: number;
}

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export class Collected {
  readonly #reader = new Reader({
    aggregationTemporalitySelector: (type) =>
      type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE, // 1
  });
  readonly provider = new MeterProvider({ readers: [this.#reader] });

  async rows(): Promise<readonly Row[]> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw new Error(`collecting failed: ${errors.map(String).join(', ')}`);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(rowsOf));
  }

  /** Sum of the rows of a name that have these attributes. */
  async sum(name: string, attributes: Row['attributes'] = {}): Promise<number> {
    const rows = (await this.rows()).filter((row) => row.name === `zlink.${name}`);
    const fitting = rows.filter((row) =>
      Object.entries(attributes).every(([key, value]) => row.attributes[key] === value),
    );
    return fitting.reduce((sum, { value }) => sum + value, 0);
  }
}

function rowsOf(metric: MetricData): Row[] {
  const { name, unit } = metric.descriptor;
  return metric.dataPoints.map(({ attributes, value }) => ({
    name,
    kind: kindOf(metric),
    unit,
    attributes,
    value: typeof value === 'number' ? value : value.count,
  }));
}

function kindOf(metric: MetricData): string {
  if (metric.dataPointType === DataPointType.GAUGE) return 'gauge';
  if (metric.dataPointType === DataPointType.SUM) return metric.isMonotonic ? 'counter' : 'up-down counter';
  return 'histogram';
}

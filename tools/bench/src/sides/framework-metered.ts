/** The framework with metrics, by the OpenTelemetry SDK: measurements are kept, and collected once a minute. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { sideWith } from './framework.ts';
import type { Side } from './side.ts';

const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });

export const frameworkMetered: Side = sideWith({
  telemetry: { meterProvider: new MeterProvider({ readers: [reader] }) },
});

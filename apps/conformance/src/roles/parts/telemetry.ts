/**
 * Where the measurements and records of one host go: providers of the OpenTelemetry SDK that keep all in this process.
 *
 * Owns the providers, the logger in front of the host's own, and the context manager. Leaves what is right to the scenarios.
 *
 * 1. Gauges are what is read now. With its default temporality the SDK repeats the last value of what is not read any more.
 * 2. What the process has got for the host is gone when the host has ended: another one may follow.
 */
import {
  context,
  type MeterProvider as AnyMeterProvider,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  DataPointType,
  InstrumentType,
  MeterProvider,
  type MetricData,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { HostOptions, Logger } from '@zlink/framework';
import type { CallEnd, TelemetryPlan } from '../plan.ts';
import type { LogFacts } from '../protocol.ts';
import { type CarriedHeaders, PlannedPropagator } from './planned-propagator.ts';

/** One series of a metric. */
export interface MetricRow {
  readonly name: string;
  readonly kind: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram: how often. */
  readonly value: number;
}

export interface SpanFacts {
  readonly name: string;
  readonly kind: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly isError: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface SpannedCall {
  readonly end: CallEnd;
  readonly traceId: string;
  readonly spanId: string;
  readonly activeAfterwards?: string;
}

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export function keep(plan: TelemetryPlan): Telemetry {
  return new Telemetry(plan);
}

export class Telemetry {
  readonly records: LogFacts[] = [];
  readonly options: NonNullable<HostOptions['telemetry']>;
  readonly #plan: TelemetryPlan;
  readonly #propagator: PlannedPropagator | undefined;
  readonly #reader = new Reader({
    aggregationTemporalitySelector: (type) =>
      type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE, // 1
  });
  readonly #meterProvider = new MeterProvider({ readers: [this.#reader] });
  readonly #exporter = new InMemorySpanExporter();
  readonly #tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] });

  constructor(plan: TelemetryPlan) {
    this.#plan = plan;
    const { metrics, spans, propagator, hasContext = false } = plan;
    this.#propagator = propagator && new PlannedPropagator(propagator);
    this.options = {
      ...(metrics === undefined ? {} : { meterProvider: metrics === 'kept' ? this.#meterProvider : failingMeters }),
      ...(spans === undefined ? {} : { tracerProvider: spans === 'kept' ? this.#tracerProvider : failingTracers }),
      ...(this.#propagator === undefined ? {} : { propagator: this.#propagator }),
    };
    if (hasContext) context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  }

  /** Keeps records of messages, and passes on all but the many. */
  loggerBefore(next: Logger): Logger {
    const { records } = this.#plan;
    if (records === undefined) return next;
    const at = (level: keyof Logger) => (record: object) => {
      if (records === 'failing') throw new Error('no disk for the log');
      const facts = record as LogFacts; // records are plain objects
      if (/^zlink\.(message_flow|dispatch_error)$/.test(facts.eventId ?? '')) {
        this.records.push({ ...facts, level });
        if (records === 'slow') keepBusyMs(1);
      }
      next[level](record);
    };
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  async rows(): Promise<readonly MetricRow[]> {
    const { resourceMetrics, errors } = await this.#reader.collect();
    if (errors.length > 0) throw new Error(`collecting failed: ${errors.map(String).join(', ')}`);
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(rowsOf));
  }

  spans(): readonly SpanFacts[] {
    return this.#exporter.getFinishedSpans().map(spanFacts);
  }

  carried(): readonly CarriedHeaders[] {
    return this.#propagator?.read ?? [];
  }

  async within(name: string, run: () => Promise<CallEnd>): Promise<SpannedCall> {
    const span: Span = this.#tracerProvider.getTracer('application').startSpan(name);
    const { traceId, spanId } = span.spanContext();
    return context.with(trace.setSpan(context.active(), span), async () => {
      const end = await run();
      span.end();
      const active = trace.getActiveSpan()?.spanContext().spanId;
      return { end, traceId, spanId, ...(active === undefined ? {} : { activeAfterwards: active }) };
    });
  }

  /** 2 */
  end(): void {
    if (this.#plan.hasContext === true) context.disable();
  }
}

const failing = (): never => {
  throw new Error('no provider today');
};
const failingMeters: AnyMeterProvider = {
  getMeter: () => ({
    createCounter: () => ({ add: failing }),
    createGauge: () => ({ record: failing }),
    createHistogram: () => ({ record: failing }),
    createUpDownCounter: () => ({ add: failing }),
    createObservableCounter: failing,
    createObservableGauge: failing,
    createObservableUpDownCounter: failing,
    addBatchObservableCallback: failing,
    removeBatchObservableCallback: failing,
  }),
};
const failingTracers: TracerProvider = { getTracer: () => ({ startSpan: failing, startActiveSpan: failing }) };

function keepBusyMs(ms: number): void {
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs);
}

function rowsOf(metric: MetricData): MetricRow[] {
  const { name, unit } = metric.descriptor;
  return metric.dataPoints.map(({ attributes, value }) => ({
    name,
    kind: kindOf(metric),
    unit,
    attributes: { ...attributes },
    value: typeof value === 'number' ? value : value.count,
  }));
}

function kindOf(metric: MetricData): string {
  if (metric.dataPointType === DataPointType.GAUGE) return 'gauge';
  if (metric.dataPointType === DataPointType.SUM) return metric.isMonotonic ? 'counter' : 'up-down counter';
  return 'histogram';
}

function spanFacts(span: ReadableSpan): SpanFacts {
  const { name, kind, attributes, status, parentSpanContext } = span;
  const { traceId, spanId } = span.spanContext();
  return {
    name,
    kind: SpanKind[kind],
    traceId,
    spanId,
    ...(parentSpanContext === undefined ? {} : { parentSpanId: parentSpanContext.spanId }),
    isError: status.code === SpanStatusCode.ERROR,
    attributes: { ...attributes },
  };
}

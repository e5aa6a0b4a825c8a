/**
 * What a host tells OpenTelemetry: metrics, and spans of its messages.
 *
 * Owns which provider is used, and that its failures end here. Leaves what is measured and followed to the host.
 *
 * 1. Asked once, when the host starts: a provider that is registered later has no part in it (METRIC-001).
 * 2. Without a provider there is no meter and no tracer, and nothing is done for either.
 * 3. Nothing that a provider, propagator or span throws, or rejects with, reaches a message: it is reported, and the rest goes on (METRIC-004).
 */
import type { MeterProvider, TextMapPropagator, TracerProvider } from '@opentelemetry/api';
import { errorText, type HostMeter, type RateLimitedLog, type SpanTracer } from '@zlink/kernel/observe';
import type { TelemetryFailure, TelemetryPart } from './failure.ts';
import type { MeteredHost } from './metrics/host-readings.ts';
import { HostMetrics } from './metrics/host-metrics.ts';
import { findMeter, findPropagator, findTracer } from './providers.ts';
import { MessageTracer } from './spans/message-tracer.ts';

export interface TelemetryOptions {
  /** Default: the global one of `@opentelemetry/api`. */
  readonly meterProvider?: MeterProvider;
  /** Default: the global one of `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider;
  /**
   * Writes and reads `traceparent` and `tracestate`, nothing else travels; default: the global one of `@opentelemetry/api`, or
   * W3C trace context if there is none.
   */
  readonly propagator?: TextMapPropagator;
}

export interface Telemetry {
  /** Undefined without a provider. */
  readonly meter: HostMeter | undefined;
  /** Undefined without a provider. */
  readonly tracer: SpanTracer | undefined;
  /** From now on gauges and totals are read from there whenever metrics are collected, until `close`. */
  observe(host: MeteredHost): void;
  close(): void;
}

export function createTelemetry(options: TelemetryOptions, log: Pick<RateLimitedLog, 'warn'>): Telemetry {
  const failed: TelemetryFailure = (where, thrown) =>
    log.warn(`telemetry ${where}`, { eventId: 'zlink.runtime.telemetry_failed', where, error: errorText(thrown) });
  const meter = attempt('meter', failed, () => {
    const found = findMeter(options.meterProvider, failed);
    return found && new HostMetrics(found, failed);
  });
  const tracer = attempt('tracer', failed, () => {
    const found = findTracer(options.tracerProvider, failed);
    return found && new MessageTracer(found, findPropagator(options.propagator, failed), failed);
  });
  return Object.freeze({
    meter,
    tracer,
    observe: (host: MeteredHost) => meter?.observe(host),
    close: () => meter?.close(),
  });
}

/** Undefined if it throws (3). */
function attempt<T>(where: TelemetryPart, failed: TelemetryFailure, make: () => T): T | undefined {
  try {
    return make();
  } catch (thrown) {
    failed(where, thrown);
    return undefined;
  }
}

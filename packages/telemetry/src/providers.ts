/**
 * Which meter, tracer and propagator a host uses: those of its options, else those of the process.
 *
 * 1. What would do nothing is none at all: the no-op provider that the API has before another one is registered.
 */
import {
  createNoopMeter,
  type Meter,
  type MeterProvider,
  metrics,
  propagation,
  ProxyTracerProvider,
  type TextMapPropagator,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import { type TelemetryFailure, watched } from './failure.ts';
import { SCOPE_NAME, SCOPE_VERSION } from './scope.ts';
import { createTraceContextPropagator } from './spans/trace-context-propagator.ts';

export function findMeter(given: MeterProvider | undefined, failed: TelemetryFailure): Meter | undefined {
  const meter = watched((given ?? metrics.getMeterProvider()).getMeter(SCOPE_NAME, SCOPE_VERSION), 'meter', failed);
  return meter === createNoopMeter() ? undefined : meter; // 1: the API has one and gives it every time
}

export function findTracer(given: TracerProvider | undefined, failed: TelemetryFailure): Tracer | undefined {
  const provider = given ?? trace.getTracerProvider();
  // 1: the API's provider stands for the registered one, and gives a tracer that waits for it if there is none.
  if (provider instanceof ProxyTracerProvider) {
    return watched(provider.getDelegateTracer(SCOPE_NAME, SCOPE_VERSION), 'tracer', failed);
  }
  return watched(provider.getTracer(SCOPE_NAME, SCOPE_VERSION), 'tracer', failed);
}

export function findPropagator(given: TextMapPropagator | undefined, failed: TelemetryFailure): TextMapPropagator {
  if (given !== undefined) return given;
  const fields = watched(propagation.fields(), 'propagator', failed);
  return fields.length === 0 ? createTraceContextPropagator(failed) : propagation;
}

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
import { SCOPE_NAME, SCOPE_VERSION } from './scope.ts';
import { traceContextPropagator } from './spans/trace-context-propagator.ts';

export function findMeter(given: MeterProvider | undefined): Meter | undefined {
  const meter = (given ?? metrics.getMeterProvider()).getMeter(SCOPE_NAME, SCOPE_VERSION);
  return meter === createNoopMeter() ? undefined : meter; // 1: the API has one and gives it every time
}

export function findTracer(given: TracerProvider | undefined): Tracer | undefined {
  const provider = given ?? trace.getTracerProvider();
  // 1: the API's provider stands for the registered one, and gives a tracer that waits for it if there is none.
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer(SCOPE_NAME, SCOPE_VERSION);
  return provider.getTracer(SCOPE_NAME, SCOPE_VERSION);
}

export function findPropagator(given: TextMapPropagator | undefined): TextMapPropagator {
  if (given !== undefined) return given;
  return propagation.fields().length === 0 ? traceContextPropagator : propagation;
}

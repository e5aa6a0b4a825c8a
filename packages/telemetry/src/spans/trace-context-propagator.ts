/**
 * W3C trace context as a propagator, for a process that has registered none.
 *
 * Owns both directions between a span context and the two headers. Leaves bytes to the kernel.
 */
import {
  createTraceState,
  isSpanContextValid,
  isValidSpanId,
  isValidTraceId,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import { type TelemetryFailure, watched } from '../failure.ts';

const PATTERN = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

export function createTraceContextPropagator(failed: TelemetryFailure): TextMapPropagator {
  return Object.freeze<TextMapPropagator>({
    inject: (context, carrier, setter) => {
      const span = watched(trace.getSpanContext(context), 'span', failed);
      if (span === undefined || !isSpanContextValid(span)) return;
      const flags = span.traceFlags.toString(16).padStart(2, '0');
      setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-${flags}`);
      const state = span.traceState?.serialize() ?? '';
      if (state !== '') setter.set(carrier, 'tracestate', state);
    },
    extract: (context, carrier, getter) => {
      const [, traceId = '', spanId = '', flags = ''] = PATTERN.exec(textOf(getter.get(carrier, 'traceparent'))) ?? [];
      if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return context;
      const state = textOf(getter.get(carrier, 'tracestate'));
      return trace.setSpanContext(context, {
        traceId,
        spanId,
        traceFlags: Number.parseInt(flags, 16),
        isRemote: true,
        ...(state === '' ? {} : { traceState: createTraceState(state) }),
      });
    },
    fields: () => ['traceparent', 'tracestate'],
  });
}

function textOf(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value) ?? '';
}

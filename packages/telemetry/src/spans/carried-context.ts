/**
 * Between what OpenTelemetry calls a context and what travels with a message.
 *
 * 1. Only `traceparent` and `tracestate` travel; what else a propagator writes is left out (TRACE-023).
 * 2. What a propagator throws, or writes wrongly, is no context.
 */
import type { Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { TraceContext } from '@zlink/kernel/observe';
import type { TelemetryFailure } from '../failure.ts';

interface Headers {
  traceparent: string;
  tracestate: string;
}

const setter: TextMapSetter<Headers> = {
  set: (headers, key, value) => {
    const name = key.toLowerCase();
    if (name === 'traceparent' || name === 'tracestate') headers[name] = value; // 1
  },
};

const getter: TextMapGetter<TraceContext> = {
  keys: () => ['traceparent', 'tracestate'],
  get: (carried, key) => {
    const name = key.toLowerCase();
    if (name === 'traceparent') return carried.traceParent;
    return name === 'tracestate' && carried.traceState !== '' ? carried.traceState : undefined;
  },
};

export class CarriedContexts {
  readonly #propagator: TextMapPropagator;
  readonly #failed: TelemetryFailure;

  constructor(propagator: TextMapPropagator, failed: TelemetryFailure) {
    this.#propagator = propagator;
    this.#failed = failed;
  }

  /** Undefined: there is nothing to send. */
  inject(context: Context): TraceContext | undefined {
    const headers: Headers = { traceparent: '', tracestate: '' };
    try {
      this.#propagator.inject(context, headers, setter);
      return TraceContext.fromTexts(headers.traceparent, headers.tracestate);
    } catch (thrown) {
      this.#failed('propagator', thrown); // 2
      return undefined;
    }
  }

  /** @returns `base` if nothing was carried */
  extract(base: Context, carried: TraceContext | undefined): Context {
    if (carried === undefined) return base;
    try {
      return this.#propagator.extract(base, carried, getter);
    } catch (thrown) {
      this.#failed('propagator', thrown); // 2
      return base;
    }
  }
}

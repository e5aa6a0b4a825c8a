/**
 * Between what OpenTelemetry calls a context and what travels with a message.
 *
 * 1. Only `traceparent` and `tracestate` travel; what else a propagator writes is left out (TRACE-023).
 * 2. What a propagator throws, or writes wrongly, is no context; nor is what it reads, if it is none.
 */
import type { Context, TextMapGetter, TextMapPropagator, TextMapSetter } from '@opentelemetry/api';
import { TraceContext } from '@zlink/kernel/observe';
import { type TelemetryFailure, watched } from '../failure.ts';

/** Texts, if the propagator keeps to its contract. */
interface Headers {
  traceparent: unknown;
  tracestate: unknown;
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
      watched<unknown>(this.#propagator.inject(context, headers, setter), 'propagator', this.#failed);
      const { traceparent, tracestate } = headers;
      if (typeof traceparent !== 'string') throw notText('traceparent', traceparent); // 2
      if (typeof tracestate !== 'string') throw notText('tracestate', tracestate);
      return TraceContext.fromTexts(traceparent, tracestate);
    } catch (thrown) {
      this.#failed('propagator', thrown); // 2
      return undefined;
    }
  }

  /** @returns `base` if nothing was carried */
  extract(base: Context, carried: TraceContext | undefined): Context {
    if (carried === undefined) return base;
    try {
      const extracted = watched(this.#propagator.extract(base, carried, getter), 'propagator', this.#failed);
      if (isContext(extracted)) return extracted;
      throw new TypeError(`extract gave ${typeof extracted}, which is no context`); // 2
    } catch (thrown) {
      this.#failed('propagator', thrown); // 2
      return base;
    }
  }
}

function notText(name: string, value: unknown): TypeError {
  return new TypeError(`inject wrote ${typeof value} as ${name}, not a string`);
}

/** What is used of one. */
function isContext(value: Partial<Context> | null | undefined): value is Context {
  return typeof value?.getValue === 'function' && typeof value.setValue === 'function';
}

/**
 * A propagator as an application may bring one: W3C trace context, but with the headers of its plan.
 *
 * Owns what it has read of messages. Leaves to the host what of its headers travels.
 */
import {
  type Context,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
  trace,
} from '@opentelemetry/api';
import type { PropagatorPlan } from '../plan.ts';

/** What came with one message. */
export interface CarriedHeaders {
  readonly traceparent: string;
  readonly tracestate: string;
}

export class PlannedPropagator implements TextMapPropagator {
  readonly read: CarriedHeaders[] = [];
  readonly #plan: PropagatorPlan;

  constructor(plan: PropagatorPlan) {
    this.#plan = plan;
  }

  inject(context: Context, carrier: unknown, setter: TextMapSetter): void {
    const span = trace.getSpanContext(context);
    if (span === undefined) return;
    const { traceparent = `00-${span.traceId}-${span.spanId}-01`, tracestate = '' } = this.#plan;
    setter.set(carrier, 'traceparent', traceparent);
    if (tracestate !== '') setter.set(carrier, 'tracestate', tracestate);
  }

  extract(context: Context, carrier: unknown, getter: TextMapGetter): Context {
    const textOf = (name: string): string => String(getter.get(carrier, name) ?? '');
    const traceparent = textOf('traceparent');
    this.read.push({ traceparent, tracestate: textOf('tracestate') });
    const [, traceId = '', spanId = ''] = traceparent.split('-');
    return trace.setSpanContext(context, { traceId, spanId, traceFlags: 1, isRemote: true });
  }

  fields(): string[] {
    return ['traceparent', 'tracestate'];
  }
}

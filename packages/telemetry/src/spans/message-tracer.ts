/**
 * Spans of messages with a tracer of OpenTelemetry (TRACE-024, TRACE-025).
 *
 * Owns names, kinds and parents. Leaves when a span begins and ends to calls and dispatches.
 *
 * 1. A handler's span hangs on the sender's and on nothing else: what was active when its record was read is somebody
 *    else's.
 * 2. A call's span hangs on what the application has active, else on the handler that the call belongs to (TRACE-026).
 * 3. Without a span the sender's context goes on.
 */
import {
  context,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind as ApiSpanKind,
  type SpanOptions,
  type TextMapPropagator,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { MessageFields, MessageSpan, SpanKind, SpanTracer, TraceContext } from '@zlink/kernel/observe';
import { type TelemetryFailure, watched } from '../failure.ts';
import { CarriedContexts } from './carried-context.ts';
import { OpenSpan, type SpanParts } from './open-span.ts';
import { spanAttributes } from './span-attributes.ts';

const VERBS = { producer: 'send', client: 'request', consumer: 'process', server: 'process' } as const;

const KINDS = {
  producer: ApiSpanKind.PRODUCER,
  client: ApiSpanKind.CLIENT,
  consumer: ApiSpanKind.CONSUMER,
  server: ApiSpanKind.SERVER,
} as const;

export class MessageTracer implements SpanTracer {
  readonly #tracer: Tracer;
  readonly #parts: SpanParts;

  constructor(tracer: Tracer, propagator: TextMapPropagator, failed: TelemetryFailure) {
    this.#tracer = tracer;
    this.#parts = { carried: new CarriedContexts(propagator, failed), failed };
  }

  start(kind: SpanKind, packetName: string, parent: TraceContext | undefined, fields: MessageFields): MessageSpan {
    try {
      const base = kind === 'consumer' || kind === 'server' ? this.#ofSender(parent) : this.#ofCaller(parent);
      const attributes = spanAttributes(fields);
      const span = this.#startSpan(`${VERBS[kind]} ${packetName}`, { kind: KINDS[kind], attributes }, base);
      return new OpenSpan(span, base, attributes, this.#parts);
    } catch (thrown) {
      this.#parts.failed('tracer', thrown);
      return new NoSpan(parent); // 3
    }
  }

  /** @throws what the tracer throws, and an error if it gives no span */
  #startSpan(name: string, options: SpanOptions, base: Context): Span {
    const span: Partial<Span> | null | undefined = this.#tracer.startSpan(name, options, base);
    watched(span, 'tracer', this.#parts.failed);
    if (typeof span?.end !== 'function') throw new TypeError(`startSpan gave ${typeof span}, which is no span`);
    return span as Span; // what can end is one
  }

  #ofSender(parent: TraceContext | undefined): Context {
    return this.#parts.carried.extract(ROOT_CONTEXT, parent); // 1
  }

  #ofCaller(parent: TraceContext | undefined): Context {
    const { carried, failed } = this.#parts;
    const active = watched(context.active(), 'context', failed);
    const activeSpan = watched(trace.getSpanContext(active), 'span', failed);
    return activeSpan === undefined ? carried.extract(active, parent) : active; // 2
  }
}

class NoSpan implements MessageSpan {
  readonly context: TraceContext | undefined;

  constructor(parent: TraceContext | undefined) {
    this.context = parent;
  }

  run<R>(work: () => R): R {
    return work();
  }

  end(): void {}
}

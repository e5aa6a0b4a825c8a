/**
 * The span of one message.
 *
 * 1. It ends once; what is told later changes nothing.
 * 2. Whatever span and context throw, and however often and whenever a context manager calls its function, the handler
 *    runs exactly once and within `run`, and only its own error goes out.
 * 3. The context to send is made when it is asked for: most handlers send nothing on.
 * 4. What was known when it began stays: a request span is one of a request, whatever the last record is about.
 */
import {
  type Attributes,
  type AttributeValue,
  context,
  type Context,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { MessageFields, MessageSpan, TraceContext } from '@zlink/kernel/observe';
import { type TelemetryFailure, watched } from '../failure.ts';
import type { CarriedContexts } from './carried-context.ts';
import { SingleRun } from './single-run.ts';
import { spanAttributes } from './span-attributes.ts';

/** What all spans of a host share. */
export interface SpanParts {
  readonly carried: CarriedContexts;
  readonly failed: TelemetryFailure;
}

export class OpenSpan implements MessageSpan {
  readonly #span: Span;
  readonly #context: Context;
  readonly #known: Attributes;
  readonly #parts: SpanParts;
  #carried: TraceContext | undefined;
  #isInjected = false;
  #isOver = false;

  /** @param known - its attributes so far */
  constructor(span: Span, base: Context, known: Attributes, parts: SpanParts) {
    this.#span = span;
    this.#known = known;
    this.#parts = parts;
    this.#context = this.#contextIn(base);
  }

  get context(): TraceContext | undefined {
    if (this.#isInjected) return this.#carried;
    this.#isInjected = true;
    return (this.#carried = this.#parts.carried.inject(this.#context)); // 3
  }

  run<R>(work: () => R): R {
    const single = new SingleRun(work);
    const { failed } = this.#parts;
    try {
      watched<unknown>(
        context.with(this.#context, () => single.run()),
        'context',
        failed,
      );
      if (!single.hasBegun) failed('context', new Error('the context manager has not called its function'));
    } catch (thrown) {
      failed('context', thrown); // 2
    }
    single.run();
    return single.result;
  }

  end(fields: MessageFields, errorKind: string | undefined): void {
    if (this.#isOver) return; // 1
    this.#isOver = true;
    const { failed } = this.#parts;
    const span = this.#span;
    try {
      if (watched(span.isRecording(), 'span', failed)) this.#complete(fields, errorKind);
    } catch (thrown) {
      failed('span', thrown);
    }
    try {
      watched<unknown>(span.end(), 'span', failed);
    } catch (thrown) {
      failed('span', thrown);
    }
  }

  #complete(fields: MessageFields, errorKind: string | undefined): void {
    for (const [name, value] of Object.entries(spanAttributes(fields))) {
      if (value !== undefined && !(name in this.#known)) this.#setAttribute(name, value); // 4
    }
    if (errorKind === undefined) return;
    this.#setAttribute('error.type', errorKind);
    watched(this.#span.setStatus({ code: SpanStatusCode.ERROR }), 'span', this.#parts.failed);
  }

  #setAttribute(name: string, value: AttributeValue): void {
    watched(this.#span.setAttribute(name, value), 'span', this.#parts.failed);
  }

  /** Without the span if the context takes none: it is there, and has to end. */
  #contextIn(base: Context): Context {
    try {
      return trace.setSpan(base, this.#span);
    } catch (thrown) {
      this.#parts.failed('context', thrown);
      return base;
    }
  }
}

/**
 * The span of one message.
 *
 * 1. It ends once; what is told later changes nothing.
 * 2. Whatever span and context throw, the handler runs exactly once, and only its own error goes out.
 * 3. The context to send is made when it is asked for: most handlers send nothing on.
 * 4. What was known when it began stays: a request span is one of a request, whatever the last record is about.
 */
import { type Attributes, context, type Context, type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import type { MessageFields, MessageSpan, TraceContext } from '@zlink/kernel/observe';
import type { TelemetryFailure } from '../failure.ts';
import type { CarriedContexts } from './carried-context.ts';
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
    this.#context = trace.setSpan(base, span);
    this.#known = known;
    this.#parts = parts;
  }

  get context(): TraceContext | undefined {
    if (this.#isInjected) return this.#carried;
    this.#isInjected = true;
    return (this.#carried = this.#parts.carried.inject(this.#context)); // 3
  }

  run<R>(work: () => R): R {
    let outcome: Outcome<R> | undefined;
    try {
      context.with(this.#context, () => {
        outcome = outcomeOf(work);
      });
    } catch (thrown) {
      this.#parts.failed('context', thrown); // 2
    }
    outcome ??= outcomeOf(work);
    if (outcome.hasThrown) throw outcome.thrown;
    return outcome.value;
  }

  end(fields: MessageFields, errorKind: string | undefined): void {
    if (this.#isOver) return; // 1
    this.#isOver = true;
    const span = this.#span;
    try {
      if (span.isRecording()) this.#complete(fields, errorKind);
    } catch (thrown) {
      this.#parts.failed('span', thrown);
    }
    try {
      span.end();
    } catch (thrown) {
      this.#parts.failed('span', thrown);
    }
  }

  #complete(fields: MessageFields, errorKind: string | undefined): void {
    const span = this.#span;
    for (const [name, value] of Object.entries(spanAttributes(fields))) {
      if (value !== undefined && !(name in this.#known)) span.setAttribute(name, value); // 4
    }
    if (errorKind === undefined) return;
    span.setAttribute('error.type', errorKind);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
}

type Outcome<R> =
  { readonly hasThrown: false; readonly value: R } | { readonly hasThrown: true; readonly thrown: unknown };

function outcomeOf<R>(work: () => R): Outcome<R> {
  try {
    return { hasThrown: false, value: work() };
  } catch (thrown) {
    return { hasThrown: true, thrown };
  }
}

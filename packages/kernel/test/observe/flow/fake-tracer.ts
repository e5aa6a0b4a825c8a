/** A tracer that keeps what it was told, and gives each span a context of its own. */
import {
  type MessageFields,
  type MessageSpan,
  type SpanKind,
  type SpanTracer,
  TraceContext,
} from '../../../src/observe/index.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';

export class FakeSpan implements MessageSpan {
  readonly context: TraceContext | undefined;
  readonly kind: SpanKind;
  readonly packetName: string;
  readonly parent: string | undefined;
  readonly fields: MessageFields;
  readonly ends: { readonly fields: MessageFields; readonly errorKind: string | undefined }[] = [];
  readonly #tracer: FakeTracer;

  constructor(
    tracer: FakeTracer,
    kind: SpanKind,
    packetName: string,
    parent: string | undefined,
    fields: MessageFields,
  ) {
    this.#tracer = tracer;
    this.kind = kind;
    this.packetName = packetName;
    this.parent = parent;
    this.fields = fields;
    this.context = TraceContext.fromTexts(this.traceParent, 'a=b');
  }

  /** Numbered from 1 on. */
  get traceParent(): string {
    const number = this.#tracer.spans.indexOf(this) + 1 || this.#tracer.spans.length + 1;
    return `00-${TRACE_ID}-${number.toString(16).padStart(16, '0')}-01`;
  }

  run<R>(work: () => R): R {
    const before = this.#tracer.active;
    this.#tracer.active = this;
    try {
      return work();
    } finally {
      this.#tracer.active = before;
    }
  }

  end(fields: MessageFields, errorKind: string | undefined): void {
    this.ends.push({ fields, errorKind });
  }
}

export class FakeTracer implements SpanTracer {
  readonly spans: FakeSpan[] = [];
  active: FakeSpan | undefined;

  start(kind: SpanKind, packetName: string, parent: TraceContext | undefined, fields: MessageFields): MessageSpan {
    const span = new FakeSpan(this, kind, packetName, parent?.traceParent, fields);
    this.spans.push(span);
    return span;
  }
}

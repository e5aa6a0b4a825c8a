import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  propagation,
  ROOT_CONTEXT,
  SpanKind as ApiSpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type MessageFields, type SpanTracer, TraceContext } from '@zlink/kernel/observe';
import { createTelemetry } from '@zlink/telemetry';
import { SCOPE_VERSION } from '../src/scope.ts';
import { LogLines } from './log-lines.ts';

const FIELDS: MessageFields = {
  surface: 'channel',
  channel_name: 'billing',
  message_kind: 'request',
  packet_name: 'charge',
  flow_id: '0190a5b0-0000-7000-8000-000000000000',
};
const PARENT = TraceContext.fromTexts(`00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`, 'vendor=x')!;

const manager = new AsyncLocalStorageContextManager();

function exported(): { readonly exporter: InMemorySpanExporter; readonly provider: BasicTracerProvider } {
  const exporter = new InMemorySpanExporter();
  return { exporter, provider: new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }) };
}

interface Traced {
  readonly tracer: SpanTracer;
  readonly provider: TracerProvider;
  readonly log: LogLines;
  readonly spans: () => readonly ReadableSpan[];
}

function traced(propagator?: TextMapPropagator): Traced {
  const { exporter, provider } = exported();
  const log = new LogLines();
  const options = { tracerProvider: provider, ...(propagator === undefined ? {} : { propagator }) };
  const { tracer } = createTelemetry(options, log);
  return { tracer: tracer!, provider, log, spans: () => exporter.getFinishedSpans() };
}

afterEach(() => {
  context.disable();
  propagation.disable();
  trace.disable();
});

test('[TRACE-025] each kind of span has its name, its kind and the fields of records; it ends once', () => {
  const { tracer, spans, log } = traced();
  for (const kind of ['producer', 'client', 'consumer', 'server'] as const) {
    const span = tracer.start(kind, 'charge', undefined, FIELDS);
    span.end({ ...FIELDS, message_kind: 'response', outcome: 'succeeded' }, undefined);
    span.end({ ...FIELDS, outcome: 'failed' }, 'Unavailable');
  }
  const attributes = {
    'zlink.surface': 'channel',
    'zlink.channel_name': 'billing',
    'zlink.message_kind': 'request',
    'zlink.packet_name': 'charge',
    'zlink.flow_id': FIELDS.flow_id,
    'zlink.outcome': 'succeeded',
  };
  expect(spans().map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
    ['send charge', ApiSpanKind.PRODUCER, SpanStatusCode.UNSET],
    ['request charge', ApiSpanKind.CLIENT, SpanStatusCode.UNSET],
    ['process charge', ApiSpanKind.CONSUMER, SpanStatusCode.UNSET],
    ['process charge', ApiSpanKind.SERVER, SpanStatusCode.UNSET],
  ]);
  for (const span of spans()) expect(span.attributes).toEqual(attributes);
  expect(spans()[0]!.instrumentationScope).toMatchObject({ name: 'zlink.framework', version: SCOPE_VERSION });
  expect(log.records).toEqual([]);
});

test('[TRACE-025] a failure sets status ERROR and error.type', () => {
  const { tracer, spans } = traced();
  tracer.start('client', 'charge', undefined, FIELDS).end({ ...FIELDS, outcome: 'failed' }, 'DeadlineExceeded');
  const [span] = spans();
  expect(span!.status.code).toBe(SpanStatusCode.ERROR);
  expect(span!.attributes).toMatchObject({ 'error.type': 'DeadlineExceeded', 'zlink.outcome': 'failed' });
});

test.each([
  ['none registered', undefined],
  ['W3C trace context', new W3CTraceContextPropagator()],
  [
    'a composite one',
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  ],
])(
  '[TRACE-023] [TRACE-025] the handler is a child of its sender, tracestate included; propagator: %s',
  (_, propagator) => {
    const { tracer, spans, log } = traced(propagator);
    const sent = tracer.start('producer', 'note', PARENT, FIELDS);
    const carried = sent.context!;
    const handled = tracer.start('consumer', 'note', carried, FIELDS);
    handled.end(FIELDS, undefined);
    sent.end(FIELDS, undefined);
    const [consumer, producer] = spans();
    const traceId = 'a1'.repeat(16);
    expect(producer!.spanContext().traceId).toBe(traceId);
    expect(producer!.parentSpanContext).toMatchObject({ spanId: 'b2'.repeat(8), isRemote: true });
    expect(carried.traceParent).toBe(`00-${traceId}-${producer!.spanContext().spanId}-01`);
    expect(carried.traceState).toBe('vendor=x');
    expect(consumer!.spanContext().traceId).toBe(traceId);
    expect(consumer!.parentSpanContext).toMatchObject({ spanId: producer!.spanContext().spanId, isRemote: true });
    expect(consumer!.spanContext().traceState?.serialize()).toBe('vendor=x');
    expect(log.records).toEqual([]);
  },
);

test('[TRACE-025] a span that is not sampled is sent on as such, and its children are not sampled', () => {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const provider = new BasicTracerProvider({ sampler: new AlwaysOffSampler(), spanProcessors });
  const { tracer } = createTelemetry({ tracerProvider: provider }, new LogLines());
  const span = tracer!.start('client', 'charge', undefined, FIELDS);
  expect(span.context!.traceParent).toMatch(/-00$/);
  span.end(FIELDS, 'Unavailable');
  expect(exporter.getFinishedSpans()).toEqual([]);
});

test('[TRACE-024] the handler and what it awaits run in the context of its span; afterwards the previous one is back', async () => {
  context.setGlobalContextManager(manager);
  const { tracer, spans } = traced();
  const mark = ROOT_CONTEXT.setValue(Symbol.for('mark'), 'mine');
  const activeSpanId = (): string | undefined => trace.getSpanContext(context.active())?.spanId;
  await context.with(mark, async () => {
    const span = tracer.start('server', 'charge', PARENT, FIELDS);
    const seen: (string | undefined)[] = [];
    const result = span.run(async () => {
      seen.push(activeSpanId());
      await Promise.resolve();
      seen.push(activeSpanId());
      return 'result';
    });
    expect(context.active()).toBe(mark);
    expect(await result).toBe('result');
    expect(context.active()).toBe(mark);
    span.end(FIELDS, undefined);
    const { spanId } = spans()[0]!.spanContext();
    expect(seen).toEqual([spanId, spanId]);
  });
});

test('[TRACE-024] a handler does not hang on what happens to be active when its message is read', () => {
  context.setGlobalContextManager(manager);
  const { tracer, spans, provider } = traced();
  const other = provider.getTracer('application').startSpan('other');
  context.with(trace.setSpan(ROOT_CONTEXT, other), () => {
    tracer.start('server', 'charge', undefined, FIELDS).end(FIELDS, undefined);
    tracer.start('server', 'charge', PARENT, FIELDS).end(FIELDS, undefined);
  });
  expect(spans().map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([undefined, 'b2'.repeat(8)]);
});

test('[TRACE-026] a call hangs on the active span of the application, else on the handler it belongs to', () => {
  context.setGlobalContextManager(manager);
  const { tracer, spans, provider } = traced();
  const active = provider.getTracer('application').startSpan('checkout');
  const call = (): void => tracer.start('client', 'charge', PARENT, FIELDS).end(FIELDS, undefined);
  context.with(trace.setSpan(ROOT_CONTEXT, active), call);
  call();
  tracer.start('client', 'charge', undefined, FIELDS).end(FIELDS, undefined);
  expect(spans().map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual([
    active.spanContext().spanId,
    'b2'.repeat(8),
    undefined,
  ]);
});

test('[TRACE-025] providers of the process are used, those that are there at the start; without one there is no tracer', () => {
  const early = createTelemetry({}, new LogLines());
  expect(early.tracer).toBeUndefined();
  const { exporter, provider } = exported();
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  const { tracer } = createTelemetry({}, new LogLines());
  const span = tracer!.start('client', 'charge', undefined, FIELDS);
  span.end(FIELDS, undefined);
  const [finished] = exporter.getFinishedSpans();
  expect(finished!.name).toBe('request charge');
  expect(span.context!.traceParent).toContain(finished!.spanContext().spanId);
});

test('[TRACE-023] what a propagator writes wrongly, or beside W3C, is not sent', () => {
  const writing = (key: string, value: string): TextMapPropagator => ({
    inject: (_context, carrier, setter) => setter.set(carrier, key, value),
    extract: (base: Context) => base,
    fields: () => [key],
  });
  for (const [key, value] of [
    ['traceparent', 'nonsense'],
    ['b3', '1-2-3'],
    ['baggage', 'secret=1'],
  ] as const) {
    const { tracer } = traced(writing(key, value));
    const span = tracer.start('producer', 'note', undefined, FIELDS);
    expect(span.context).toBeUndefined();
    span.end(FIELDS, undefined);
  }
});

test('[METRIC-004] [TRACE-025] whatever throws, the handler runs once, only its own error goes out, and it is logged', () => {
  const fail = (what: string) => (): never => {
    throw new Error(`no ${what}`);
  };
  const brokenSpan = { isRecording: fail('span'), end: fail('span'), spanContext: () => INVALID_SPAN_CONTEXT };
  const tracerProvider = (startSpan: () => unknown): TracerProvider =>
    ({ getTracer: () => ({ startSpan, startActiveSpan: startSpan }) }) as unknown as TracerProvider; // what is used of one
  const cases: [where: string, provider: TracerProvider, propagator?: TextMapPropagator][] = [
    ['tracer', { getTracer: fail('tracer') }],
    ['tracer', tracerProvider(fail('tracer'))],
    ['span', tracerProvider(() => brokenSpan)],
    ['propagator', exported().provider, { inject: fail('propagator'), extract: fail('propagator'), fields: () => [] }],
  ];
  for (const [where, provider, propagator] of cases) {
    const log = new LogLines();
    const { tracer } = createTelemetry({ tracerProvider: provider, ...(propagator && { propagator }) }, log);
    for (const kind of ['client', 'server'] as const) {
      const span = tracer?.start(kind, 'charge', PARENT, FIELDS);
      let runs = 0;
      expect(span?.run(() => ++runs) ?? 1).toBe(1);
      const own = new Error('own');
      if (span !== undefined)
        expect(() =>
          span.run(() => {
            throw own;
          }),
        ).toThrow(own);
      expect(() => span?.context).not.toThrow();
      expect(() => span?.end(FIELDS, 'InternalFailure')).not.toThrow();
    }
    expect([where, log.records[0]]).toEqual([
      where,
      { eventId: 'zlink.runtime.telemetry_failed', where, error: `no ${where}` },
    ]);
  }
});

test.each<[what: string, key: 'traceparent' | 'tracestate', value: unknown]>([
  ['an array', 'tracestate', ['a=b']],
  ['an object', 'tracestate', { length: 3, toString: () => 'a=b' }],
  ['null', 'tracestate', null],
  ['an array', 'traceparent', [PARENT.traceParent]],
  ['a number', 'traceparent', 5],
])('[METRIC-004] [TRACE-023] a propagator that writes %s as %s is reported, and nothing is sent', (_, key, value) => {
  const inject: TextMapPropagator['inject'] = (_context, carrier, setter) => {
    setter.set(carrier, 'traceparent', PARENT.traceParent);
    setter.set(carrier, key, value as string);
  };
  const { tracer, log } = traced({ inject, extract: (base) => base, fields: () => [key] });
  expect(tracer.start('client', 'charge', undefined, FIELDS).context).toBeUndefined();
  const error = `TypeError: inject wrote ${typeof value} as ${key}, not a string`;
  expect(log.records).toEqual([{ eventId: 'zlink.runtime.telemetry_failed', where: 'propagator', error }]);
});

test.each<[what: string, value: unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['an empty object', {}],
])('[METRIC-004] [TRACE-025] a propagator that extracts %s leaves no span open, and is reported', (_, value) => {
  const { tracer, spans, log } = traced({ inject: () => {}, extract: () => value as Context, fields: () => [] });
  const span = tracer.start('server', 'charge', PARENT, FIELDS);
  expect(span.run(() => 7)).toBe(7);
  span.end(FIELDS, undefined);
  expect(spans().map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined]);
  const error = `TypeError: extract gave ${typeof value}, which is no context`;
  expect(log.records).toEqual([{ eventId: 'zlink.runtime.telemetry_failed', where: 'propagator', error }]);
});

test('[METRIC-004] [TRACE-025] a span whose context takes none ends, too', () => {
  const withoutSetter = { getValue: () => undefined } as unknown as Context; // a context manager may give anything
  context.setGlobalContextManager({
    active: () => withoutSetter,
    with: (_context, work, thisArg, ...args) => work.call(thisArg, ...args),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  });
  let ends = 0;
  const startSpan = (): object => ({ isRecording: () => false, end: () => void ends++ });
  const tracerProvider = { getTracer: () => ({ startSpan }) } as unknown as TracerProvider; // what is used of one
  const log = new LogLines();
  const { tracer } = createTelemetry({ tracerProvider }, log);
  tracer!.start('client', 'charge', undefined, FIELDS).end(FIELDS, undefined);
  expect(ends).toBe(1);
  expect(log.records).toMatchObject([{ where: 'context' }]);
});

test('[METRIC-004] [TRACE-025] what a provider, propagator or context manager rejects with is reported, and ends no process', async () => {
  const reject = (what: string) => (): Promise<never> => Promise.reject(new Error(`no ${what}`));
  const ended = { isRecording: () => true, setAttribute: () => {}, setStatus: () => {}, end: () => {} };
  const giving = (span: object): TracerProvider =>
    ({ getTracer: () => ({ startSpan: () => span }) }) as unknown as TracerProvider; // what is used of one
  const broken = (part: object): TracerProvider =>
    giving({ ...ended, spanContext: () => INVALID_SPAN_CONTEXT, ...part });
  const propagating = (part: object): TextMapPropagator => ({
    inject: () => {},
    extract: (base) => base,
    fields: () => [],
    ...part,
  });
  const cases: [what: string, where: string, provider: TracerProvider, propagator?: TextMapPropagator][] = [
    ['getTracer', 'tracer', { getTracer: reject('getTracer') } as unknown as TracerProvider], // async, as it may be
    ['startSpan', 'tracer', { getTracer: () => ({ startSpan: reject('startSpan') }) } as unknown as TracerProvider],
    ...['isRecording', 'setAttribute', 'setStatus', 'end', 'spanContext'].map((name): (typeof cases)[number] => [
      name,
      'span',
      broken({ [name]: reject(name) }),
    ]),
    ...['inject', 'extract'].map((name): (typeof cases)[number] => [
      name,
      'propagator',
      broken({}),
      propagating({ [name]: reject(name) }),
    ]),
  ];
  for (const [what, where, provider, propagator] of cases) {
    const log = new LogLines();
    const { tracer } = createTelemetry({ tracerProvider: provider, ...(propagator && { propagator }) }, log);
    const span = tracer!.start('server', 'charge', PARENT, FIELDS);
    expect([what, span.run(() => 1)]).toEqual([what, 1]);
    void span.context;
    span.end({ ...FIELDS, outcome: 'failed' }, 'InternalFailure');
    await new Promise(setImmediate);
    const reported = { eventId: 'zlink.runtime.telemetry_failed', where, error: `no ${what}` };
    expect(log.records).toContainEqual(reported);
  }
});

test('[TRACE-025] a tracer that fails lets the context of the sender through', () => {
  const provider = {
    getTracer: () => ({
      startSpan: () => {
        throw new Error('no span');
      },
    }),
  } as unknown as TracerProvider; // what is used of one
  const { tracer } = createTelemetry({ tracerProvider: provider }, new LogLines());
  expect(tracer!.start('server', 'charge', PARENT, FIELDS).context).toBe(PARENT);
});

type Callback = () => void;

test.each<[what: string, how: (call: Callback, later: Callback[]) => unknown, reported: readonly string[]]>([
  [
    'throws before it calls its function',
    () => {
      throw new Error('no context');
    },
    ['no context'],
  ],
  [
    'throws after it has called its function',
    (call) => {
      call();
      throw new Error('no context');
    },
    ['no context'],
  ],
  [
    'calls its function twice',
    (call) => {
      call();
      call();
    },
    [],
  ],
  [
    'calls its function later',
    (call, later) => void later.push(call),
    ['the context manager has not called its function'],
  ],
  ['never calls its function', () => {}, ['the context manager has not called its function']],
  ['calls its function while it runs', (call, later) => (later.push(call), call()), []],
  [
    'rejects',
    async (call) => {
      call();
      throw new Error('no context');
    },
    ['no context'],
  ],
])('[TRACE-024] a context manager that %s changes nothing: the handler runs once', async (_, how, reported) => {
  const later: Callback[] = [];
  context.setGlobalContextManager({
    active: () => ROOT_CONTEXT,
    with: (_context, work, thisArg, ...args) => how(() => void work.call(thisArg, ...args), later) as never,
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  });
  const { tracer, log } = traced();
  const span = tracer.start('server', 'charge', PARENT, FIELDS);
  let runs = 0;
  const handler = (): number => {
    runs++;
    later[0]?.();
    return 7;
  };
  expect(span.run(handler)).toBe(7);
  for (const call of later) call();
  await new Promise(setImmediate);
  expect(runs).toBe(1);
  expect(log.records.map((record) => (record as { readonly error?: unknown }).error)).toEqual(reported);
  span.end(FIELDS, undefined);
});

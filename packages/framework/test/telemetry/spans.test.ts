/** TRACE-024 to TRACE-026 at the public surface: hosts over real sockets, tracer providers of the SDK. */
import { context, propagation, SpanKind, SpanStatusCode, trace, type TracerProvider } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { ChannelContext, DiagnosticsLevel, Host, HostOptions, RequestHandler } from '@zlink/framework';
import { until } from '@zlink/testing';
import { makeHost } from '../hosts.ts';
import { LogRecorder } from '../log-recorder.ts';
import { rejection } from '../outcome.ts';
import { Ask, Notice } from '../packets.ts';

class Spans {
  readonly #exporter = new InMemorySpanExporter();
  readonly provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] });

  /** Waits until it has ended. */
  async ended(name: string): Promise<ReadableSpan> {
    const find = (): ReadableSpan | undefined => this.all().find((span) => span.name === name);
    await until(() => find() !== undefined, `span ${name} has ended`);
    return find()!; // the line above has seen it
  }

  all(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  options(level: DiagnosticsLevel = 'normal'): HostOptions {
    return { diagnostics: { level }, telemetry: { tracerProvider: this.provider } };
  }
}

afterEach(() => {
  context.disable();
  propagation.disable();
  trace.disable();
});

type AskHandler = RequestHandler<unknown, unknown, ChannelContext>;

async function startServer(channelName: string, options: HostOptions, answer: AskHandler): Promise<Host> {
  const host = makeHost(options);
  host
    .addClientServerChannel(channelName)
    .server()
    .addRequestHandler(Ask, answer)
    .addSendHandler(Notice, () => {});
  await host.start();
  return host;
}

/** Calls the servers of these hosts. */
async function startCaller(
  options: HostOptions,
  ...servers: readonly [channelName: string, host: Host][]
): Promise<Host> {
  const caller = makeHost(options);
  for (const [channelName, host] of servers) {
    caller.addClientServerChannel(channelName).client().connect(host.clientServerChannel(channelName).endpoint!);
  }
  await caller.start();
  for (const [channelName] of servers) await caller.clientServerChannel(channelName).whenReady(1);
  return caller;
}

/** A caller, a middle that asks on in its handler, and a last one; each host with spans of its own. */
async function startChain(level: DiagnosticsLevel, join: 'flow' | 'signal' | 'neither') {
  const [callerSpans, middleSpans, lastSpans] = [new Spans(), new Spans(), new Spans()];
  const last = await startServer('last', lastSpans.options(level), () => 'done');
  const onward = await startCaller(middleSpans.options(level), ['last', last]);
  const middle = await startServer('middle', middleSpans.options(level), async (asked, handled) => {
    await Promise.resolve(); // what is awaited before changes nothing
    const call = onward.routeClient.requestToChannel('last', Ask(asked));
    if (join === 'flow') call.flow(handled.flow);
    return call.submit(join === 'signal' ? handled.signal : undefined);
  });
  const caller = await startCaller(callerSpans.options(level), ['middle', middle]);
  const ask = (): Promise<unknown> => caller.routeClient.requestToChannel('middle', Ask(1)).submit();
  return { callerSpans, middleSpans, lastSpans, ask };
}

test.each(['flow', 'signal', 'neither'] as const)(
  '[TRACE-023] [TRACE-024] [TRACE-025] application span, request, handler and what it calls are one trace over three hosts; joined by: context and %s',
  async (join) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    const { callerSpans, middleSpans, lastSpans, ask } = await startChain('normal', join);
    const span = callerSpans.provider.getTracer('shop').startSpan('checkout');
    expect(await context.with(trace.setSpan(context.active(), span), ask)).toBe('done');
    span.end();

    const chain = [
      span.spanContext(),
      await callerSpans.ended('request billing.ask'),
      await middleSpans.ended('process billing.ask'),
      await middleSpans.ended('request billing.ask'),
      await lastSpans.ended('process billing.ask'),
    ] as const;
    const [, ...framework] = chain;
    expect(framework.map(({ kind }) => kind)).toEqual([
      SpanKind.CLIENT,
      SpanKind.SERVER,
      SpanKind.CLIENT,
      SpanKind.SERVER,
    ]);
    const ids = framework.map((one) => one.spanContext().spanId);
    const { traceId, spanId } = span.spanContext();
    expect(framework.map((one) => one.spanContext().traceId)).toEqual(framework.map(() => traceId));
    expect(framework.map((one) => one.parentSpanContext?.spanId)).toEqual([spanId, ...ids.slice(0, -1)]);
    expect(framework.map((one) => one.attributes['zlink.outcome'])).toEqual(framework.map(() => 'succeeded'));
  },
);

test.each([
  ['flow', 1],
  ['signal', 1],
  ['neither', 2],
] as const)(
  '[TRACE-026] without a context manager a call joins its handler by %s: %d trace(s)',
  async (join, traces) => {
    const { callerSpans, middleSpans, lastSpans, ask } = await startChain('normal', join);
    expect(await ask()).toBe('done');
    await lastSpans.ended('process billing.ask');
    await middleSpans.ended('process billing.ask');
    const all = [callerSpans, middleSpans, lastSpans].flatMap((spans) => spans.all());
    expect(all).toHaveLength(4);
    expect(new Set(all.map((one) => one.spanContext().traceId)).size).toBe(traces);
  },
);

test.each(['off', 'errors'] as const)(
  '[TRACE-026] [TRACE-010] at %s there are no spans, and handlers run in no context',
  async (level) => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager());
    const spans = new Spans();
    let active: unknown;
    const server = await startServer(
      'last',
      spans.options(level),
      () => (active = trace.getSpan(context.active()) ?? 'none'),
    );
    const caller = await startCaller(spans.options(level), ['last', server]);
    expect(await caller.routeClient.requestToChannel('last', Ask(1)).submit()).toBe('none');
    expect(active).toBe('none');
    expect(spans.all()).toEqual([]);
  },
);

test('[TRACE-025] one-way messages: PRODUCER, and CONSUMER as its child', async () => {
  const spans = new Spans();
  const server = await startServer('last', spans.options(), () => 1);
  const caller = await startCaller(spans.options(), ['last', server]);
  await caller.routeClient.sendToChannel('last', Notice(1)).submit();
  const consumer = await spans.ended('process system.notice');
  const producer = await spans.ended('send system.notice');
  expect([producer.kind, consumer.kind]).toEqual([SpanKind.PRODUCER, SpanKind.CONSUMER]);
  expect(consumer.parentSpanContext?.spanId).toBe(producer.spanContext().spanId);
  expect(producer.attributes).toMatchObject({
    'zlink.surface': 'channel',
    'zlink.channel_name': 'last',
    'zlink.channel_route_kind': 'client_server',
    'zlink.message_kind': 'send',
    'zlink.packet_name': 'system.notice',
  });
});

test('[TRACE-025] a failed handler: status ERROR and error.type at both ends', async () => {
  const spans = new Spans();
  const server = await startServer('last', { ...spans.options(), onUnhandled: () => {} }, () => {
    throw new Error('out of order');
  });
  const caller = await startCaller(spans.options(), ['last', server]);
  await rejection(caller.routeClient.requestToChannel('last', Ask(1)).submit());
  for (const name of ['process billing.ask', 'request billing.ask']) {
    const span = await spans.ended(name);
    expect([name, span.status.code, span.attributes['error.type']]).toEqual([
      name,
      SpanStatusCode.ERROR,
      'InternalFailure',
    ]);
  }
});

test('[TRACE-025] [METRIC-004] a tracer provider that throws changes no result, and the log says so', async () => {
  const getTracer = (): never => {
    throw new Error('no tracer');
  };
  const startSpan = (): never => {
    throw new Error('no span');
  };
  for (const tracerProvider of [{ getTracer }, { getTracer: () => ({ startSpan }) }] as unknown as TracerProvider[]) {
    const logger = new LogRecorder();
    const options: HostOptions = { diagnostics: { level: 'normal' }, telemetry: { tracerProvider }, logger };
    const server = await startServer('last', options, (asked) => asked);
    const caller = await startCaller(options, ['last', server]);
    expect(await caller.routeClient.requestToChannel('last', Ask('same')).submit()).toBe('same');
    expect(logger.of('zlink.runtime.telemetry_failed')[0]).toMatchObject({ where: 'tracer' });
  }
});

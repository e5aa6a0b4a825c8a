import { RequestBuilder, type RequestCall, SendBuilder, type SendCall } from '../../src/call/index.ts';
import { ZLinkError } from '../../src/errors/index.ts';
import { setDeadline } from '../../src/internal/time/index.ts';
import { message, metadata, request, resolveOutbound, resolveRequest } from '../../src/message/index.ts';
import { CarriedFlow, errorText, type Flow, setFlow, TraceContext } from '../../src/observe/index.ts';
import { FlowSource } from '../../src/observe/flow/flow-source.ts';
import { FakeMeter } from './fake-meter.ts';
import { FakePath } from './fake-path.ts';
import { rejection } from './settlement.ts';

const Ask = request<number, number>('billing.charge');
const Tell = message<number>('system.notice');
const TRACE_PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const ask = (path: FakePath): RequestCall<unknown> => new RequestBuilder(path, resolveRequest(Ask(1), 'sendToChannel'));
const tell = (path: FakePath): SendCall => new SendBuilder(path, resolveOutbound(Tell(1)));

function pathAt(level: 'off' | 'errors' | 'normal' | 'detailed'): FakePath {
  const path = new FakePath();
  path.flow.flow.level = level;
  return path;
}

/** The flow of each record on the wire. */
function carried(path: FakePath): (CarriedFlow | undefined)[] {
  return path.link.records.map(({ trace }) => {
    if (trace === undefined) return undefined;
    const bytes = new Uint8Array(trace.byteLength);
    trace.writeInto(bytes, 0);
    return CarriedFlow.read(bytes, 0, bytes.length);
  });
}

function handlerSignal(flow: CarriedFlow): AbortSignal {
  const { signal } = new AbortController();
  setDeadline(signal, Infinity);
  setFlow(signal, flow);
  return signal;
}

test('[TRACE-022] a call outside of any callback begins a flow of origin application', async () => {
  const path = pathAt('errors');
  await tell(path).submit();
  await tell(path).submit();
  const [first, second] = carried(path);
  expect([first?.origin, second?.origin]).toEqual(['application', 'application']);
  expect(first?.id).not.toBe(second?.id);
});

test('[TRACE-022] [TRACE-026] a call that is given a flow, or a handler’s own signal, keeps it; a given one comes first', async () => {
  const path = pathAt('errors');
  const [given, joined] = [new FlowSource().begin('inbound'), new FlowSource().begin('inbound')];
  await tell(path).flow(given).submit();
  await tell(path).submit(handlerSignal(joined));
  await tell(path).flow(given).submit(handlerSignal(joined));
  await tell(path).flow(undefined).submit(handlerSignal(joined));
  await tell(path).submit(AbortSignal.any([handlerSignal(joined)])); // another signal, which carries nothing
  const ids = carried(path).map((flow) => flow?.id);
  expect(ids.slice(0, 4)).toEqual([given.id, joined.id, given.id, joined.id]);
  expect(ids).toHaveLength(5);
  expect([given.id, joined.id]).not.toContain(ids[4]);
});

test('[TRACE-026] what is no flow is refused, and a submitted call takes none', async () => {
  const path = pathAt('errors');
  const forged = { id: '01928f3e-6b7a-7000-8000-000000000000', origin: 'inbound' } as Flow;
  for (const call of [tell(path), ask(path)]) {
    expect(() => call.flow(forged)).toThrow('[InvalidOperation] flow: object is not the flow of a context');
  }
  const call = tell(path);
  await call.submit();
  expect(() => call.flow(undefined)).toThrow('[InvalidOperation]');
});

test('[TRACE-026] what inherits from a flow, or stands for one, is none', () => {
  const path = pathAt('errors');
  const flow = new FlowSource().begin('inbound');
  for (const forged of [
    Object.create(flow) as Flow,
    new Proxy(flow, {}),
    Object.create(CarriedFlow.prototype) as Flow,
    null as unknown as Flow, // of an application without types
  ]) {
    for (const call of [tell(path), ask(path)]) {
      expect(() => call.flow(forged)).toThrow(/^\[InvalidOperation\] flow: .+ is not the flow of a context$/);
    }
  }
});

const BAD_SIGNALS: readonly (readonly [what: string, signal: unknown])[] = [
  ['an object', {}],
  ['a text', 'x'],
  ['a number', 5],
  ['null', null],
  ['half a signal', { aborted: false }],
  ['half an aborted signal', { aborted: true, reason: undefined }],
  ['what inherits from the signals', Object.create(AbortSignal.prototype)],
];

test.each(BAD_SIGNALS)('[CALL-002] what is no signal is refused before anything begins: %s', async (_, value) => {
  const path = pathAt('normal');
  const meter = (path.meter = new FakeMeter());
  const signal = value as AbortSignal; // of an application without types
  for (const call of [tell(path), ask(path)]) {
    const { kind, message: text } = await rejection(call.submit(signal));
    expect(kind).toBe('InvalidOperation');
    expect(text).toMatch(/^\[InvalidOperation\] signal: .+ is not allowed, allowed: an AbortSignal$/);
  }
  expect([path.routed, path.tracer.spans, path.flow.phases, path.flow.errors]).toEqual([[], [], [], []]);
  expect([meter.started, meter.ended]).toEqual([0, []]);
  path.expectClean();
});

test('[CALL-002] a signal of another realm is one', async () => {
  const path = pathAt('errors');
  const { signal } = new AbortController();
  const foreign = {
    aborted: false,
    addEventListener: signal.addEventListener.bind(signal),
    removeEventListener: signal.removeEventListener.bind(signal),
  };
  const call = ask(path).submit(foreign as unknown as AbortSignal); // what is used of one
  path.link.reply('7');
  expect(await call).toBe(7);
  path.expectClean();
});

test('[CALL-004] a signal that takes no listener ends its call once, and nothing of it is left', async () => {
  const failure = new Error('no listener');
  const signal = {
    aborted: false,
    addEventListener: () => {
      throw failure;
    },
    removeEventListener: () => {},
  } as unknown as AbortSignal;
  const path = pathAt('normal');
  const meter = (path.meter = new FakeMeter());
  path.link.credit = 'none';
  await expect(ask(path).submit(signal)).rejects.toBe(failure);
  await expect(tell(path).submit(signal)).rejects.toBe(failure);
  expect([meter.started, meter.ended.length]).toEqual([1, 1]);
  expect(path.tracer.spans.map(({ ends }) => ends.length)).toEqual([1, 1]);
  path.expectClean();
});

test('[TRACE-010] at off no flow leaves, not even a given one', async () => {
  const path = pathAt('off');
  const flow = new FlowSource().begin('inbound');
  await tell(path).flow(flow).submit();
  void ask(path)
    .submit(handlerSignal(flow))
    .catch(() => undefined);
  expect(carried(path)).toEqual([undefined, undefined]);
  path.link.reply('1');
  expect([path.flow.phases, path.flow.errors, path.tracer.spans]).toEqual([[], [], []]);
});

test('[TRACE-002] [TRACE-020] a request is sent and its end received, under one correlation id', async () => {
  const path = pathAt('normal');
  const call = ask(path)
    .metadata(metadata({ a: 'b' }))
    .submit();
  path.link.reply('7');
  expect(await call).toBe(7);
  const [flow] = carried(path);
  const common = {
    eventId: 'zlink.message_flow',
    timestamp: '2026-01-02T03:04:05.678Z',
    surface: 'channel',
    channel_name: 'billing',
    channel_route_kind: 'client_server',
    source_rid: 'client-1',
    server_rid: 'server-1',
    endpoint: 'tcp://127.0.0.1:7200',
    packet_name: 'billing.charge',
    correlation_id: 'own-1',
    flow_id: flow?.id,
    flow_origin: 'application',
  };
  expect(path.flow.phases).toStrictEqual([
    { ...common, phase: 'sent', message_kind: 'request' },
    { ...common, phase: 'reply_received', message_kind: 'response', outcome: 'succeeded' },
  ]);
});

test.each<[end: string, kind: string, outcome: string, how: (path: FakePath, controller: AbortController) => void]>([
  ['an error reply', 'error', 'failed', ({ link }) => link.error('Rejected', 'no')],
  ['a reply that cannot be read', 'response', 'failed', ({ link }) => link.reply('{')],
  ['the end of its link', 'request', 'failed', ({ link }) => link.break()],
  ['the end of its time', 'request', 'failed', ({ clock }) => clock.advance(60_000)],
  ['an abort', 'request', 'cancelled', (_, controller) => controller.abort()],
])('[TRACE-002] a request ends with %s: message kind %s, outcome %s', async (_, kind, outcome, how) => {
  const path = pathAt('normal');
  const controller = new AbortController();
  const settled = ask(path)
    .submit(controller.signal)
    .catch(() => undefined);
  how(path, controller);
  await settled;
  expect(path.flow.phases.slice(1)).toMatchObject([{ phase: 'reply_received', message_kind: kind, outcome }]);
});

test('[TRACE-002] [TRACE-003] a wait for credit is backpressured at every level but off, and its end told', async () => {
  const path = pathAt('errors');
  path.link.credit = 'none';
  const timed = rejection(tell(path).submit());
  path.clock.advance(2_000);
  expect((await timed).kind).toBe('DeadlineExceeded');
  const refused = rejection(tell(path).submit());
  path.link.refuse(new ZLinkError('Unavailable', 'ended'));
  await refused;
  const late = rejection(tell(path).submit());
  path.link.refuse(new ZLinkError('ShuttingDown', 'ended'));
  await late;
  const controller = new AbortController();
  const aborted = tell(path)
    .submit(controller.signal)
    .catch(() => undefined);
  controller.abort();
  await aborted;
  const sent = tell(path).submit();
  path.link.admit();
  await sent;
  expect(path.flow.phases.map(({ phase, outcome, reason }) => [phase, outcome, reason])).toEqual([
    ['backpressured', 'backpressured', 'backpressure'],
    ['dropped', 'dropped', 'backpressure'],
    ['backpressured', 'backpressured', 'backpressure'],
    ['dropped', 'dropped', 'target_closed'],
    ['backpressured', 'backpressured', 'backpressure'],
    ['dropped', 'shutdown', 'shutdown'],
    ['backpressured', 'backpressured', 'backpressure'],
    ['dropped', 'cancelled', undefined],
    ['backpressured', 'backpressured', 'backpressure'],
  ]);
});

test.each<[reason: string, kind: string, how: (path: FakePath) => void]>([
  ['backpressure', 'CapacityExceeded', ({ link }) => (link.credit = new ZLinkError('CapacityExceeded', 'full'))],
  ['shutdown', 'ShuttingDown', (path) => (path.refusal = new ZLinkError('ShuttingDown', 'over'))],
])('[TRACE-006] %s here fails the caller with %s, and drops a send', async (reason, kind, how) => {
  const path = pathAt('errors');
  how(path);
  expect((await rejection(ask(path).submit())).kind).toBe(kind);
  expect((await rejection(tell(path).submit())).kind).toBe(kind);
  const error = { eventId: 'zlink.dispatch_error', outcome: 'failed', reason };
  expect(path.flow.errors).toMatchObject([
    { ...error, action: 'fail_caller', message_kind: 'request', packet_name: 'billing.charge' },
    { ...error, action: 'drop', message_kind: 'send', packet_name: 'system.notice' },
  ]);
});

test('[TRACE-006] decode_error: a reply that cannot be read fails the caller', async () => {
  const path = pathAt('errors');
  const settled = rejection(ask(path).submit());
  path.link.reply('{');
  expect((await settled).kind).toBe('ProtocolError');
  expect(path.flow.errors).toMatchObject([
    { reason: 'decode_error', action: 'fail_caller', message_kind: 'response', correlation_id: 'own-1' },
  ]);
});

test('[TRACE-006] none: an error of the other side, a timeout, an abort, no target', async () => {
  const path = pathAt('errors');
  const answered = rejection(ask(path).submit());
  path.link.error('CapacityExceeded', 'theirs');
  await answered;
  const timed = rejection(ask(path).submit());
  path.clock.advance(60_000);
  await timed;
  path.refusal = new ZLinkError('NotFound', 'nobody');
  await rejection(ask(path).submit());
  expect(path.flow.errors).toEqual([]);
});

test('[TRACE-010] detailed tells how long a request took, and sizes if the host includes them', async () => {
  const path = pathAt('detailed');
  const call = ask(path).submit();
  path.clock.advance(250);
  path.link.reply('7');
  await call;
  expect(path.flow.phases[1]).toMatchObject({ phase: 'reply_received', duration_seconds: 0.25 });
  expect(path.flow.phases[1]).not.toHaveProperty('message_size_bytes');
});

test('[TRACE-025] a request is a span to its end, and what is sent is its child', async () => {
  const path = pathAt('normal');
  const flow = new FlowSource().begin('inbound').withTraceContext(TraceContext.fromTexts(TRACE_PARENT));
  const call = ask(path).flow(flow).submit();
  const [span] = path.tracer.spans;
  expect(span).toMatchObject({ kind: 'client', packetName: 'billing.charge', parent: TRACE_PARENT, ends: [] });
  expect(carried(path)[0]).toMatchObject({ id: flow.id });
  expect(carried(path)[0]?.traceContext?.traceParent).toBe(span?.traceParent);
  path.link.error('Rejected', 'no');
  await rejection(call);
  expect(span?.ends).toMatchObject([{ errorKind: 'Rejected', fields: { outcome: 'failed', correlation_id: 'own-1' } }]);
});

test('[TRACE-025] a send is a span until it is accepted or dropped', async () => {
  const path = pathAt('normal');
  await tell(path).submit();
  path.refusal = new ZLinkError('NotFound', 'nobody');
  await rejection(tell(path).submit());
  expect(path.tracer.spans.map(({ kind, ends }) => [kind, ends[0]?.fields.outcome, ends[0]?.errorKind])).toEqual([
    ['producer', 'succeeded', undefined],
    ['producer', 'dropped', 'NotFound'],
  ]);
});

test('[TRACE-010] at errors there are no spans, and the context of a flow travels on', async () => {
  const path = pathAt('errors');
  const flow = new FlowSource().begin('inbound').withTraceContext(TraceContext.fromTexts(TRACE_PARENT, 'a=b'));
  await tell(path).flow(flow).submit();
  expect(path.tracer.spans).toEqual([]);
  expect(carried(path)[0]?.traceContext).toMatchObject({ traceParent: TRACE_PARENT, traceState: 'a=b' });
});

test('[TRACE-004] what the other side could not read is not quoted by the records of a handler that lets it through', async () => {
  const path = pathAt('errors');
  const settled = rejection(ask(path).submit());
  path.link.error('ProtocolError', 'value does not fit: card.pin: received PIN-Rosebud');
  const error = await settled;
  expect(error.message).toBe('[ProtocolError] value does not fit: card.pin: received PIN-Rosebud');
  expect(errorText(error)).toBe('[ProtocolError] the other side could not read "billing.charge"');
});

test.each(['DeadlineExceeded', 'ShuttingDown'] as const)(
  '[METRIC-001] [TRACE-003] a %s of the other side is a failure of the request, no end of this side',
  async (kind) => {
    const path = pathAt('normal');
    const meter = (path.meter = new FakeMeter());
    const settled = rejection(ask(path).submit());
    path.link.error(kind, 'theirs');
    expect((await settled).kind).toBe(kind);
    expect(meter.ended).toMatchObject([['failed', expect.any(Number)]]);
    expect(path.flow.phases.at(-1)).toMatchObject({
      phase: 'reply_received',
      message_kind: 'error',
      outcome: 'failed',
    });
    expect(path.tracer.spans[0]?.ends).toMatchObject([{ errorKind: kind, fields: { outcome: 'failed' } }]);
  },
);

test('[METRIC-003] a path’s meter hears of each request once, and of each wait for credit', async () => {
  const path = pathAt('off'); // it does not depend on the level
  const meter = (path.meter = new FakeMeter());
  const done = ask(path).submit();
  path.clock.advance(100);
  path.link.reply('1');
  await done;
  path.link.credit = 'none';
  const late = rejection(ask(path).timeoutMs(500).submit());
  path.clock.advance(1_000);
  await late;
  const admitted = tell(path).submit();
  path.clock.advance(200);
  path.link.admit();
  await admitted;
  const controller = new AbortController();
  const aborted = ask(path)
    .submit(controller.signal)
    .catch(() => undefined);
  controller.abort();
  await aborted;
  path.refusal = new ZLinkError('ShuttingDown', 'over');
  await rejection(ask(path).submit());
  path.refusal = new ZLinkError('NotFound', 'nobody');
  await rejection(ask(path).submit());
  expect(meter.started).toBe(5);
  expect(meter.ended).toEqual([
    ['succeeded', 0.1],
    ['timed_out', expect.closeTo(0.5, 1)],
    ['cancelled', 0],
    ['shutdown', 0],
    ['failed', 0],
  ]);
  expect(meter.waits).toEqual([
    ['timed_out', expect.closeTo(0.5, 1)],
    ['admitted', 0.2],
  ]);
});

import { ZLinkError } from '../../src/errors/index.ts';
import type { CodecExtension } from '../../src/codec/index.ts';
import type { ChannelContext, HandlerRegistry } from '../../src/dispatch/index.ts';
import { message, metadata, request, type StandardSchemaV1 } from '../../src/message/index.ts';
import { validateOutbound } from '../../src/message/schema.ts';
import { type CarriedFlow, type DiagnosticsLevel, type Flow, flowOf, TraceContext } from '../../src/observe/index.ts';
import { FlowSource } from '../../src/observe/flow/flow-source.ts';
import { FakeTracer } from '../observe/flow/fake-tracer.ts';
import { AT_MS } from '../observe/flow/test-flow.ts';
import { expectNothingHeld, gate, Harness } from './harness.ts';

const Ask = request<{ n: number }, { n: number }>('ask');
const Tell = message<{ n: number }>('tell');
const Plain = message('plain');
const TRACE_PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

type Register = (handlers: HandlerRegistry<ChannelContext>) => unknown;

const answers: Register = (handlers) => handlers.addRequest(Ask, ({ n }) => ({ n })).addSend(Tell, () => undefined);

function harnessAt(level: DiagnosticsLevel, register: Register = answers, options: object = {}): Harness {
  return new Harness(register, { diagnostics: { level, dateMs: () => AT_MS }, ...options });
}

/** What a sender put on the wire. */
function traceOf(context?: TraceContext): { readonly id: string; readonly trace: Uint8Array } {
  const flow = new FlowSource().begin('application').withTraceContext(context);
  const trace = new Uint8Array(flow.byteLength);
  flow.writeInto(trace, 0);
  return { id: flow.id, trace };
}

const phasesOf = (harness: Harness): unknown[] => harness.phases.map(({ phase }) => phase);

test('[TRACE-021] a handler cannot change the flow of its message, nor the trace context in it', () => {
  for (const level of ['errors', 'normal'] as const) {
    let seen: Flow | undefined;
    const harness = harnessAt(level, (handlers) =>
      handlers.addRequest(Ask, ({ n }, { flow }) => ((seen = flow), { n })),
    );
    const { id, trace } = traceOf(TraceContext.fromTexts(TRACE_PARENT));
    harness.request(Ask, { n: 1 }, { trace });
    for (const [name, value] of Object.entries({ traceContext: undefined, id: 'other', origin: 'timer' })) {
      expect([name, Reflect.set(seen!, name, value), Reflect.defineProperty(seen!, name, { value })]).toEqual([
        name,
        false,
        false,
      ]);
    }
    const { traceContext } = seen as CarriedFlow;
    expect([seen?.id, seen?.origin, Object.isFrozen(traceContext)]).toEqual([id, 'application', true]);
  }
});

test('[TRACE-002] [TRACE-004] a request is received, admitted, dispatched and replied, each once and in this order', () => {
  const harness = harnessAt('normal');
  const { id, trace } = traceOf();
  harness.request(Ask, { n: 1 }, { trace });
  const common = {
    eventId: 'zlink.message_flow',
    timestamp: '2026-01-02T03:04:05.678Z',
    surface: 'channel',
    channel_name: 'billing',
    channel_route_kind: 'client_server',
    server_rid: 'server-1',
    source_rid: 'peer-1',
    packet_name: 'ask',
    correlation_id: `${harness.link.correlationScope.peer}1`,
    flow_id: id,
    flow_origin: 'application',
  };
  expect(harness.phases).toStrictEqual([
    { ...common, phase: 'received', message_kind: 'request' },
    { ...common, phase: 'admitted', message_kind: 'request' },
    { ...common, phase: 'dispatched', message_kind: 'request' },
    { ...common, phase: 'replied', message_kind: 'response', outcome: 'succeeded' },
  ]);
  expect(harness.logs).toEqual([]);
  expectNothingHeld(harness);
});

test('[TRACE-002] a one-way message is completed when its handler has ended', async () => {
  const open = gate();
  const harness = harnessAt('normal', (handlers) => handlers.addSend(Tell, () => open.promise));
  harness.send(Tell, { n: 1 });
  expect(phasesOf(harness)).toEqual(['received', 'admitted', 'dispatched']);
  open.open();
  await harness.dispatcher.idle();
  expect(harness.phases[3]).toMatchObject({ phase: 'completed', message_kind: 'send', outcome: 'succeeded' });
  expect(harness.phases[3]).not.toHaveProperty('correlation_id');
});

test('[TRACE-002] a reply that waits for credit is replied once, when its link takes it', async () => {
  const harness = harnessAt('normal');
  harness.link.mode = 'wait';
  harness.request(Ask, { n: 1 });
  expect(phasesOf(harness)).toEqual(['received', 'admitted', 'dispatched']);
  harness.link.grant();
  await harness.dispatcher.idle();
  expect(phasesOf(harness)).toEqual(['received', 'admitted', 'dispatched', 'replied']);
});

test('[TRACE-002] a reply that cannot be sent is replied once: as the error in its place', () => {
  const harness = harnessAt('normal');
  harness.link.largestText = 9;
  harness.request(Ask, { n: 1_000_000 });
  harness.link.largestText = Infinity;
  expect(harness.phases.slice(3)).toMatchObject([{ phase: 'dropped', message_kind: 'request', outcome: 'failed' }]);
  const fits = harnessAt('normal');
  fits.link.largestText = 200;
  fits.request({ packetName: 'ask' }, { n: 'x'.repeat(300) });
  expect(fits.phases.slice(3)).toMatchObject([{ phase: 'replied', message_kind: 'error', outcome: 'failed' }]);
});

test('[TRACE-002] [TRACE-003] what goes no further is dropped, with the outcome and reason of the closed sets', async () => {
  const open = gate<{ n: number }>();
  const harness = harnessAt(
    'normal',
    (handlers) => handlers.addRequest(Ask, () => open.promise).addSend(Tell, () => undefined),
    {
      concurrency: 1,
      mailboxLimits: { messages: 3 },
    },
  );
  const dropped = (): unknown[] => harness.phases.filter(({ phase }) => phase === 'dropped');
  const cancelled = harness.request(Ask, { n: 1 });
  const queued = harness.request(Ask, { n: 2 });
  harness.send(Tell, { n: 3 });
  harness.send(Tell, { n: 4 }); // the mailbox is full
  harness.dispatcher.cancel(harness.link, queued);
  harness.dispatcher.cancel(harness.link, cancelled);
  open.open({ n: 1 });
  await harness.dispatcher.idle();
  expect(dropped()).toMatchObject([
    { message_kind: 'send', outcome: 'dropped', reason: 'backpressure' },
    { message_kind: 'request', outcome: 'cancelled', correlation_id: `${harness.link.correlationScope.peer}${queued}` },
    {
      message_kind: 'request',
      outcome: 'cancelled',
      correlation_id: `${harness.link.correlationScope.peer}${cancelled}`,
    },
  ]);
});

test('[TRACE-010] at errors: dispatch errors and drops, nothing of what goes well, and flows are read all the same', () => {
  const seen: unknown[] = [];
  const harness = harnessAt('errors', (handlers) =>
    handlers.addRequest(Ask, ({ n }, { flow }) => {
      seen.push(flow?.id);
      return { n };
    }),
  );
  const { id, trace } = traceOf();
  harness.request(Ask, { n: 1 }, { trace });
  expect([harness.phases, harness.logs, seen]).toEqual([[], [], [id]]);
  harness.send(Tell, { n: 1 });
  expect(harness.logs).toMatchObject([{ reason: 'no_handler', action: 'drop' }]);
  expect(harness.phases).toMatchObject([{ phase: 'dropped', message_kind: 'send', outcome: 'dropped' }]);
});

test('[TRACE-010] at off nothing is read, made or recorded; failures still reach the hook', () => {
  const seen: unknown[] = [];
  const failing = (): never => {
    throw new Error('no');
  };
  const tracer = new FakeTracer();
  const asked: string[] = [];
  const harness = new Harness(
    (handlers) =>
      handlers.addSend(Tell, failing).addRequest(Ask, ({ n }, { flow, signal }) => {
        seen.push(flow, flowOf(signal));
        return { n };
      }),
    {
      diagnostics: {
        level: 'off',
        tracer,
        dateMs: () => asked.push('date'),
        fillRandom: () => void asked.push('random'),
        nextTurn: () => void asked.push('turn'),
      },
    },
  );
  harness.request(Ask, { n: 1 }, { trace: Uint8Array.of(1) }); // malformed, which nobody notices
  harness.send(Tell, { n: 1 });
  harness.send('unknown', { n: 1 });
  expect(seen).toEqual([undefined, undefined]);
  expect([harness.phases, harness.logs, tracer.spans, asked]).toEqual([[], [], [], []]);
  expect(harness.unhandled).toHaveLength(1);
});

test('[TRACE-010] a level counts from the next step of a message on', async () => {
  const open = gate<{ n: number }>();
  const harness = harnessAt('off', (handlers) => handlers.addRequest(Ask, () => open.promise));
  const { flow } = harness;
  harness.request(Ask, { n: 1 }); // has no flow, and never will
  flow.level = 'normal';
  harness.request(Ask, { n: 2 });
  flow.level = 'errors';
  harness.request(Ask, { n: 3 });
  expect(phasesOf(harness)).toEqual(['received', 'admitted', 'dispatched']);
  flow.level = 'normal';
  open.open({ n: 0 });
  await harness.dispatcher.idle();
  expect(harness.phases.slice(3)).toMatchObject([
    { phase: 'replied', correlation_id: `${harness.link.correlationScope.peer}2` },
    { phase: 'replied', correlation_id: `${harness.link.correlationScope.peer}3` },
  ]);
});

test('[TRACE-010] detailed adds durations, and sizes if the host includes them', async () => {
  const open = gate<{ n: number }>();
  const at = async (level: DiagnosticsLevel, includeMessageSizes: boolean): Promise<unknown[]> => {
    const harness = new Harness((handlers) => handlers.addRequest(Ask, () => open.promise), {
      diagnostics: { level, includeMessageSizes },
    });
    harness.request(Ask, { n: 1 }, { metadata: metadata({ key: 'value' }) });
    harness.clock.advance(1_500);
    open.open({ n: 1 });
    await harness.dispatcher.idle();
    return harness.phases.flatMap(({ phase, message_size_bytes: size, duration_seconds: seconds }) =>
      size === undefined && seconds === undefined ? [] : [[phase, size, seconds]],
    );
  };
  expect(await at('normal', true)).toEqual([]);
  expect(await at('detailed', false)).toEqual([['replied', undefined, 1.5]]);
  expect(await at('detailed', true)).toEqual([
    ['received', 7 + 10, undefined],
    ['replied', undefined, 1.5],
  ]);
});

test('[TRACE-011] the sample rate thins phases and spares errors and drops', () => {
  const harness = new Harness(answers, { diagnostics: { level: 'normal', sampleRate: 0 } });
  harness.request(Ask, { n: 1 });
  harness.send('unknown', {});
  expect(phasesOf(harness)).toEqual(['dropped']);
  expect(harness.logs).toHaveLength(1);
});

test.each([
  [0.5, 0x7fff_ffff, 4],
  [0.5, 0x8000_0000, 0],
  [1, 0xffff_ffff, 4],
])('[TRACE-011] at rate %d a flow that ends with %d leaves %d records', (sampleRate, word, count) => {
  const fillRandom = (words: Int32Array): void => void words.fill(word | 0);
  const harness = new Harness(answers, { diagnostics: { level: 'normal', sampleRate, fillRandom } });
  harness.request(Ask, { n: 1 });
  expect(harness.phases).toHaveLength(count);
});

test('[TRACE-022] a message without a flow begins one of origin inbound', () => {
  const harness = harnessAt('normal', (handlers) => handlers.addSend(Tell, (_, { flow }) => void seen.push(flow)));
  const seen: ({ readonly id: string; readonly origin: string } | undefined)[] = [];
  harness.send(Tell, { n: 1 });
  harness.send(Tell, { n: 2 });
  expect(seen.map((flow) => flow?.origin)).toEqual(['inbound', 'inbound']);
  expect(seen[0]?.id).not.toBe(seen[1]?.id);
  expect(harness.phases[0]).toMatchObject({ flow_id: seen[0]?.id, flow_origin: 'inbound' });
});

test('[TRACE-026] the signal of a handler leads to its flow', () => {
  const harness = harnessAt('errors', (handlers) =>
    handlers.addSend(Tell, (_, { flow, signal }) => void seen.push([flow?.id, flowOf(signal)?.id])),
  );
  const seen: unknown[] = [];
  const { id, trace } = traceOf();
  harness.send(Tell, { n: 1 }, { trace });
  expect(seen).toEqual([[id, id]]);
});

test('[TRACE-021] a malformed flow: a request is answered ProtocolError, a send dropped, and no handler runs', () => {
  const ran: unknown[] = [];
  const harness = harnessAt('normal', (handlers) =>
    handlers.addSend(Tell, () => void ran.push(1)).addRequest(Ask, ({ n }) => ({ n: ran.push(n) })),
  );
  const trace = traceOf().trace.fill(0, 7, 8); // no version
  harness.request(Ask, { n: 1 }, { trace });
  harness.send(Tell, { n: 1 }, { trace });
  expect(ran).toEqual([]);
  expect(harness.link.answers).toMatchObject([{ error: 'ProtocolError' }]);
  expect(harness.logs).toMatchObject([
    { message_kind: 'request', reason: 'invalid_frame', action: 'reply_error' },
    { message_kind: 'send', reason: 'invalid_frame', action: 'drop' },
  ]);
  expect([harness.requests.dropped, harness.sends.dropped]).toEqual([{ invalid_frame: 1 }, { invalid_frame: 1 }]);
  expectNothingHeld(harness);
});

describe('dispatch errors', () => {
  const never: StandardSchemaV1<unknown, { n: number }> = {
    '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no' }] }) },
  };
  const checked = request<{ n: number }, { n: number }>('ask', { schema: never });
  const told = message<{ n: number }>('tell', { schema: never });
  const failing = (): never => {
    throw new Error('payload 4111');
  };
  const typed = (): never => {
    throw new ZLinkError('NotFound', 'no such customer');
  };
  const none: Register = () => undefined;
  const closed =
    (kind: 'ShuttingDown' | 'Unavailable') =>
    (harness: Harness): void =>
      harness.dispatcher.stopIntake(kind);

  interface How {
    readonly prepare?: (harness: Harness) => void;
    readonly options?: object;
  }

  test.each<[reason: string, kind: string, register: Register, how: How]>([
    ['no_handler', 'NotFound', none, {}],
    ['decode_error', 'ProtocolError', (handlers) => handlers.addRequest(checked, failing).addSend(told, failing), {}],
    [
      'handler_exception',
      'InternalFailure',
      (handlers) => handlers.addRequest(Ask, failing).addSend(Tell, failing),
      {},
    ],
    ['handler_exception', 'NotFound', (handlers) => handlers.addRequest(Ask, typed).addSend(Tell, typed), {}],
    ['invalid_frame', 'ProtocolError', answers, { options: { maxMessageBytes: 1 } }],
    ['backpressure', 'Unavailable', answers, { options: { mailboxLimits: { messages: 0 } } }],
    ['stale_target', 'Unavailable', answers, { prepare: closed('Unavailable') }],
    ['shutdown', 'ShuttingDown', answers, { prepare: closed('ShuttingDown') }],
  ])('[TRACE-006] %s: a request is answered %s, a send is dropped', (reason, kind, register, { prepare, options }) => {
    const harness = harnessAt('errors', register, options);
    prepare?.(harness);
    const { id, trace } = traceOf();
    harness.request(Ask, { n: 1 }, { trace });
    harness.send(Tell, { n: 1 }, { trace });
    expect(harness.link.answers).toMatchObject([{ error: kind }]);
    const error = { eventId: 'zlink.dispatch_error', outcome: 'failed', reason, flow_id: id, surface: 'channel' };
    expect(harness.logs.filter(({ eventId }) => eventId === 'zlink.dispatch_error')).toMatchObject([
      {
        ...error,
        action: 'reply_error',
        message_kind: 'request',
        packet_name: 'ask',
        correlation_id: `${harness.link.correlationScope.peer}1`,
      },
      { ...error, action: 'drop', message_kind: 'send', packet_name: 'tell' },
    ]);
    expectNothingHeld(harness);
  });

  test('[TRACE-006] reply_path_missing: the reply is dropped', () => {
    const harness = harnessAt('errors');
    harness.link.mode = 'refuse';
    harness.request(Ask, { n: 1 });
    expect(harness.logs).toMatchObject([{ reason: 'reply_path_missing', action: 'drop', message_kind: 'request' }]);
    expect(harness.phases).toMatchObject([{ phase: 'dropped', outcome: 'dropped', reason: 'target_closed' }]);
  });

  test('[TRACE-006] shutdown: what waits or runs when the host gives up is answered ShuttingDown', async () => {
    const open = gate<{ n: number }>();
    const harness = harnessAt('errors', (handlers) => handlers.addRequest(Ask, () => open.promise), { concurrency: 1 });
    harness.request(Ask, { n: 1 });
    harness.request(Ask, { n: 2 });
    harness.dispatcher.abortAll();
    expect(harness.link.answers).toMatchObject([{ error: 'ShuttingDown' }, { error: 'ShuttingDown' }]);
    expect(harness.logs).toMatchObject([{ reason: 'shutdown', action: 'reply_error', message_kind: 'request' }]); // once per second
    open.open({ n: 1 });
    await harness.dispatcher.idle();
    expectNothingHeld(harness);
  });

  test('[TRACE-006] reply_path_missing: the link has ended before the reply; a handler that obeys its signal has none', async () => {
    const gates: ReturnType<typeof gate<{ n: number }>>[] = [];
    const harness = harnessAt('errors', (handlers) =>
      handlers.addRequest(Ask, (_, { signal }) => {
        const open = gate<{ n: number }>();
        gates.push(open);
        signal.addEventListener('abort', () => gates.length === 2 && gates[1]!.fail(signal.reason));
        return open.promise;
      }),
    );
    harness.request(Ask, { n: 1 });
    harness.request(Ask, { n: 2 });
    harness.link.end();
    harness.dispatcher.linkClosed(harness.link);
    gates[0]?.open({ n: 1 });
    await harness.dispatcher.idle();
    expect(harness.logs).toMatchObject([
      {
        reason: 'reply_path_missing',
        action: 'drop',
        message_kind: 'request',
        correlation_id: `${harness.link.correlationScope.peer}1`,
        error: 'the link to "peer-1" ended before the reply',
      },
    ]);
    expect(harness.phases).toMatchObject([
      { phase: 'dropped', outcome: 'cancelled' },
      { phase: 'dropped', outcome: 'cancelled' },
    ]);
    expect(harness.requests).toMatchObject({ handled: 0, dropped: { link_closed: 2 } });
    expectNothingHeld(harness);
  });

  test('[TRACE-004] a schema’s own words may quote the value: its caller gets them, records get paths', () => {
    const quoting = (kind: 'in' | 'out'): StandardSchemaV1<unknown, { n: number }> => ({
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => ({ issues: [{ message: `received PIN-Rosebud ${kind}`, path: ['card', { key: 'pin' }] }] }),
      },
    });
    const Checked = request<object, object>('checked', { schema: quoting('in') });
    const Answered = request<object, { n: number }>('answered', { reply: { schema: quoting('out') } });
    const harness = new Harness(
      (handlers) => handlers.addRequest(Checked, () => ({})).addRequest(Answered, () => ({ n: 1 })),
      { exposeErrorMessages: true, diagnostics: { level: 'detailed' } },
    );
    harness.request(Checked, {});
    harness.request(Answered, {});
    const answers = harness.link.answers.map(({ text }) => text);
    expect(answers[0]).toContain('card.pin: received PIN-Rosebud in'); // who has sent it
    expect(answers[1]).not.toContain('Rosebud');
    expect(harness.logs.map(({ reason, error }) => [reason, error])).toEqual([
      ['decode_error', '[ProtocolError] value of packet "checked" does not fit: card.pin'],
      ['handler_exception', '[InvalidOperation] value of packet "answered" does not fit: card.pin'],
    ]);
    expect(JSON.stringify([harness.logs, harness.phases])).not.toContain('Rosebud');
  });

  test('[TRACE-004] words that may quote another message reach neither records nor the caller of the handler', async () => {
    const validate = (): object => ({ issues: [{ message: 'received PIN-Rosebud', path: ['pin'] }] });
    const schema: StandardSchemaV1<unknown, object> = { '~standard': { version: 1, vendor: 'test', validate } };
    /** As a call of the handler does. */
    const misfitting = async (): Promise<never> => {
      validateOutbound(schema, {}, 'other');
      throw new Error('it fits');
    };
    const harness = harnessAt('errors', (handlers) => handlers.addRequest(Ask, misfitting));
    harness.request(Ask, { n: 1 });
    await harness.dispatcher.idle();
    expect(harness.link.answers).toMatchObject([
      { error: 'InvalidOperation', text: 'value of packet "other" does not fit: pin' },
    ]);
    expect(harness.logs).toMatchObject([{ error: '[InvalidOperation] value of packet "other" does not fit: pin' }]);
  });

  test('[TRACE-004] what a codec throws at a reply is told to the application alone', () => {
    class Secret {}
    const Told = request<object, Secret>('told', { reply: { declaredType: Secret } });
    const quoting: CodecExtension = {
      register: (codecs) =>
        codecs.add({
          contentType: 'application/x-secret',
          matches: (type) => type === Secret,
          encode: () => {
            throw new Error('cannot encode PIN-Rosebud');
          },
          decode: () => new Secret(),
        }),
    };
    const harness = harnessAt('errors', (handlers) => handlers.addRequest(Told, () => new Secret()), {
      extensions: [quoting],
    });
    harness.request(Told, {});
    expect(harness.unhandled).toMatchObject([{ error: { message: 'cannot encode PIN-Rosebud' } }]);
    expect(harness.logs).toMatchObject([
      { reason: 'handler_exception', error: 'the codec could not encode the reply' },
    ]);
    expect(JSON.stringify([harness.logs, harness.link.answers])).not.toContain('Rosebud');
  });

  test('[TRACE-006] none: a filter that stops, a caller that gives up, time that is over', async () => {
    const open = gate<{ n: number }>();
    const stops = new Harness(answers, { filters: [() => undefined] });
    stops.request(Ask, { n: 1 });
    stops.send(Tell, { n: 1 });
    await stops.dispatcher.idle();
    const waits = harnessAt('errors', (handlers) => handlers.addRequest(Ask, () => open.promise), { concurrency: 1 });
    waits.request(Ask, { n: 1 }, { remainingMs: 50 });
    waits.dispatcher.cancel(waits.link, waits.request(Ask, { n: 2 }));
    waits.request(Ask, { n: 3 }, { remainingMs: 50 });
    waits.clock.advance(60);
    open.open({ n: 1 });
    waits.turn();
    await waits.dispatcher.idle();
    expect([stops.logs, waits.logs]).toEqual([[], []]);
    expect(waits.phases).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'dropped' }]);
  });

  test('[TRACE-004] no record has a payload, a value of metadata or a stack', () => {
    const harness = harnessAt('detailed', (handlers) => handlers.addSend(Tell, failing));
    harness.send({ packetName: 'tell' }, { n: 4_111 }, { metadata: metadata({ card: '4112' }) });
    const texts = JSON.stringify([harness.phases, harness.logs]);
    expect(harness.logs[0]?.['error']).toBe('payload 4111'); // its author chose it
    expect(texts.replaceAll('payload 4111', '')).not.toMatch(/411|card|\bat /);
  });
});

describe('spans', () => {
  test('[TRACE-025] a handler is a span of the sender, and what it starts is a child of the handler', () => {
    const tracer = new FakeTracer();
    const seen: unknown[] = [];
    const harness = new Harness(
      (handlers) =>
        handlers.addRequest(Ask, ({ n }, { flow, signal }) => {
          seen.push(tracer.active, flow?.id, flowOf(signal)?.traceContext?.traceParent);
          return { n };
        }),
      { diagnostics: { level: 'normal', tracer } },
    );
    const { id, trace } = traceOf(TraceContext.fromTexts(TRACE_PARENT));
    harness.request(Ask, { n: 1 }, { trace });
    const [span] = tracer.spans;
    expect(span).toMatchObject({
      kind: 'server',
      packetName: 'ask',
      parent: TRACE_PARENT,
      fields: { surface: 'channel', flow_id: id, packet_name: 'ask', message_kind: 'request' },
      ends: [{ fields: { outcome: 'succeeded', flow_id: id }, errorKind: undefined }],
    });
    expect(seen).toEqual([span, id, span?.traceParent]);
    expect(tracer.active).toBeUndefined();
  });

  test('[TRACE-025] a span ends with the error of its message, once', async () => {
    const tracer = new FakeTracer();
    const open = gate<{ n: number }>();
    const failing = (): never => {
      throw new ZLinkError('Rejected', 'no');
    };
    const harness = new Harness(
      (handlers) =>
        handlers
          .addRequest(Ask, () => open.promise)
          .addSend(Tell, failing)
          .addSend(Plain, () => Promise.reject(new Error('x'))),
      { diagnostics: { level: 'normal', tracer } },
    );
    harness.dispatcher.cancel(harness.link, harness.request(Ask, { n: 1 }));
    harness.send(Tell, { n: 1 });
    harness.send(Plain, {});
    open.fail(new Error('late'));
    await harness.dispatcher.idle();
    expect(
      tracer.spans.map(({ kind, ends }) => [kind, ends.length, ends[0]?.fields.outcome, ends[0]?.errorKind]),
    ).toEqual([
      ['server', 1, 'cancelled', undefined],
      ['consumer', 1, 'failed', 'Rejected'],
      ['consumer', 1, 'failed', 'InternalFailure'],
    ]);
  });

  test.each<[outcome: string, error: string | undefined, act: (harness: Harness, open: () => void) => void]>([
    ['reply_expired', 'DeadlineExceeded', ({ clock }, open) => (clock.advance(60), open())],
    ['reply_path_missing', 'Unavailable', ({ link }, open) => ((link.mode = 'refuse'), open())],
    ['shutdown', 'ShuttingDown', ({ dispatcher }) => dispatcher.abortAll()],
    ['link_closed', undefined, ({ dispatcher, link }, open) => (link.end(), dispatcher.linkClosed(link), open())],
  ])('[TRACE-025] the span of a request that ends by %s has the error %s', async (outcome, error, act) => {
    const tracer = new FakeTracer();
    const gates = gate<{ n: number }>();
    const harness = new Harness((handlers) => handlers.addRequest(Ask, () => gates.promise), {
      diagnostics: { level: 'normal', tracer },
    });
    harness.request(Ask, { n: 1 }, { remainingMs: 50 });
    act(harness, () => gates.open({ n: 1 }));
    gates.open({ n: 1 });
    await harness.dispatcher.idle();
    expect(harness.requests.dropped).toEqual({ [outcome]: 1 });
    expect(tracer.spans[0]?.ends.map(({ errorKind }) => errorKind)).toEqual([error]);
  });

  test('[TRACE-025] [DISP-008] of messages that a filter stops, a request is Rejected and a send no error', async () => {
    const tracer = new FakeTracer();
    const harness = new Harness(answers, {
      filters: [() => undefined],
      diagnostics: { level: 'normal', tracer },
    });
    harness.request(Ask, { n: 1 });
    harness.send(Tell, { n: 1 });
    await harness.dispatcher.idle();
    expect(tracer.spans.map(({ ends }) => ends[0]?.errorKind)).toEqual(['Rejected', undefined]);
  });

  test('[TRACE-010] there are no spans at errors, and a trace context is carried through all the same', () => {
    const tracer = new FakeTracer();
    const seen: unknown[] = [];
    const harness = new Harness(
      (handlers) =>
        handlers.addSend(Tell, (_, { signal }) => void seen.push(flowOf(signal)?.traceContext?.traceParent)),
      { diagnostics: { level: 'errors', tracer } },
    );
    harness.send(Tell, { n: 1 }, traceOf(TraceContext.fromTexts(TRACE_PARENT)));
    expect([seen, tracer.spans]).toEqual([[TRACE_PARENT], []]);
  });
});

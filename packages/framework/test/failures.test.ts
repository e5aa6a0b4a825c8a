import { inspect } from 'node:util';
import { ConfigurationError, ErrorKind, type ErrorKindName, ZLinkError } from '@zlink/framework';
import { until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import {
  accepted,
  ask,
  counters,
  endpointOf,
  makeHost,
  makeServer,
  NOBODY,
  startClient,
  startDialing,
  startPair,
  startServer,
} from './hosts.ts';
import { isOfHost, type LogRecord, LogRecorder } from './log-recorder.ts';
import { rejection, watch } from './outcome.ts';
import { Ask, CHANNEL, Charge, Never, Notice } from './packets.ts';
import { occupyPort } from './ports.ts';

const kinds = Object.keys(ErrorKind) as ErrorKindName[]; // the keys of a constant of these names

test('[ERR-001] every kind crosses the wire as itself', async () => {
  const { client } = await startPair({
    answer: (kind) => {
      throw new ZLinkError(kind as ErrorKindName, 'as asked');
    },
  });
  expect(kinds.map((kind) => ErrorKind[kind])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  for (const kind of kinds) {
    const error = await rejection(ask(client, kind));
    expect(error).toBeInstanceOf(ZLinkError);
    expect(error).toMatchObject({ name: 'ZLinkError', kind, submitted: true, message: `[${kind}] as asked` });
    expect(error.code).toBe(`ZLINK_${kind.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`);
    expect(error.cause).toBeUndefined();
  }
});

test('[ERR-002] errors have kind, code and whether they had left, and no advice to try again', async () => {
  const { client } = await startPair();
  const error = await rejection(client.routeClient.requestToChannel(CHANNEL, Charge({ orderId: '7' })).submit());
  expect(error).toMatchObject({ kind: 'NotFound', code: 'ZLINK_NOT_FOUND', submitted: true });
  expect(Object.keys(error).sort()).toEqual(['code', 'kind', 'submitted']);
  expect(inspect(error)).not.toMatch(/retr(y|ies)/i);
});

test.each([
  [false, 'InternalFailure', / failed; its log has the cause$/],
  [true, 'InternalFailure', / failed: RangeError: balance of tenant-42 is 3$/],
])(
  '[DISP-004] exposeErrorMessages %p decides whether callers see the text of errors',
  async (exposeErrorMessages, kind, text) => {
    const failure = new RangeError('balance of tenant-42 is 3', { cause: new Error('row 17') });
    const unhandled: [unknown, string][] = [];
    const { client } = await startPair({
      options: { exposeErrorMessages, onUnhandled: (error, { where }) => void unhandled.push([error, where]) },
      answer: () => {
        throw failure;
      },
    });
    const error = await rejection(ask(client, 1));
    expect(error.kind).toBe(kind);
    expect(error.message).toMatch(
      /^\[InternalFailure\] request handler of packet "billing.ask" in channel "billing" \(server "server-/,
    );
    expect(error.message).toMatch(text);
    expect(error.message.includes('tenant-42')).toBe(exposeErrorMessages);
    expect(inspect(error)).not.toContain('row 17');
    const where = /^request handler of packet "billing.ask" in channel "billing" \(server "server-[-0-9a-f]{36}"\)$/;
    expect(unhandled).toEqual([[failure, expect.stringMatching(where)]]);
  },
);

test('[DISP-004] onUnhandled hears of what no caller is told: one-ways, filters, and no typed answers', async () => {
  const unhandled: unknown[] = [];
  const log = new LogRecorder();
  const server = makeServer({
    options: { logger: log, onUnhandled: (error) => void unhandled.push(error) },
    answer: (asked) => {
      throw asked === 'typed' ? new ZLinkError('Rejected', 'not today') : new Error('from the handler');
    },
    with: (builder) =>
      builder.addSendHandler(Notice, async (sent) => {
        throw new Error(`from a send: ${String(sent)}`);
      }),
  });
  server.addFilter(async ({ message }, next) => {
    if (message.packetName === 'billing.never') throw new Error('from the filter');
    await next();
  });
  await server.start();
  const client = await startClient([server]);
  expect((await rejection(ask(client, 'typed'))).message).toBe('[Rejected] not today');
  expect((await rejection(client.routeClient.requestToChannel(CHANNEL, Never(1)).submit())).kind).toBe('NotFound');
  await client.routeClient.sendToChannel(CHANNEL, Notice('one-way')).submit();
  await until(() => unhandled.length > 0, 'the send fails');
  await rejection(ask(client, 'plain'));
  expect(unhandled.map(String)).toEqual(['Error: from a send: one-way', 'Error: from the handler']);
  expect(log.of('zlink.dispatch_error').map(({ reason }) => reason)).toContain('handler_exception');
});

test('[DISP-004] without onUnhandled an error nobody sees is logged with its stack, elsewhere never', async () => {
  const log = new LogRecorder();
  const all = new Gate();
  let plain = 0;
  const { client } = await startPair({
    options: { logger: log },
    answer: async function failingHandler(asked) {
      if (asked === 'typed') throw new ZLinkError('Rejected', 'not today');
      if (++plain === 3) all.open();
      await all.opened; // so that all of them fail in one moment
      throw new RangeError('balance is 3\nof tenant-42');
    },
  });
  await Promise.all(['typed', 'plain', 'plain', 'plain'].map((asked) => rejection(ask(client, asked))));
  const unhandled = log.of('zlink.runtime.unhandled_error');
  expect(unhandled).toHaveLength(1); // of three within a second
  expect(unhandled[0]).toMatchObject({
    where: expect.stringMatching(/^request handler of packet "billing\.ask" in channel "billing"/) as unknown,
    error: 'RangeError: balance is 3 of tenant-42',
  });
  const stack = unhandled[0]?.['stack'] as string[]; // of this very record
  expect(stack[0]).toMatch(/^at failingHandler \(.*failures\.test\.ts:\d+:\d+\)$/);
  expect(stack.length).toBeLessThanOrEqual(10);
  for (const frame of stack) expect(frame).toMatch(/^at .{1,253}$/);
  const others = log.records.filter((record) => record !== unhandled[0]);
  expect(others.length).toBeGreaterThan(0);
  for (const record of others) expect(inspect(record)).not.toMatch(/\bat .*:\d+:\d+/);
});

test('[DISP-004] with onUnhandled the error itself is handed over, and no stack is logged', async () => {
  const log = new LogRecorder();
  const unhandled: unknown[] = [];
  const { client } = await startPair({
    options: { logger: log, onUnhandled: (error) => void unhandled.push(error) },
    answer: () => {
      throw new Error('once');
    },
  });
  await rejection(ask(client, 1));
  expect((unhandled[0] as Error).stack).toContain('failures.test.ts');
  expect(log.of('zlink.runtime.unhandled_error')).toEqual([]);
});

test.each<[string, () => unknown]>([
  ['null', () => null],
  ['a text', () => 'at sea (file:1:2)'],
  ['an object with a stack of its own', () => ({ stack: 7 })],
  ['an error whose stack throws', () => Object.defineProperty(new Error('x'), 'stack', { get: () => { throw new Error('y'); } })], // prettier-ignore
])('[C11] %s is logged without a stack', async (_, make) => {
  const log = new LogRecorder();
  const { client } = await startPair({
    options: { logger: log },
    answer: () => {
      throw make();
    },
  });
  await rejection(ask(client, 1));
  expect(log.of('zlink.runtime.unhandled_error')).toMatchObject([{ stack: [] }]);
  expect(log.of('zlink.runtime.on_unhandled_failed')).toEqual([]);
});

test('[DISP-004] a filter that throws answers the request and is reported', async () => {
  const unhandled: unknown[] = [];
  const server = makeServer({ options: { onUnhandled: (error) => void unhandled.push(error) } });
  server.addFilter(async () => {
    throw new Error('from the filter');
  });
  await server.start();
  const client = await startClient([server]);
  expect((await rejection(ask(client, 1))).kind).toBe('InternalFailure');
  expect(unhandled.map(String)).toEqual(['Error: from the filter']);
});

test('[DISP-004] a listener or logger that throws changes no answer', async () => {
  const broken = (): never => {
    throw new Error('broken');
  };
  const written: string[] = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text) => written.push(String(text)) > 0;
  try {
    const { client } = await startPair({
      options: { onUnhandled: broken, logger: { debug: broken, info: broken, warn: broken, error: broken } },
      answer: (asked) => {
        if (asked === 'fail') throw new Error('no');
        return asked;
      },
    });
    for (let round = 0; round < 3; round++) expect((await rejection(ask(client, 'fail'))).kind).toBe('InternalFailure');
    expect(await ask(client, 'works')).toBe('works');
  } finally {
    process.stderr.write = write;
  }
  expect(written.filter((line) => line.includes('logger failed'))).toHaveLength(1);
});

/** Everything that can be read from an error, hidden fields and causes too; its stack names files of this workspace. */
function everythingOf(error: object): string {
  const { stack: _stack, ...fields } = Object.getOwnPropertyDescriptors(error);
  return inspect(fields, { depth: 10, showHidden: true });
}

const nativeWords = /\bE[A-Z]{3,}\b|[Ee]rrno|ERRNO|[Zz][Mm][Qq]|[Zz]ero[Mm][Qq]|[Ss]ocket|[Ss]yscall|[Nn]ative/;

test('[ERR-004] no failure of the transport shows errno, socket or engine to its caller', async () => {
  const errors: object[] = [];
  const taken = await occupyPort();
  const warned: LogRecord[] = [];
  const log = Object.assign(new LogRecorder(), { warn: (record: LogRecord) => void warned.push(record) });
  errors.push(
    await rejection(makeServer({ options: { logger: log }, with: (builder) => builder.listen(taken.port) }).start()),
  );
  expect(log.of('zlink.transport.bind_failed')).toMatchObject([{ code: 'EADDRINUSE' }]);
  expect(warned.filter(isOfHost)).toEqual([]); // what is thrown is not told a second time
  await taken.release();
  errors.push(await rejection(makeServer({ options: { network: { bindHost: '192.0.2.1' } } }).start()));

  const nobody = await startDialing([NOBODY]);
  errors.push(await rejection(nobody.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(100).submit()));
  await until(() => nobody.clientServerChannel(CHANNEL).servers()[0]?.reason !== undefined, 'an attempt has failed');
  expect(nobody.clientServerChannel(CHANNEL).servers()[0]?.reason).toMatch(/^no connection: nobody listens there/);

  const { server, client } = await startPair({ answer: () => new Promise(() => undefined) });
  const lost = watch(ask(client, 1));
  await accepted(server, 'request', 1);
  await server.shutdown({ deadlineMs: 1 });
  await until(() => lost.state === 'rejected', 'the call fails');
  errors.push(lost.value as object); // what it is is looked at below

  expect(errors.map((error) => (error as ZLinkError).kind)).toEqual([
    'AlreadyExists',
    'InvalidOperation',
    'NotFound',
    'ShuttingDown',
  ]);
  for (const error of errors) {
    expect(error).toBeInstanceOf(ZLinkError);
    expect('cause' in error).toBe(false);
    expect(everythingOf(error)).not.toMatch(nativeWords);
  }
});

test('[ERR-005] a ConfigurationError of a handler stays here, text and all', async () => {
  const unhandled: unknown[] = [];
  const failure = new ConfigurationError(['apiKey: "k-123" is not allowed']);
  const { client } = await startPair({
    options: { exposeErrorMessages: true, onUnhandled: (error) => void unhandled.push(error) },
    answer: () => {
      throw failure;
    },
  });
  const error = await rejection(ask(client, 1));
  expect(error.kind).toBe('InternalFailure');
  expect(everythingOf(error)).not.toMatch(/apiKey|k-123|ConfigurationError/);
  expect(unhandled).toEqual([failure]);
});

test('[ERR-005] wrong arguments fail at the caller and reach no server', async () => {
  const { server, client } = await startPair();
  const { routeClient } = client;
  const synchronous: (() => unknown)[] = [
    () => routeClient.requestToChannel(CHANNEL, { orderId: '7' }),
    () => routeClient.sendToChannel(CHANNEL, 'text' as never),
    () => routeClient.sendToChannel(CHANNEL, Notice as never),
    () => routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(0),
    () => routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(2_147_483_648),
    () => routeClient.requestToChannel(CHANNEL, Ask(1)).metadata('a\0b', 'x'),
    () => client.clientServerChannel('unknown'),
  ];
  for (const call of synchronous) expect(call).toThrow(ZLinkError);
  const twice = routeClient.requestToChannel(CHANNEL, Ask('first'));
  await twice.submit();
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const rejected = [
    twice.submit(),
    routeClient.requestToChannel(CHANNEL, Ask(circle)).submit(),
    routeClient.sendToChannel(CHANNEL, Notice(NaN)).submit(),
    routeClient.requestToChannel(CHANNEL, Ask(1)).metadata('k', 'x'.repeat(1_024)).submit(),
  ];
  for (const promise of rejected) {
    expect(await rejection(promise)).toMatchObject({ kind: 'InvalidOperation', submitted: false });
  }
  expect((await rejection(routeClient.sendToChannel('unknown', Notice(1)).submit())).kind).toBe('NotFound');
  expect((await rejection(server.routeClient.sendToChannel(CHANNEL, Notice(1)).submit())).kind).toBe('NotConfigured');
  expect(await ask(client, 'last')).toBe('last');
  expect([counters(server, 'request').accepted, counters(server, 'send').accepted]).toEqual([2, 0]);
});

test('[CALL-005] [CHAN-001] a channel that is not registered: the error names the nearest one and those there are', async () => {
  const { client } = await startPair();
  const textOf = async (name: string): Promise<string> =>
    (await rejection(client.routeClient.sendToChannel(name, Notice(1)).submit())).message;
  const what = (name: string): string => `[NotFound] channel "${name}" is not registered in this process`;
  expect(await textOf('biling')).toBe(`${what('biling')}, did you mean "billing"?; registered: "billing"`);
  expect(await textOf('stock')).toBe(`${what('stock')}; registered: "billing"`);
  expect(() => client.clientServerChannel('Billing')).toThrow(/did you mean "billing"\?/);
});

test('[CHAN-001] of many channels eight are shown, and of none it is said', async () => {
  const none = makeHost();
  expect(() => none.clientServerChannel('x')).toThrow(
    'channel "x" is not registered in this process; registered: none',
  );
  const many = makeHost();
  for (let n = 1; n <= 10; n++) many.addClientServerChannel(`shop-${n}`);
  expect(() => many.clientServerChannel('x')).toThrow(/registered: "shop-1", .*, "shop-8" and 2 more$/);
});

test('[CALL-005] [CS-001] a call without the client role says what to call', async () => {
  const { server } = await startPair();
  expect((await rejection(server.routeClient.sendToChannel(CHANNEL, Notice(1)).submit())).message).toBe(
    '[NotConfigured] channel "billing" has no client role in this process, call .client() on it before start()',
  );
});

test('[MSG-003] [MSG-006] what cannot be sent is refused at once, with the way to send it', async () => {
  const { routeClient } = makeHost(); // not even started
  const hints: [() => unknown, string][] = [
    [() => routeClient.requestToChannel(CHANNEL, { orderId: '7' }), 'or use ZLinkMessage.from(value, Class)'],
    [
      () => routeClient.requestToChannel(CHANNEL, Charge as never),
      'descriptor "billing.charge" is no message by itself',
    ],
    [() => routeClient.sendToChannel(CHANNEL, LogRecorder), 'function LogRecorder is no message by itself'],
    [() => routeClient.requestToChannel(CHANNEL, Notice(1)), 'packet "system.notice" is a one-way message, nobody'],
    [() => routeClient.requestToChannel(CHANNEL, Notice(1)), 'use sendToChannel, or declare it by request()'],
  ];
  for (const [call, hint] of hints) expect(call).toThrow(hint);
  expect(() => routeClient.sendToChannel(CHANNEL, Ask(1))).not.toThrow(); // a server may handle it one-way
});

test('[CODEC-005] a value without a JSON form is refused with packet, place and way out', async () => {
  const { client } = await startPair();
  expect((await rejection(ask(client, { order: { at: new Date(0) } }))).message).toBe(
    '[InvalidOperation] packet "billing.ask": order.at cannot be encoded as JSON: Date; send its toISOString() or getTime()',
  );
});

test('[CALL-005] a server that is gone: nothing of the call was submitted, or it says so', async () => {
  const server = await startServer();
  const client = await startClient([endpointOf(server)]);
  await server.shutdown();
  await until(() => client.clientServerChannel(CHANNEL).servers()[0]?.state !== 'ready', 'the client knows');
  const error = await rejection(client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(50).submit());
  expect(error).toMatchObject({ kind: 'NotFound', submitted: false });
});

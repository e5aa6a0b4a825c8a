import { inspect } from 'node:util';
import { ConfigurationError, ErrorKind, type ErrorKindName, ZLinkError } from '@zlink/framework';
import { until } from '@zlink/testing';
import {
  accepted,
  ask,
  counters,
  endpointOf,
  makeServer,
  startClient,
  startDialing,
  startPair,
  startServer,
} from './hosts.ts';
import { LogRecorder } from './log-recorder.ts';
import { rejection, watch } from './outcome.ts';
import { Ask, CHANNEL, Charge, Never, Notice } from './packets.ts';
import { freePort, occupyPort } from './ports.ts';

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
  [false, 'InternalFailure', /^\[InternalFailure\] .*$/],
  [true, 'InternalFailure', /^\[InternalFailure\] RangeError: balance of tenant-42 is 3$/],
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
    expect(error.message).toMatch(text);
    expect(error.message.includes('tenant-42')).toBe(exposeErrorMessages);
    expect(inspect(error)).not.toContain('row 17');
    expect(unhandled).toEqual([[failure, 'request handler of packet "billing.ask" in channel "billing"']]);
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
  const log = new LogRecorder();
  errors.push(
    await rejection(makeServer({ options: { logger: log }, with: (builder) => builder.listen(taken.port) }).start()),
  );
  expect(log.of('zlink.transport.engine_warning')).toMatchObject([{ event: 'bind failed', code: 'EADDRINUSE' }]);
  await taken.release();
  errors.push(await rejection(makeServer({ options: { network: { bindHost: '192.0.2.1' } } }).start()));

  const nobody = await startDialing([`tcp://127.0.0.1:${await freePort()}`]);
  errors.push(await rejection(nobody.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(100).submit()));
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

test('[CALL-005] a server that is gone: nothing of the call was submitted, or it says so', async () => {
  const server = await startServer();
  const client = await startClient([endpointOf(server)]);
  await server.shutdown();
  const error = await rejection(client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(50).submit());
  expect(error).toMatchObject({ kind: 'NotFound', submitted: false });
});

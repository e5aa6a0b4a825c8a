import type { Filter } from '@zlink/kernel/dispatch';
import { ConfigurationError, ZLinkError } from '@zlink/kernel/errors';
import { loopTurns, until } from '@zlink/testing';
import { rejection } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { CHANNEL, startClient, startServer } from './arrange.ts';
import { Ask, Notice } from './packets.ts';

/** An unhandled rejection fails the test that runs. */
const thrown: Readonly<Record<string, () => unknown>> = {
  'an Error': () => new Error('x'),
  null: () => null,
  undefined: () => undefined,
  'a string': () => 'str',
  'a frozen object': () => Object.freeze({}),
  'an error with a getter that throws': () =>
    Object.defineProperty(new Error('x'), 'message', {
      get: () => {
        throw new Error('from the getter');
      },
    }),
  'an error with a cycle of causes': () => {
    const error = new Error('x');
    error.cause = error;
    return error;
  },
  'a proxy that refuses everything': () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
  'a function': () => () => 'called',
};

const ways: Readonly<Record<string, (value: unknown) => unknown>> = {
  'throws at once': (value) => {
    throw value;
  },
  rejects: async (value) => {
    throw value;
  },
  'rejects later': async (value) => {
    await loopTurns(2);
    throw value;
  },
};

const cases = Object.keys(thrown).flatMap((what) => Object.keys(ways).map((how) => ({ what, how })));

test.each(cases)('[C11] [DISP-004] a handler that $how with $what harms nobody', async ({ what, how }) => {
  const cluster = arrangeCluster();
  const value = thrown[what]!();
  let isBad = true;
  const handle = (): unknown => (isBad ? ways[how]!(value) : 'fine');
  const server = await startServer(cluster, 'server', {
    answer: handle,
    with: (s) => s.addSendHandler(Notice, () => handle() as Promise<void>), // what it returns is of no interest
  });
  const client = await startClient(cluster, [server]);
  const error = await rejection(client.request(CHANNEL, Ask(1)).submit());
  expect(error).toMatchObject({ kind: 'InternalFailure', submitted: true });
  expect(error.message).toBe(
    '[InternalFailure] request handler of packet "billing.ask" in channel "billing" (server "server") failed; its log has the cause',
  );
  await client.send(CHANNEL, Notice({ text: '' })).submit();
  await until(() => server.counters(CHANNEL, 'send').failed === 1, 'the send has failed');
  expect(server.counters(CHANNEL, 'request').failed).toBe(1);
  expect(server.unhandled).toHaveLength(2);
  for (const report of server.unhandled) expect(report.error === value).toBe(true);
  expect(server.unhandled.map(({ where }) => where)).toEqual([
    'request handler of packet "billing.ask" in channel "billing" (server "server")',
    'send handler of packet "system.notice" in channel "billing" (server "server")',
  ]);
  isBad = false;
  await expect(client.request(CHANNEL, Ask(1)).submit()).resolves.toBe('fine');
});

test.each(Object.keys(thrown))(
  '[C11] a filter that throws %s before or after the handler harms nobody',
  async (what) => {
    const cluster = arrangeCluster();
    const value = thrown[what]!();
    let ran = 0;
    const filter: Filter = async (context, next) => {
      const when = 'metadata' in context.message ? context.message.metadata.get('when') : undefined;
      if (when === 'before') throw value;
      await next();
      if (when === 'after') throw value;
    };
    const server = await startServer(cluster, 'server', { host: { filters: [filter] }, answer: () => ++ran });
    const client = await startClient(cluster, [server]);
    for (const when of ['before', 'after']) {
      const error = await rejection(client.request(CHANNEL, Ask(1)).metadata('when', when).submit());
      expect(error).toMatchObject({
        kind: 'InternalFailure',
        message:
          '[InternalFailure] request handler of packet "billing.ask" in channel "billing" (server "server") failed; its log has the cause',
      });
    }
    await expect(client.request(CHANNEL, Ask(1)).submit()).resolves.toBe(2);
    expect(server.unhandled).toHaveLength(2);
  },
);

test('[C11] the text of an error crosses only if the host allows it; its stack and cause never', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    host: { exposeErrorMessages: true },
    answer: () => {
      throw new RangeError('order 7 is unknown', { cause: new Error('secret') });
    },
  });
  const client = await startClient(cluster, [server]);
  const error = await rejection(client.request(CHANNEL, Ask(1)).submit());
  expect(error.message).toBe(
    '[InternalFailure] request handler of packet "billing.ask" in channel "billing" (server "server") failed: RangeError: order 7 is unknown',
  );
  expect(error.cause).toBeUndefined();
  expect(error.stack).not.toContain('secret');
});

test('[ERR-005] a ConfigurationError in a handler never becomes an error reply of that text', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    host: { exposeErrorMessages: true },
    answer: () => {
      throw new ConfigurationError(['database password: "hunter2" is not allowed']);
    },
  });
  const client = await startClient(cluster, [server]);
  const error = await rejection(client.request(CHANNEL, Ask(1)).submit());
  expect(error).toMatchObject({
    kind: 'InternalFailure',
    message:
      '[InternalFailure] request handler of packet "billing.ask" in channel "billing" (server "server") failed; its log has the cause',
  });
});

test('[C11] a reply that cannot be encoded is an InternalFailure for its caller and a record here', async () => {
  const cluster = arrangeCluster();
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const server = await startServer(cluster, 'server', { answer: (given) => (given === 'bad' ? cyclic : given) });
  const client = await startClient(cluster, [server]);
  expect(await rejection(client.request(CHANNEL, Ask('bad')).submit())).toMatchObject({ kind: 'InternalFailure' });
  await expect(client.request(CHANNEL, Ask('good')).submit()).resolves.toBe('good');
  expect(server.unhandled).toHaveLength(1);
});

test('[C11] a typed error is an answer, not an unhandled failure', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    answer: () => {
      throw new ZLinkError('AlreadyExists', 'order 7 was charged');
    },
  });
  const client = await startClient(cluster, [server]);
  expect(await rejection(client.request(CHANNEL, Ask(1)).submit())).toMatchObject({
    kind: 'AlreadyExists',
    message: '[AlreadyExists] order 7 was charged',
  });
  expect(server.unhandled).toEqual([]);
});

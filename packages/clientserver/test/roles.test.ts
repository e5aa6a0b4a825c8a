import { ClientServerChannel } from '@zlink/clientserver';
import { ConfigurationError } from '@zlink/kernel/errors';
import { loopTurns } from '@zlink/testing';
import { rejection, watch } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { ask, CHANNEL, endpointOf, startClient, startServer } from './arrange.ts';
import { Ask, Charge, Notice } from './packets.ts';

test('[CS-001] a process serves several channels, and several processes serve one', async () => {
  const cluster = arrangeCluster();
  const both = cluster.host('both');
  both
    .channel(CHANNEL)
    .server()
    .routingId('a')
    .addRequestHandler(Ask, () => 'billing of both');
  both
    .channel('stock')
    .server()
    .addRequestHandler(Ask, () => 'stock of both');
  await both.start();
  const other = await startServer(cluster, 'other', { rid: 'b' });
  const client = cluster.host('client');
  client.channel(CHANNEL).client().connect(endpointOf(both)).connect(endpointOf(other));
  client
    .channel('stock')
    .client()
    .connect(both.channel('stock').endpoint ?? '');
  await client.start();
  await client.channel(CHANNEL).whenReady(2);
  expect(await ask(client, 4)).toEqual(['billing of both', 'other', 'billing of both', 'other']);
  await expect(client.request('stock', Ask(1)).submit()).resolves.toBe('stock of both');
});

test('[CS-001] without the client role a call is NotConfigured, even where the server role is', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', { with: (s) => s.addSendHandler(Notice, () => undefined) });
  const error = await rejection(server.request(CHANNEL, Ask(1)).submit());
  expect(error).toMatchObject({ kind: 'NotConfigured', submitted: false });
  expect(error.message).toBe(
    '[NotConfigured] channel "billing" has no client role in this process, call .client() on it before start()',
  );
  expect((await rejection(server.send(CHANNEL, Notice({ text: 'x' })).submit())).kind).toBe('NotConfigured');
  expect((await rejection(server.channel(CHANNEL).whenReady(1))).kind).toBe('NotConfigured');
  await loopTurns(4);
  expect(server.counters(CHANNEL, 'request').accepted).toBe(0);
});

test('[CALL-005] before its host has started a channel says so, not that a role is missing', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  const channel = host.channel(CHANNEL);
  channel.client();
  channel.server().addRequestHandler(Ask, () => 'ok');
  const early = await rejection(host.request(CHANNEL, Ask(1)).submit());
  expect(early).toMatchObject({ kind: 'InvalidOperation', submitted: false });
  expect(early.message).toBe('[InvalidOperation] channel "billing" is not open: its host has not started');
  expect((await rejection(channel.whenReady(1))).kind).toBe('InvalidOperation');
  expect(() => channel.setWeight(1)).toThrow('[InvalidOperation]');
  expect([channel.endpoint, channel.servers(), channel.listeners(), channel.counters()]).toEqual([
    undefined,
    [],
    [],
    [],
  ]);
  await host.start();
  expect(await ask(host, 1)).toEqual(['ok']);
});

test('[CS-001] a server has nothing to start a call to a client with', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server');
  const names = (object: object): string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) =>
      /send|request|call|push|emit/i.test(name),
    );
  expect(names(server.channel(CHANNEL))).toEqual([]);
  const builder = new ClientServerChannel('x', () => undefined).server();
  expect(names(builder).sort()).toEqual(['addRequestHandler', 'addSendHandler']);
});

test('[CHAN-001] a name leads to its one path: nothing of another channel is found, at whatever address', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server');
  const client = cluster.host('client');
  client.channel('stock').client().connect(endpointOf(server)); // a server of another channel
  await client.start();
  const outcome = watch(client.request('stock', Ask(1)).timeoutMs(300).submit());
  await cluster.clock.advanceAsync(350);
  expect(outcome.value).toMatchObject({ kind: 'NotFound' });
  expect(client.channel('stock').servers()).toMatchObject([
    { state: 'rejected', reason: 'peer: this endpoint serves channel "billing", the caller asked for "stock"' },
  ]);
  expect(server.counters(CHANNEL, 'request').accepted).toBe(0);
});

test('[CHAN-001] [C01] a channel that is described with no role at all is refused before anything is bound', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  host.channel(CHANNEL);
  await expect(host.open()).rejects.toThrow('channel "billing": neither a client nor a server role is registered');
  expect(host.parts.transport.status.links).toBe(0);
});

test('[CS-001] one process may have both roles of a channel, each once', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  const channel = host.channel(CHANNEL);
  channel.server().addRequestHandler(Charge, () => ({ receipt: 'r' }));
  channel.client().setRequestTimeoutMs(5_000);
  channel.client();
  channel.server().setWeight(7);
  const error = await host.open().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as ConfigurationError).problems).toEqual([
    'channel "billing": the client role is registered twice',
    'channel "billing": the server role is registered twice',
  ]);
});

test('[CS-003] [ERR-005] every mistake of a channel is reported together, with value and range', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  const channel = host.channel('');
  channel
    .client()
    .connect('tcp://*:7200')
    .connect('tcp://127.0.0.1:0')
    .connect('billing-1')
    .setSendTimeoutMs(0)
    .setRequestTimeoutMs(2_147_483_648);
  channel
    .server()
    .listen(65_536)
    .setBindHost('no host!')
    .setAdvertiseHost('*')
    .setWeight(10_001)
    .concurrency(0)
    .maxMessageSize(-1)
    .routingId('');
  const error = await host.open().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigurationError);
  expect((error as ConfigurationError).problems).toEqual([
    expect.stringMatching(/^channel name: "" is not allowed/),
    expect.stringMatching(/client connect: "tcp:\/\/\*:7200" is not allowed/),
    expect.stringMatching(/client connect: "tcp:\/\/127.0.0.1:0" is not allowed/),
    expect.stringMatching(/client connect: "billing-1" is not allowed/),
    expect.stringMatching(/client sendTimeoutMs: 0 is not allowed, allowed: integer 1\.\.2147483647/),
    expect.stringMatching(/client requestTimeoutMs: 2147483648 is not allowed/),
    expect.stringMatching(/server listen: 65536 is not allowed, allowed: integer 0\.\.65535/),
    expect.stringMatching(/server weight: 10001 is not allowed, allowed: integer 0\.\.10000/),
    expect.stringMatching(/server concurrency: 0 is not allowed/),
    expect.stringMatching(/server maxMessageSize: -1 is not allowed/),
    expect.stringMatching(/server routingId: "" is not allowed/),
    expect.stringMatching(/server bindHost: "no host!" is not allowed/),
    expect.stringMatching(/server advertiseHost: "\*" is not allowed/),
    expect.stringMatching(/server: no handler is registered, call addRequestHandler or addSendHandler$/),
  ]);
});

test.each([
  ['a name in place of a packet', 'billing.ask', () => 1, 'packet of a request handler: '],
  ['nothing in place of a handler', Ask, undefined, 'request handler of packet "billing.ask": '],
])('[HOSTREG-006] [ERR-002] %s is one mistake, not a missing handler as well', async (_, packet, handler, problem) => {
  const host = arrangeCluster().host('host');
  host
    .channel(CHANNEL)
    .server()
    .addRequestHandler(packet as typeof Ask, handler as () => number);
  const error = await host.open().catch((thrown: unknown) => thrown);
  expect((error as ConfigurationError).problems).toEqual([
    expect.stringMatching(new RegExp(`^channel "billing": ${problem}`)),
  ]);
});

test.each([0, 100, 10_000])('[CS-003] weight %d is allowed', async (weight) => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', { weight });
  const client = await startClient(cluster, [server]);
  expect(client.channel(CHANNEL).servers()).toMatchObject([{ state: 'ready', weight }]);
});

test.each([-1, 10_001, 1.5, NaN, '100'])('[CS-003] weight %p is a configuration mistake', async (weight) => {
  const cluster = arrangeCluster();
  await expect(startServer(cluster, 'server', { weight: weight as number })).rejects.toThrow(
    /server weight: .* is not allowed, allowed: integer 0\.\.10000/,
  );
});

test('[CS-003] weight, size limit and port have their defaults', async () => {
  const cluster = arrangeCluster();
  const server = cluster.host('server');
  server
    .channel(CHANNEL)
    .server()
    .addRequestHandler(Ask, () => 'ok');
  await server.start();
  const client = await startClient(cluster, [server]);
  expect(client.channel(CHANNEL).servers()).toMatchObject([{ weight: 100 }]);
  const error = await rejection(client.request(CHANNEL, Ask('x'.repeat(16_777_216))).submit());
  expect(error.message).toContain('accepts at most 16777216');
  expect(endpointOf(server)).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d+$/);
});

test('[CS-002] [HOSTREG-003] a client with nothing to dial is a configuration mistake', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  host.channel(CHANNEL).client();
  await expect(host.open()).rejects.toThrow(
    'channel "billing" client: there is no server to dial: call connect(endpoint), or register a location store with ' +
      'host.addLocationStore(store)',
  );
});

test('[CS-011] without the server role a weight is NotConfigured, and the error says what to call', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server');
  const client = await startClient(cluster, [server]);
  expect(() => client.channel(CHANNEL).setWeight(1)).toThrow(
    '[NotConfigured] channel "billing" has no server role in this process, call .server() on it before start()',
  );
});

test('[HOSTREG-005] the builders of both roles show nothing of what they collect, and chain', () => {
  const channel = new ClientServerChannel('x', () => undefined);
  const server = channel.server();
  const client = channel.client();
  expect(
    server
      .listen(1)
      .setWeight(2)
      .addRequestHandler(Ask, () => 'ok'),
  ).toBe(server);
  expect(client.connect('tcp://127.0.0.1:7200').setSendTimeoutMs(1).setRequestTimeoutMs(1)).toBe(client);
  for (const builder of [server, client]) {
    expect(Reflect.ownKeys(builder)).toEqual([]);
    expect(Object.isFrozen(builder)).toBe(true);
    const inherited = Object.getOwnPropertyNames(Object.getPrototypeOf(builder));
    for (const name of inherited) expect(typeof Reflect.get(builder, name)).toBe('function');
  }
});

test('[HOSTREG-004] a channel cannot be changed once its host has started', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  const channel = host.channel(CHANNEL);
  const server = channel.server().addRequestHandler(Ask, () => 'ok');
  const client = channel.client();
  await host.start();
  const changes = [
    () => channel.client(),
    () => channel.server(),
    () => client.connect('tcp://127.0.0.1:7200'),
    () => client.setSendTimeoutMs(5),
    () => client.setRequestTimeoutMs(5),
    () => server.listen(1),
    () => server.setBindHost('127.0.0.1'),
    () => server.setAdvertiseHost('here'),
    () => server.setWeight(1),
    () => server.concurrency(1),
    () => server.maxMessageSize(1),
    () => server.routingId('other'),
    () => server.addSendHandler(Notice, () => undefined),
    () => server.addRequestHandler(Charge, () => ({ receipt: '' })),
  ];
  for (const change of changes) expect(change).toThrow('the configuration is frozen');
});

test('[NET-002] a server shows its listener with the real port and the advertised host', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'server', {
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
  });
  const [listener, ...others] = server.channel(CHANNEL).listeners();
  expect(others).toEqual([]);
  expect(listener).toMatchObject({ kind: 'CLIENT_SERVER', name: CHANNEL });
  expect(listener?.endpoint).toMatch(/^tcp:\/\/billing-1:[1-9]\d+$/);
  expect(listener?.since).toBeInstanceOf(Date);
  expect(server.channel(CHANNEL).endpoint).toBe(listener?.endpoint);
});

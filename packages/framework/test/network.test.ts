import { until } from '@zlink/testing';
import { quietPort } from '@zlink/testing/internal';
import { ask, endpointOf, makeHost, makeServer, portOf, startClient, startDialing, startServer } from './hosts.ts';
import { LogRecorder } from './log-recorder.ts';
import { rejection } from './outcome.ts';
import { Ask, CHANNEL } from './packets.ts';
import { hasIpv6Loopback, isListening } from './ports.ts';

test('[NET-001] [NET-002] by default a listener binds loopback only, on a free port that its endpoint names', async () => {
  const servers = [await startServer(), await startServer()];
  const endpoints = servers.map(endpointOf);
  for (const endpoint of endpoints) {
    expect(endpoint).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect(await isListening(portOf(endpoint))).toBe(true);
    if (process.platform === 'linux') expect(await isListening(portOf(endpoint), '127.0.0.2')).toBe(false);
  }
  expect(new Set(endpoints).size).toBe(2);
  const client = await startClient(servers);
  expect(await ask(client, 'both found')).toBe('both found');
});

test('[NET-001] a given port is the one that is bound', async () => {
  const port = await quietPort();
  const server = await startServer({ with: (builder) => builder.listen(port) });
  expect(endpointOf(server)).toBe(`tcp://127.0.0.1:${port}`);
});

test('[NET-001] a wildcard bind is reached from everywhere and named by its advertised host', async () => {
  const log = new LogRecorder();
  const server = makeServer({ options: { network: { bindHost: '*', advertiseHost: 'localhost' }, logger: log } });
  await server.start();
  const port = portOf(endpointOf(server));
  expect(endpointOf(server)).toBe(`tcp://localhost:${port}`);
  expect(await isListening(port)).toBe(true);
  if (hasIpv6Loopback()) expect(await isListening(port, '::1')).toBe(true);
  expect(await ask(await startClient([server]), 'by name')).toBe('by name');
  expect(log.of('zlink.transport.engine_warning')).toMatchObject([{ event: 'unsecured bind' }]);
});

test('[NET-001] what one listener says of itself touches no other one', async () => {
  const host = makeHost({ network: { bindHost: '127.0.0.1', advertiseHost: 'billing-1' } });
  const add = (name: string) =>
    host
      .addClientServerChannel(name)
      .server()
      .addRequestHandler(Ask, () => name);
  add('a');
  add('b').setBindHost('0.0.0.0');
  add('c').setAdvertiseHost('billing-2');
  add('d');
  await host.start();
  const listeners = host.query.listeners();
  expect(listeners.map(({ name, endpoint }) => [name, endpoint.replace(/:\d+$/, '')])).toEqual([
    ['a', 'tcp://billing-1'],
    ['b', 'tcp://billing-1'],
    ['c', 'tcp://billing-2'],
    ['d', 'tcp://billing-1'],
  ]);
  if (process.platform !== 'linux') return; // elsewhere 127.0.0.2 is nobody's address
  const reached = await Promise.all(listeners.map(({ endpoint }) => isListening(portOf(endpoint), '127.0.0.2')));
  expect(reached).toEqual([false, true, false, false]);
});

test('[NET-001] an IPv6 listener has a bracketed endpoint that clients reach, or says that it cannot be', async () => {
  const server = makeServer({ options: { network: { bindHost: '::1' } } });
  if (!hasIpv6Loopback()) {
    expect((await rejection(server.start())).message).toMatch(/is no address of this machine$/);
    return;
  }
  await server.start();
  expect(endpointOf(server)).toMatch(/^tcp:\/\/\[::1\]:[1-9]\d*$/);
  const client = await startClient([server]);
  expect(client.clientServerChannel(CHANNEL).servers()).toMatchObject([
    { endpoint: endpointOf(server), state: 'ready' },
  ]);
  expect(await ask(client, 'by IPv6')).toBe('by IPv6');
  expect(await isListening(portOf(endpointOf(server)))).toBe(false);
});

test('[NET-001] an address that this machine does not have fails the start', async () => {
  const server = makeServer({ options: { network: { bindHost: '192.0.2.1' } } }); // an address of no network at all
  const error = await rejection(server.start());
  expect([error.kind, error.cause]).toEqual(['InvalidOperation', undefined]);
  expect(error.message).toBe(
    '[InvalidOperation] channel "billing" server: tcp://192.0.2.1:0 is no address of this machine',
  );
});

test('[NET-002] the query names every listener, from its binding to its end', async () => {
  const before = new Date();
  const host = makeHost();
  for (const name of ['stock', 'billing'])
    host
      .addClientServerChannel(name)
      .server()
      .addRequestHandler(Ask, () => name);
  host.addClientServerChannel('elsewhere').client().connect('tcp://127.0.0.1:1');
  expect(host.query.listeners()).toEqual([]);
  await host.start();
  const listeners = host.query.listeners();
  const endpoints = ['stock', 'billing'].map((name) => host.clientServerChannel(name).endpoint);
  expect(listeners).toMatchObject([
    { kind: 'CLIENT_SERVER', name: 'stock', endpoint: endpoints[0] },
    { kind: 'CLIENT_SERVER', name: 'billing', endpoint: endpoints[1] },
  ]);
  for (const { since } of listeners) {
    expect(since.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(since.getTime()).toBeLessThanOrEqual(Date.now());
  }
  expect(host.clientServerChannel('elsewhere').endpoint).toBeUndefined();
  await host.shutdown();
  expect(host.query.listeners()).toEqual([]);
});

test('[NET-003] [CS-013] a server gets a routing id of its own at each start, unless it is given one', async () => {
  const automatic = /^server-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const port = await quietPort();
  const seen = new Set<string>();
  const client = await startDialing([`tcp://127.0.0.1:${port}`]);
  const status = () => client.clientServerChannel(CHANNEL).servers()[0];
  for (let round = 0; round < 3; round++) {
    const server = await startServer({ with: (builder) => builder.listen(port) });
    await until(
      () => status()?.state === 'ready' && !seen.has(status()?.routingId ?? ''),
      'the client finds the server',
    );
    expect(status()?.routingId).toMatch(automatic);
    seen.add(status()?.routingId ?? '');
    await server.shutdown();
  }
  expect(seen.size).toBe(3);
  await startServer({ with: (builder) => builder.listen(port).routingId('billing/1 ü') });
  await until(() => status()?.routingId === 'billing/1 ü', 'the client finds the named server');
});

test('[NET-004] an endpoint of another channel is no server of this one, and says so', async () => {
  const host = makeHost();
  host
    .addClientServerChannel('stock')
    .server()
    .addRequestHandler(Ask, () => 'stock');
  await host.start();
  const client = await startDialing([host.clientServerChannel('stock').endpoint ?? '']);
  const servers = () => client.clientServerChannel(CHANNEL).servers();
  await until(() => servers()[0]?.state === 'rejected', 'the client is refused');
  expect(servers()[0]?.reason).toMatch(/^peer: this endpoint serves channel "stock", the caller asked for "billing"$/);
  expect((await rejection(client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(50).submit())).kind).toBe(
    'NotFound',
  );
  expect(host.query.counters().map(({ accepted }) => accepted)).toEqual([0, 0]);
});

import { getEventListeners } from 'node:events';
import { EndpointKind } from '@zlink/kernel/internal/wire';
import { loopTurns, until } from '@zlink/testing';
import { isSettled, watch } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { ask, CHANNEL, configureServer, dialingClient, endpointOf, startClient, startServer } from './arrange.ts';
import { Ask } from './packets.ts';
import { RawPeer } from './raw-peer.ts';

test('[CS-002] several addresses of one server are one candidate and one link', async () => {
  const cluster = arrangeCluster();
  const many = await startServer(cluster, 'a', { with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1') });
  const port = endpointOf(many).split(':').at(-1) ?? '';
  const other = await startServer(cluster, 'b');
  const names = ['127.0.0.1', 'localhost', 'billing-1'].map((host) => `tcp://${host}:${port}`);
  const client = await dialingClient(cluster, [...names, other]);
  await client.channel(CHANNEL).whenReady(2);
  await until(() => client.parts.transport.status.links === 2, 'duplicates give way');
  const states = client
    .channel(CHANNEL)
    .servers()
    .map(({ state }) => state);
  expect(states.filter((state) => state === 'ready')).toHaveLength(2);
  expect(states.filter((state) => state === 'closed')).toHaveLength(2);
  expect(client.channel(CHANNEL).servers()[0]?.routingId).toBe('a');
  expect(await ask(client, 6)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']); // not a, a, a, b
});

test('[CS-002] when the link of a server ends, another of its addresses takes its place', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a', { with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1') });
  const port = endpointOf(server).split(':').at(-1) ?? '';
  const [first, second] = [`tcp://127.0.0.1:${port}`, `tcp://billing-1:${port}`];
  const client = await dialingClient(cluster, [first, second]);
  await client.channel(CHANNEL).whenReady(1);
  await until(() => client.parts.transport.status.links === 1, 'the duplicate gives way');
  const kept =
    client
      .channel(CHANNEL)
      .servers()
      .find(({ state }) => state === 'ready')?.endpoint ?? '';
  cluster.network.cut(kept);
  cluster.network.refuse(kept);
  await cluster.clock.advanceAsync(700); // longer than an intent rests
  expect(await ask(client, 1)).toEqual(['a']);
  const ready = client
    .channel(CHANNEL)
    .servers()
    .filter(({ state }) => state === 'ready');
  expect(ready.map(({ endpoint }) => endpoint)).toEqual([kept === first ? second : first]);
});

test('[CS-002] the same address twice is dialled once', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const client = await dialingClient(cluster, [server, server]);
  await client.channel(CHANNEL).whenReady(1);
  expect(client.channel(CHANNEL).servers()).toHaveLength(1);
  expect(cluster.network.openConnections).toBe(1);
});

test('[CS-002] a server of the same process is dialled without any source, once even if it is named too', async () => {
  const cluster = arrangeCluster();
  const port = 7_200;
  const host = configureServer(cluster, 'a', { port });
  host.channel(CHANNEL).client().connect(`tcp://127.0.0.1:${port}`);
  await host.start();
  await host.channel(CHANNEL).whenReady(1);
  expect(host.channel(CHANNEL).servers()).toMatchObject([{ state: 'ready', local: true, routingId: 'a' }]);
  expect(cluster.network.openConnections).toBe(1);
  expect(await ask(host, 2)).toEqual(['a', 'a']);
});

test.each(['*', '::', '0.0.0.0'])('[CS-002] a local server bound to %s is reached over loopback', async (bindHost) => {
  const cluster = arrangeCluster();
  const host = configureServer(cluster, 'a', { with: (s) => s.setBindHost(bindHost).setAdvertiseHost('billing-1') });
  host.channel(CHANNEL).client();
  await host.start();
  await host.channel(CHANNEL).whenReady(1);
  expect(host.channel(CHANNEL).servers()[0]?.endpoint).toMatch(/^tcp:\/\/(127\.0\.0\.1|\[::1\]):\d+$/);
  expect(await ask(host, 1)).toEqual(['a']);
});

test('[CS-002] only clients connect, whatever the order of RIDs, with one connection per server', async () => {
  const cluster = arrangeCluster();
  // Automatic client RIDs begin with "client-": one server sorts before it, one behind.
  const servers = [await startServer(cluster, 'a'), await startServer(cluster, 'b'), await startServer(cluster, 'z')];
  const client = await startClient(cluster, servers);
  expect(cluster.network.openConnections).toBe(3);
  for (const server of servers) expect(cluster.network.pipesTo(endpointOf(server))).toHaveLength(1);
  expect(client.channel(CHANNEL).servers()).toMatchObject(
    servers.map((server) => ({ endpoint: endpointOf(server), routingId: server.name, state: 'ready' })),
  );
});

test('[CS-002] connections are independent: the end of one leaves the others ready', async () => {
  const cluster = arrangeCluster();
  const servers = [await startServer(cluster, 'a'), await startServer(cluster, 'b'), await startServer(cluster, 'c')];
  const client = await startClient(cluster, servers);
  const [, second] = servers.map(endpointOf);
  cluster.network.refuse(second ?? '');
  cluster.network.cut(second ?? '');
  await loopTurns(4);
  expect(await ask(client, 4)).toEqual(['a', 'c', 'a', 'c']);
  expect(
    client
      .channel(CHANNEL)
      .servers()
      .map(({ state }) => state),
  ).toEqual(['ready', 'reconnecting', 'ready']);
  cluster.network.restore();
  await cluster.clock.advanceAsync(500);
  expect(
    client
      .channel(CHANNEL)
      .servers()
      .map(({ state }) => state),
  ).toEqual(['ready', 'ready', 'ready']);
});

test('[CHAN-007] the order of endpoints and of their becoming ready does not steer the choice', async () => {
  const orders: unknown[][] = [];
  for (const turn of [0, 1, 2]) {
    const cluster = arrangeCluster();
    const servers = [await startServer(cluster, 'a'), await startServer(cluster, 'b'), await startServer(cluster, 'c')];
    const rotated = [...servers.slice(turn), ...servers.slice(0, turn)];
    cluster.network.delay(endpointOf(servers[turn]!), 50);
    const client = await startClient(cluster, rotated);
    cluster.network.restore();
    orders.push(await ask(client, 6));
  }
  expect(orders).toEqual(Array(3).fill(['a', 'b', 'c', 'a', 'b', 'c']));
});

test('[CHAN-007] an address where nobody listens yet is dialled again until somebody does', async () => {
  const cluster = arrangeCluster();
  const port = 7_300;
  const client = await dialingClient(cluster, [`tcp://127.0.0.1:${port}`]);
  await cluster.clock.advanceAsync(2_000);
  expect(client.channel(CHANNEL).servers()).toMatchObject([{ state: 'connecting', reason: 'connection refused' }]);
  await startServer(cluster, 'late', { port });
  await cluster.passing(client.channel(CHANNEL).whenReady(1));
  expect(await ask(client, 1)).toEqual(['late']);
});

test('[CS-004] a server is ready when its host serves, not when its listener answers', async () => {
  const cluster = arrangeCluster();
  const server = await configureServer(cluster, 'a').open();
  const client = await dialingClient(cluster, [server]);
  const ready = watch(client.channel(CHANNEL).whenReady(1));
  const early = watch(client.request(CHANNEL, Ask(1)).submit());
  await until(() => client.channel(CHANNEL).servers()[0]?.state === 'admitted', 'the link is admitted');
  await cluster.clock.advanceAsync(200);
  expect([ready, early].map(isSettled)).toEqual([false, false]);
  expect(server.counters(CHANNEL, 'request').accepted).toBe(0);
  server.serve();
  await loopTurns(16);
  expect(ready.state).toBe('resolved');
  expect(early).toEqual({ state: 'resolved', value: 'a' });
  expect(client.channel(CHANNEL).servers()).toMatchObject([{ state: 'ready' }]);
});

test('[CS-004] [CS-012] a mesh node at the address is no server, and a mesh node no client', async () => {
  const cluster = arrangeCluster();
  const mesh = cluster.add(await new RawPeer(cluster, CHANNEL).listen({ kind: EndpointKind.meshNode }));
  const client = await dialingClient(cluster, [mesh.endpoint]);
  await until(() => client.channel(CHANNEL).servers()[0]?.state === 'rejected', 'the mesh node is refused');
  expect(client.channel(CHANNEL).servers()[0]?.reason).toContain('expected a channel server');
  expect(client.parts.transport.status.links).toBe(0);

  const server = await startServer(cluster, 'a');
  const intent = cluster.add(new RawPeer(cluster, CHANNEL)).dial(endpointOf(server), EndpointKind.meshNode);
  await until(() => intent.state === 'rejected', 'the mesh node is refused');
  expect(intent.reason).toContain('this endpoint takes channel clients, the caller is a mesh node');
  expect(server.parts.transport.status).toMatchObject({ links: 0, refused: { wrongKind: 1 } });
});

test.each([
  ['another server', 'other', /^endpoint is server "other", expected "mine"$/],
  ['another run of it', 'mine', /^endpoint is generation \d+ of server "mine", expected \d+$/],
])('[CS-004] at the address of the local server %s is not let in', async (_, rid, reason) => {
  const cluster = arrangeCluster();
  const port = 7_800;
  const host = configureServer(cluster, 'mine', {
    port,
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
  });
  host.channel(CHANNEL).client();
  const other = await startServer(cluster, 'other', { port, rid }); // answers at 127.0.0.1, the other one everywhere else
  await host.start();
  await until(() => host.channel(CHANNEL).servers()[0]?.state === 'rejected', 'the wrong server is refused');
  expect(host.channel(CHANNEL).servers()[0]?.reason).toMatch(reason);
  await cluster.passing(other.close());
  await cluster.passing(host.channel(CHANNEL).whenReady(1));
  expect(await ask(host, 1)).toEqual(['mine']);
});

test('[CS-013] [NET-003] a Server RID is new per start, or fixed by routingId', async () => {
  const cluster = arrangeCluster();
  const free = (): Promise<unknown> => {
    const host = cluster.host('free');
    host
      .channel(CHANNEL)
      .server()
      .addRequestHandler(Ask, () => 'free');
    return host.start();
  };
  await Promise.all([free(), free(), startServer(cluster, 'c', { rid: 'billing-1' })]);
  const client = await startClient(
    cluster,
    cluster.hosts.map((host) => endpointOf(host)),
  );
  const rids = client
    .channel(CHANNEL)
    .servers()
    .map(({ routingId }) => routingId ?? '');
  const automatic = /^server-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(rids).toEqual([expect.stringMatching(automatic), expect.stringMatching(automatic), 'billing-1']);
  expect(rids[0]).not.toBe(rids[1]);
});

test('[CHAN-003] start-up waits for no server, nor for the admission of a local one', async () => {
  const cluster = arrangeCluster();
  const host = configureServer(cluster, 'a');
  host.channel(CHANNEL).client().connect('tcp://127.0.0.1:7400');
  await host.start(); // nothing has travelled yet, nobody listens at 7400
  expect(host.channel(CHANNEL).servers()).toMatchObject([
    { local: true, state: 'connecting' },
    { local: false, state: 'connecting' },
  ]);
  expect(await ask(host, 1)).toEqual(['a']); // waits for the admission
});

test('[CS-004] whenReady counts ready servers and ends with its signal, with the host, or at once for a bad count', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const client = await startClient(cluster, [server]);
  const channel = client.channel(CHANNEL);
  await expect(channel.whenReady(0)).resolves.toBeUndefined();
  await expect(channel.whenReady(1)).resolves.toBeUndefined();
  for (const count of [-1, 1.5, NaN, '1']) {
    await expect(channel.whenReady(count as number)).rejects.toMatchObject({ kind: 'InvalidOperation' });
  }
  await expect(channel.whenReady(2, AbortSignal.abort('enough'))).rejects.toBe('enough');
  const controller = new AbortController();
  const aborted = watch(channel.whenReady(2, controller.signal));
  const kept = watch(channel.whenReady(2));
  const settled = new AbortController();
  const third = watch(channel.whenReady(2, settled.signal));
  expect(getEventListeners(settled.signal, 'abort')).toHaveLength(1);
  controller.abort(); // the default reason
  await loopTurns(1);
  expect(aborted).toEqual({ state: 'rejected', value: controller.signal.reason as unknown });
  expect(kept.state).toBe('pending');
  await cluster.passing(client.close());
  for (const { value } of [kept, third]) expect(value).toMatchObject({ kind: 'ShuttingDown' });
  for (const { signal } of [controller, settled]) expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  await expect(channel.whenReady(1)).rejects.toMatchObject({ kind: 'ShuttingDown' });
});

test('[CS-004] [CALL-005] who waits for servers hears of the drain at once, and nobody begins to wait any more', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const client = await startClient(cluster, [server]);
  const channel = client.channel(CHANNEL);
  const waiting = watch(channel.whenReady(2));
  client.drain();
  await loopTurns(1);
  expect(waiting).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown' } });
  await expect(channel.whenReady(1)).rejects.toMatchObject({ kind: 'ShuttingDown' });
});

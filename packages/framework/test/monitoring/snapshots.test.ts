import type { HostSnapshot, RuntimeSnapshot, TopologyStatus } from '@zlink/framework';
import { loopTurns, until } from '@zlink/testing';
import { Gate, quietPort } from '@zlink/testing/internal';
import { NEWS, publish, startPublisher, startSubscriber } from '../fanout/fanout-hosts.ts';
import {
  ask,
  endpointOf,
  makeHost,
  makeServer,
  type ServerSetup,
  startClient,
  startDialing,
  startPair,
  startServer,
} from '../hosts.ts';
import { Space } from '../location/stores.ts';
import { askChannel, joinNode, makeNode, meshEndpointOf, startNode } from '../meshes.ts';
import { rejection, thrown } from '../outcome.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';
import { isDeepFrozen, shows } from './observing.ts';

function channelOf({ clientServerChannels }: RuntimeSnapshot) {
  return clientServerChannels[0]!; // hosts of these tests have one
}

function meshOf({ routeMeshes }: RuntimeSnapshot) {
  return routeMeshes[0]!; // hosts of these tests have one
}

function statusOf({ state, reasons }: TopologyStatus): TopologyStatus {
  return { state, reasons };
}

const NO_LINKS: HostSnapshot['links'] = {
  open: 0,
  sentMessages: 0,
  sentBytes: 0,
  receivedMessages: 0,
  receivedBytes: 0,
};

const READY: TopologyStatus = { state: 'ready', reasons: [] };

test('[MON-001] a kept snapshot stays as it was, and nothing in it can be changed', async () => {
  const { server, client } = await startPair();
  const kept = client.query.snapshot();
  const copy = structuredClone(kept);
  await server.shutdown();
  const later = await shows(client, 'the server is gone', (snapshot) => channelOf(snapshot).state === 'degraded');
  expect(kept).toEqual(copy);
  expect(later.sequence).toBeGreaterThan(kept.sequence);
  for (const snapshot of [kept, later, server.query.snapshot()]) expect(isDeepFrozen(snapshot)).toBe(true);
});

test('[MON-002] a host can be read in every state, from its description to its end', async () => {
  const server = makeServer();
  const seen: string[] = [];
  const read = (): void => {
    const { host, clientServerChannels } = server.query.snapshot();
    seen.push(`${host.state}: ${clientServerChannels.map(({ role, state }) => `${role} ${state}`).join()}`);
  };
  server.addHostedService({ start: async () => read(), requestStop: read, stop: read });
  read();
  const starting = server.start();
  read();
  await starting;
  read();
  await server.shutdown();
  read();
  expect(seen).toEqual([
    'configuring: server starting',
    'starting: server starting',
    'starting: server starting',
    'serving: server ready',
    'draining: server stopping',
    'draining: server stopping',
    'stopped: server stopped',
  ]);
});

test('[MON-002] a snapshot shows how full the host is', async () => {
  const gate = new Gate();
  const { server, client } = await startPair({
    options: {
      inboundDispatch: { maxQueuedApplicationJobs: 100, pauseThresholdPercent: 80, resumeThresholdPercent: 60 },
    },
    answer: () => gate.opened,
  });
  const asked = [ask(client, 1), ask(client, 2)];
  await until(() => server.query.snapshot().host.backlog.runningHandlers === 2, 'both handlers run');
  const { host } = server.query.snapshot();
  expect(host.jobs).toEqual({
    permitsInUse: 0,
    max: 100,
    reserved: 0,
    queued: 0,
    pauseAt: 80,
    resumeAt: 60,
    flow: 'RUNNING',
  });
  expect(host.core.budgetBytes).toBeGreaterThan(0);
  expect(host.lifecycleGeneration).toBeGreaterThan(0n);
  expect(client.query.snapshot().host.backlog.pendingRequests).toBe(2);
  gate.open();
  await Promise.all(asked);
  expect(client.query.snapshot().host.backlog.pendingRequests).toBe(0);
});

test('[MON-002] [MON-010] a host that has enough to do shows what waits, and tells that it reads no more', async () => {
  const gate = new Gate();
  const inboundDispatch = { maxQueuedApplicationJobs: 10, pauseThresholdPercent: 80, resumeThresholdPercent: 60 };
  const { server, client } = await startPair({
    options: { inboundDispatch },
    answer: () => gate.opened,
    with: (builder) => builder.concurrency(1),
  });
  const flows: string[] = [];
  const reading = (async () => {
    for await (const { snapshot } of server.query.observe()) flows.push(snapshot.host.jobs.flow);
  })();
  const asked = Promise.all(Array.from({ length: 30 }, (_, at) => ask(client, at)));
  const { host } = await shows(server, 'it reads no more', (snapshot) => snapshot.host.jobs.flow === 'PAUSED');
  expect(host.jobs).toMatchObject({ queued: host.jobs.permitsInUse, reserved: 0, pauseAt: 8, resumeAt: 6 });
  expect(host.jobs.queued).toBeGreaterThanOrEqual(8);
  expect(host.core.queuedBytes).toBeGreaterThan(0);
  expect(host.core.queuedBytes).toBeLessThan(host.core.budgetBytes);
  await until(() => flows.at(-1) === 'PAUSED', 'it is told, too');
  gate.open();
  await asked;
  await server.shutdown();
  await reading;
  expect(flows.filter((flow, at) => flow !== flows[at - 1])).toEqual(['RUNNING', 'PAUSED', 'RUNNING']);
});

test('[MON-002] [MON-004] a host whose start has failed says so, and so do its topologies', async () => {
  const host = makeServer();
  host.addHostedService({ start: () => Promise.reject(new Error('no database')), stop: () => undefined });
  await rejection(host.start());
  const snapshot = host.query.snapshot();
  expect([snapshot.host.state, statusOf(channelOf(snapshot))]).toEqual([
    'error',
    { state: 'failed', reasons: ['internal_failure'] },
  ]);
});

test('[MON-003] while a host drains its topologies are not ready, and the states of peers stay true', async () => {
  const server = await startServer();
  const gate = new Gate();
  const client = makeHost();
  client.addClientServerChannel(CHANNEL).client().connect(endpointOf(server));
  client.addHostedService({ start: async () => undefined, requestStop: () => gate.opened, stop: () => undefined });
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  expect(client.query.snapshot().host).toMatchObject({ state: 'serving', isReady: true });
  const stopping = client.shutdown();
  const { host, ...sections } = client.query.snapshot();
  expect(host).toMatchObject({ state: 'draining', isReady: false });
  expect(host.deadline?.getTime()).toBeGreaterThan(new Date().getTime());
  expect(sections.clientServerChannels).toMatchObject([
    { state: 'stopping', reasons: ['draining'], servers: [{ state: 'ready' }] },
  ]);
  gate.open();
  const result = await stopping;
  const { host: ended } = client.query.snapshot();
  expect([ended.state, ended.deadline, ended.shutdownResult]).toEqual(['stopped', undefined, result]);
});

test('[MON-004] without its only server a channel is degraded, the host serves, and the next call fails; then all is well', async () => {
  const port = await quietPort();
  const onPort: ServerSetup = { with: (builder) => builder.listen(port) };
  const server = await startServer(onPort);
  const client = await startClient([server]);
  expect(statusOf(channelOf(client.query.snapshot()))).toEqual(READY);
  await server.shutdown();
  const { host, clientServerChannels } = await shows(
    client,
    'the channel is degraded',
    (snapshot) => channelOf(snapshot).state === 'degraded',
  );
  expect([host.state, host.isReady, clientServerChannels[0]?.reasons]).toEqual(['serving', true, ['no_ready_target']]);
  const late = client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(100).submit();
  expect(await rejection(late)).toMatchObject({ kind: 'NotFound' });
  await startServer(onPort);
  await shows(client, 'the channel is ready', (snapshot) => channelOf(snapshot).state === 'ready');
  expect(await ask(client, 7)).toBe(7);
});

test('[MON-004] what one topology misses concerns no other one', async () => {
  const node = await startNode('server', { weight: 100 });
  const host = makeNode('client', { connect: [node] });
  host.addClientServerChannel('orders').client().connect('tcp://127.0.0.1:1');
  await host.start();
  await host.routeMesh(MESH).whenReady(1);
  const snapshot = await shows(host, 'the mesh is ready', (each) => meshOf(each).state === 'ready');
  expect(statusOf(channelOf(snapshot))).toEqual({ state: 'degraded', reasons: ['no_ready_target'] });
  expect(await askChannel(host)).toBe('server');
});

test('[MON-004] a mesh without its peers is degraded: by those that it was told of, and by a channel that it calls', async () => {
  const server = await startNode('server', { weight: 100 });
  const client = await joinNode('client', { connect: [server] });
  const mesh = meshOf(client.query.snapshot());
  const { lifecycleGeneration: generation } = meshOf(server.query.snapshot());
  expect(mesh).toMatchObject({ meshName: MESH, nodeRid: 'client', objectRole: 'none', ...READY });
  expect(mesh.peers).toEqual([
    {
      endpoint: meshEndpointOf(server),
      routingId: 'server',
      state: 'ready',
      channels: [{ name: CHANNEL, weight: 100 }],
      draining: false,
      lifecycleGeneration: generation,
      source: 'manual',
      traffic: expect.any(Object) as unknown,
    },
  ]);
  expect(mesh.channels).toEqual([
    {
      channelName: CHANNEL,
      role: 'client',
      readyMembers: 1,
      members: [{ nodeRid: 'server', weight: 100, state: 'ready' }],
    },
  ]);
  expect(meshOf(server.query.snapshot()).channels).toMatchObject([{ role: 'server', weight: 100, readyMembers: 0 }]);
  await server.shutdown();
  const alone = await shows(client, 'the mesh is degraded', (snapshot) => meshOf(snapshot).state === 'degraded');
  expect(meshOf(alone).reasons).toEqual(['no_ready_peer', 'no_ready_target']);
});

test('[MON-004] a node that knows of nobody misses nobody', async () => {
  const node = await startNode('alone', { weight: 100 });
  expect(statusOf(meshOf(node.query.snapshot()))).toEqual(READY);
});

test('[MON-004] [LOC-064] without its store a host is degraded where it needs the store, and works on with what it knows', async () => {
  const space = new Space();
  const store = space.store();
  const server = space.server((asked) => asked);
  const client = space.client({}, store);
  const other = await startPublisher();
  await server.start();
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  const before = client.query.snapshot();
  expect(before.location).toEqual({
    store: 'ready',
    leaseValidUntil: expect.any(Date) as Date,
    lastCompleteRead: expect.any(Date) as Date,
  });
  expect(before.location.leaseValidUntil?.getTime()).toBeGreaterThan(new Date().getTime());
  expect(other.query.snapshot().location).toEqual({ store: 'not_configured' });
  store.inject({ kind: 'fail' });
  const away = await shows(client, 'the store is missed', ({ location }) => location.store === 'degraded');
  expect(statusOf(channelOf(away))).toEqual({ state: 'degraded', reasons: ['location_unavailable'] });
  expect(statusOf(channelOf(server.query.snapshot()))).toEqual(READY);
  expect(await ask(client, 1)).toBe(1);
  store.heal();
  await shows(client, 'the store is back', (snapshot) => channelOf(snapshot).state === 'ready');
});

test('[MON-001] a host shows what has gone over all its links: of clients as well, and of those that have left', async () => {
  const server = makeServer();
  const linksNow = () => server.query.snapshot().host.links;
  expect(linksNow()).toEqual(NO_LINKS);
  await server.start();
  const [leaving, staying] = [await startClient([server]), await startClient([server])];
  for (const [client, times] of [
    [leaving, 3],
    [staying, 4],
  ] as const) {
    for (let asked = 0; asked < times; asked++) expect(await ask(client, asked)).toBe(asked);
  }
  const both = linksNow();
  expect(both).toMatchObject({ open: 2, sentMessages: 7, receivedMessages: 7 });
  await leaving.shutdown();
  await shows(server, 'one client is left', ({ host }) => host.links.open === 1);
  const left = linksNow();
  expect(left).toMatchObject({ open: 1, sentMessages: 7, receivedMessages: 7 });
  expect(left.sentBytes).toBeGreaterThanOrEqual(both.sentBytes);
  expect(left.receivedBytes).toBeGreaterThanOrEqual(both.receivedBytes);
  expect(leaving.query.snapshot().host.links).toMatchObject({ open: 0, sentMessages: 3, receivedMessages: 3 });
  await server.shutdown();
  expect(linksNow()).toMatchObject({ open: 0, sentMessages: 7, receivedMessages: 7 });
});

test('[MON-006] the server of this process is shown like any other, with and without a client beside it', async () => {
  const host = makeHost();
  const channel = host.addClientServerChannel(CHANNEL);
  channel.client();
  channel
    .server()
    .routingId('own')
    .setWeight(7)
    .addRequestHandler(Ask, (asked) => asked);
  await host.start();
  await host.clientServerChannel(CHANNEL).whenReady(1);
  const remote = await startDialing([host]);
  await remote.clientServerChannel(CHANNEL).whenReady(1);
  const [local, far] = [host, remote].map((each) => channelOf(each.query.snapshot()));
  const row = { state: 'ready', serverRid: 'own', weight: 7, draining: false };
  expect(local).toMatchObject({ role: 'client_and_server', ...READY, servers: [{ ...row, local: true }] });
  expect(far).toMatchObject({ role: 'client', ...READY, servers: [{ ...row, local: false }] });
  expect([local, far].map((shown) => shown?.servers[0]?.traffic !== undefined)).toEqual([false, true]);
  expect(local?.servers[0]?.lifecycleGeneration).toBe(far?.servers[0]?.lifecycleGeneration);
  const alone = await startServer();
  expect(channelOf(alone.query.snapshot())).toMatchObject({
    role: 'server',
    ...READY,
    servers: [{ endpoint: endpointOf(alone), state: 'ready', weight: 100, local: true }],
  });
});

test('[MON-006] [MON-007] a subscriber shows whom it hears; a publisher shows nothing of who hears it', async () => {
  const publisher = await startPublisher();
  const subscriber = await startSubscriber([publisher]);
  await publisher.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 3);
  await subscriber.sees(3);
  const { fanoutChannels } = subscriber.host.query.snapshot();
  expect(fanoutChannels).toEqual([
    {
      channelName: NEWS,
      ...READY,
      publishers: [
        { endpoint: publisher.fanoutChannel(NEWS).endpoint, intent: 'open', state: 'ready', missedEvents: 0 },
      ],
    },
  ]);
  expect(publisher.query.snapshot().fanoutChannels).toEqual([]);
  for (const { query } of [publisher, subscriber.host]) expect(query.snapshot().host.links).toEqual(NO_LINKS);
  await publisher.shutdown();
  const alone = await shows(subscriber.host, 'it is missed', (each) => each.fanoutChannels[0]?.state === 'degraded');
  expect(alone.fanoutChannels[0]?.reasons).toEqual(['no_ready_peer']);
});

test('[MON-004] a start that was given up leaves no topology in trouble', async () => {
  const host = makeServer();
  host.addHostedService({ start: () => new Promise(() => undefined), stop: () => undefined });
  const starting = thrown(host.start());
  await loopTurns(20);
  await host.shutdown();
  await starting;
  expect(statusOf(channelOf(host.query.snapshot()))).toEqual({ state: 'stopped', reasons: [] });
});

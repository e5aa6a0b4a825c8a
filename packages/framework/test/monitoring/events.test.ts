import { type MonitoringEvent, ZLinkError } from '@zlink/framework';
import { until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import {
  endpointOf as publisherEndpoint,
  Item,
  NEWS,
  publish,
  startPublisher,
  Subscriber,
} from '../fanout/fanout-hosts.ts';
import { ask, endpointOf, makeHost, makeServer, startClient, startServer } from '../hosts.ts';
import { Space } from '../location/stores.ts';
import { isOfHost, LogRecorder } from '../log-recorder.ts';
import { askNode, joinNode, makeNode, meshEndpointOf, startNode } from '../meshes.ts';
import { rejection } from '../outcome.ts';
import { CHANNEL, MESH } from '../packets.ts';
import { type EventOf, isDeepFrozen, Witness } from './observing.ts';

function typesOf(events: readonly MonitoringEvent[]): string[] {
  return events.map(({ type }) => type.replace('zlink.runtime.', ''));
}

test('[MON-020] [MON-021] the life of a host is told in order, each event once in the log under its type', async () => {
  const log = new LogRecorder();
  const server = makeServer({ options: { logger: log } });
  const witness = new Witness(server);
  await server.start();
  const { lifecycleGeneration } = server.query.snapshot().host;
  await server.shutdown();
  await witness.ended;
  const ofHost = witness.events.filter(({ sourceKind }) => sourceKind === 'host');
  expect(ofHost.map((event) => ('state' in event ? event.state : typesOf([event])[0]))).toEqual([
    'starting',
    'serving',
    'draining',
    'host.termination_changed',
    'stopped',
  ]);
  expect(witness.of('zlink.runtime.host.termination_changed')).toMatchObject([{ outcome: 'stopped', reason: 'none' }]);
  expect(witness.of('zlink.runtime.client_server.state_changed').map(({ state }) => state)).toEqual([
    'ready',
    'stopping',
    'stopped',
  ]);
  for (const [at, event] of witness.events.entries()) {
    expect(event).toMatchObject({ lifecycleGeneration, sequence: BigInt(at + 1) });
    expect(event.at).toBeInstanceOf(Date);
    expect(isDeepFrozen(event)).toBe(true);
  }
  const logged = log.records
    .filter(isOfHost)
    .map((record) => String(record['eventId']))
    .filter((id) => id.startsWith('zlink.runtime.'));
  expect(logged.sort()).toEqual(witness.events.map(({ type }) => String(type)).sort());
});

test('[MON-021] every line of servers, nodes, publishers and their peers is plain JSON', async () => {
  const log = new LogRecorder();
  const options = { logger: log, diagnostics: { level: 'detailed' } } as const;
  const server = await startServer({ options });
  const client = await startClient([server], { options });
  await ask(client, 'x');
  const hub = await startNode('hub', { options });
  const node = await joinNode('node', { connect: [hub], options });
  await askNode(node, 'hub');
  const publisher = await startPublisher({ options });
  const subscriber = new Subscriber(makeHost(options), [publisher], {});
  await subscriber.host.start();
  await publisher.fanoutClient.ready(NEWS, 1);
  await Promise.all([server, hub, publisher].map((host) => host.shutdown()));
  const changed = log.records.filter(({ eventId }) => /_changed$/.test(String(eventId)));
  expect(changed.filter((record) => 'lifecycleGeneration' in record).length).toBeGreaterThan(3);
  for (const record of log.records) expect(JSON.parse(JSON.stringify(record))).toEqual(record);
});

test('[MON-020] a start that fails says why, in a bounded text without a stack', async () => {
  const host = makeServer();
  const witness = new Witness(host);
  host.addHostedService({
    start: () => Promise.reject(new ZLinkError('Unavailable', 'x'.repeat(1_000))),
    stop: () => undefined,
  });
  await rejection(host.start());
  await host.shutdown();
  await witness.ended;
  const [failed] = witness.of('zlink.runtime.host.state_changed').filter(({ state }) => state === 'error');
  expect(failed?.error).toMatchObject({ kind: 'InternalFailure', code: 'ZLINK_INTERNAL_FAILURE' });
  expect(failed?.error?.message.length).toBeLessThanOrEqual(256);
  expect(witness.of('zlink.runtime.client_server.state_changed')).toMatchObject([{ state: 'failed' }]);
});

test('[MON-021] a client tells of its server: found, ready, another weight, drained, gone', async () => {
  const gate = new Gate();
  const server = await startServer({ answer: () => gate.opened });
  const client = makeHost();
  client.addClientServerChannel(CHANNEL).client().connect(endpointOf(server));
  const witness = new Witness(client);
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  server.clientServerChannel(CHANNEL).setWeight(7);
  await witness.sees('zlink.runtime.client_server.server_changed', ({ server: { weight } }) => weight === 7);
  const asked = ask(client, 1);
  await until(() => server.query.snapshot().host.backlog.runningHandlers === 1, 'the handler runs');
  const stopping = server.shutdown();
  await witness.sees('zlink.runtime.client_server.server_changed', ({ server: { draining } }) => draining);
  gate.open();
  await asked;
  await stopping;
  await witness.sees('zlink.runtime.client_server.server_changed', (event) => event.server.state === 'reconnecting');
  const told = witness.of('zlink.runtime.client_server.server_changed');
  for (const [at, { server }] of told.entries()) expect(server).not.toEqual(told[at - 1]?.server);
  // A server that is gone is dialled again: of that only the reason may change.
  const shown = told.map(({ server: { state, weight, draining } }) => `${state} ${weight} ${draining}`);
  expect(shown.filter((one, at) => one !== shown[at - 1])).toEqual([
    'connecting 0 false',
    'ready 100 false',
    'ready 7 false',
    'ready 7 true',
    'reconnecting 0 false',
  ]);
  expect(told.at(1)).toMatchObject({
    channelName: CHANNEL,
    sourceKind: 'client_server',
    serverRid: told.at(1)?.server.serverRid,
    server: { endpoint: endpointOf(server), lifecycleGeneration: expect.any(BigInt) as bigint, local: false },
  });
  const states = witness.of('zlink.runtime.client_server.state_changed').map(({ state }) => state);
  expect(states).toEqual(['degraded', 'ready', 'degraded']);
});

test('[MON-021] a node tells of peers and of the channels that they serve', async () => {
  const server = await startNode('server', { weight: 100 });
  const client = makeNode('client', { connect: [server] });
  const [near, far] = [new Witness(client), new Witness(server)];
  await client.start();
  await client.routeMesh(MESH).whenReady(1);
  server.routeMesh(MESH).channel(CHANNEL).setWeight(7);
  await near.sees('zlink.runtime.mesh_node.channel_changed', ({ channel }) => channel.members[0]?.weight === 7);
  await far.sees('zlink.runtime.mesh_node.channel_changed', ({ channel }) => channel.weight === 7);
  await far.sees('zlink.runtime.mesh_node.peer_changed', ({ peer }) => peer.state === 'ready');
  await server.shutdown();
  await near.sees('zlink.runtime.mesh_node.channel_changed', ({ channel }) => channel.readyMembers === 0);
  await near.sees('zlink.runtime.mesh_node.peer_changed', ({ peer }) => peer.state === 'reconnecting');
  const peers = near.of('zlink.runtime.mesh_node.peer_changed').map(({ peer }) => peer);
  expect(peers[0]).toMatchObject({ endpoint: expect.any(String) as string, state: 'connecting', source: 'manual' });
  expect(peers[1]).toMatchObject({ routingId: 'server', state: 'admitted', channels: [] });
  expect(peers[2]).toMatchObject({ routingId: 'server', state: 'ready', channels: [{ name: CHANNEL, weight: 100 }] });
  expect(new Set(near.events.filter((event) => 'meshName' in event).map((event) => event.meshName))).toEqual(
    new Set([MESH]),
  );
  expect(near.of('zlink.runtime.mesh_node.state_changed').map(({ state, reasons }) => [state, ...reasons])).toEqual([
    ['degraded', 'no_ready_peer', 'no_ready_target'],
    ['ready'],
    ['degraded', 'no_ready_peer', 'no_ready_target'],
  ]);
});

test('[MON-021] two nodes with one routing id are told of, on both sides, once', async () => {
  const log = new LogRecorder();
  const first = await startNode('twin');
  const second = makeNode('twin', { connect: [first], options: { logger: log } });
  const [near, far] = [new Witness(second), new Witness(first)];
  await second.start();
  for (const witness of [near, far]) {
    await witness.sees('zlink.runtime.mesh_node.routing_id_conflict', ({ nodeRid }) => nodeRid === 'twin');
  }
  await until(() => second.routeMesh(MESH).peers.list()[0]?.state === 'rejected', 'the attempt was refused');
  const conflicts = near.of('zlink.runtime.mesh_node.routing_id_conflict');
  expect(conflicts).toMatchObject([
    { meshName: MESH, sourceKind: 'mesh_node', error: { kind: 'AlreadyExists', code: 'ZLINK_ALREADY_EXISTS' } },
  ]);
  expect(log.of('zlink.runtime.mesh_node.routing_id_conflict')).toHaveLength(1);
});

test('[MON-020] a peer, server or publisher that is rejected has an error beside its reason, and only then', async () => {
  const twin = await startNode('twin');
  const sports = makeHost();
  sports.addFanoutChannel('sports').enablePublisher();
  await sports.start();
  const log = new LogRecorder();
  const host = makeNode('twin', { connect: [twin], options: { logger: log } });
  host.addClientServerChannel('payments').client().connect(meshEndpointOf(twin));
  const subscriber = new Subscriber(host, [sports.fanoutChannel('sports').endpoint!], {});
  const witness = new Witness(host);
  await host.start();
  await sports.fanoutClient.ready('sports', 1);
  await sports.fanoutClient.publish('sports', Item({ seq: 1 })).submit();

  for (const [type, kind, code] of [
    ['zlink.runtime.mesh_node.peer_changed', 'AlreadyExists', 'ZLINK_ALREADY_EXISTS'],
    ['zlink.runtime.client_server.server_changed', 'Rejected', 'ZLINK_REJECTED'],
    ['zlink.runtime.fanout.publisher_changed', 'ProtocolError', 'ZLINK_PROTOCOL_ERROR'],
  ] as const) {
    const rejected = () => witness.of(type).filter((event) => rowOf(event).state === 'rejected');
    await until(() => rejected().length > 0, `${type} of one that is rejected`);
    for (const event of rejected()) {
      expect(event.error).toEqual({ kind, code, message: `[${kind}] ${rowOf(event).reason}` });
    }
    const others = witness.of(type).filter((event) => rowOf(event).state !== 'rejected');
    expect(others.length).toBeGreaterThan(0);
    for (const event of others) expect(event).not.toHaveProperty('error');
    const [{ error: { message = '' } = {} } = {}] = rejected();
    expect(log.of(type)).toContainEqual(expect.objectContaining({ state: 'rejected', error: message }));
  }
  expect(subscriber.seen).toEqual([]);
});

function rowOf(
  event: EventOf<
    | 'zlink.runtime.mesh_node.peer_changed'
    | 'zlink.runtime.client_server.server_changed'
    | 'zlink.runtime.fanout.publisher_changed'
  >,
): { readonly state: string; readonly reason?: string } {
  if ('peer' in event) return event.peer;
  return 'server' in event ? event.server : event.publisher;
}

test('[MON-021] [MON-022] a subscriber tells of its publisher, and nothing of its events', async () => {
  const publisher = await startPublisher();
  const host = makeHost();
  const witness = new Witness(host);
  const subscriber = new Subscriber(host, [publisher], {});
  const endpoint = publisherEndpoint(publisher);
  await host.start();
  await publisher.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 100);
  await subscriber.sees(100);
  await publisher.shutdown();
  await witness.sees('zlink.runtime.fanout.publisher_changed', (event) => event.publisher.state === 'reconnecting');
  const told = witness.of('zlink.runtime.fanout.publisher_changed').map((event) => event.publisher);
  expect(told.map(({ state }) => state).filter((state, at, all) => state !== all[at - 1])).toEqual([
    'connecting',
    'admitted',
    'ready',
    'reconnecting',
  ]);
  expect(told[0]).toEqual({ endpoint, intent: 'open', state: 'connecting', missedEvents: 0 });
});

test('[MON-021] the store is told of when it fails and when it works again', async () => {
  const space = new Space();
  const store = space.store();
  const log = new LogRecorder();
  const client = space.client({ logger: log }, store);
  const witness = new Witness(client);
  await client.start();
  store.inject({ kind: 'fail' });
  await witness.sees('zlink.runtime.location.store_changed', ({ location }) => location.store === 'degraded');
  store.heal();
  await witness.sees('zlink.runtime.location.store_changed', ({ location }) => location.store === 'ready');
  const [failed, back] = witness.of('zlink.runtime.location.store_changed');
  expect(failed).toMatchObject({ sourceKind: 'location', error: { kind: 'Unavailable' } });
  expect(back?.error).toBeUndefined();
  expect(log.of('zlink.runtime.location.store_changed')).toMatchObject([{ state: 'degraded' }, { state: 'ready' }]);
});

test('[MON-022] events and their log lines carry nothing of messages, and none is told for one', async () => {
  const log = new LogRecorder();
  const server = await startNode('server', { weight: 100, options: { logger: log } });
  const client = makeNode('client', { connect: [server], options: { logger: log } });
  await client.start();
  await client.routeMesh(MESH).whenReady(1);
  const witness = new Witness(client);
  for (let count = 0; count < 100; count++) await askNode(client, 'server', 'secret');
  await client.shutdown();
  await witness.ended;
  const isOfMessages = (type: string): boolean => !/(state|termination|peer|channel)_changed$/.test(type);
  expect(witness.events.filter(({ type }) => isOfMessages(type))).toEqual([]);
  expect(witness.events.length).toBeLessThan(15);
  const text = JSON.stringify(log.records, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  expect(text).not.toContain('secret');
});

import type { RouteMeshBuilder } from '@zlink/channel';
import { ConfigurationError } from '@zlink/kernel/errors';
import { loopTurns } from '@zlink/testing';
import { rejection, thrown } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { askNode, CHANNEL, describeNode, endpointOf, joinNode, MESH, startNode } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import type { TestHostOptions } from './test-host.ts';

/** The mistakes that a start reports for a mesh which is described like this. */
function problemsOf(describe: (mesh: RouteMeshBuilder) => unknown, options: TestHostOptions = {}): readonly string[] {
  const host = arrangeCluster().host('host', options);
  describe(host.builder(MESH));
  try {
    host.validate();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

test('[MESH-001] a node has one listener for direct messages and all channels', async () => {
  const cluster = arrangeCluster();
  const server = describeNode(cluster, 'server', { weight: 100 });
  for (const name of ['a', 'b']) server.builder(MESH).channel(name).server();
  await server.start();
  expect(server.mesh(MESH).listeners()).toMatchObject([
    { kind: 'ROUTE_MESH', name: MESH, endpoint: endpointOf(server), since: expect.any(Date) as Date },
  ]);
  const caller = await joinNode(cluster, 'caller', { connect: [server] });
  await askNode(caller, 'server');
  await caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit();
  expect(cluster.network.openConnections).toBe(1);
});

test('[MESH-001] meshes of one host never mix', async () => {
  const cluster = arrangeCluster();
  const relay = cluster.host('relay');
  for (const name of ['one', 'two'])
    relay
      .builder(name)
      .routingId('relay')
      .addRouteRequestHandler(Ask, () => name);
  await relay.start();
  const left = cluster.host('left');
  left.builder('one').routingId('left').connect(endpointOf(relay, 'one'));
  await left.start();
  const right = cluster.host('right');
  right.builder('two').routingId('right').connect(endpointOf(relay, 'two'));
  await right.start();
  for (const [host, mesh] of [
    [left, 'one'],
    [right, 'two'],
  ] as const) {
    await cluster.passing(host.runtime(mesh).whenReady(1));
    await expect(host.requestToNode(mesh, 'relay', Ask(1)).submit()).resolves.toBe(mesh);
  }
  await expect(rejection(left.requestToNode('one', 'right', Ask(1)).submit())).resolves.toMatchObject({
    kind: 'NotFound',
  });
  expect(relay.peers('one').map(({ routingId }) => routingId)).toEqual(['left']);
});

test('[MESH-004] a node needs no channel, no handler and no peer to start', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  host.builder(MESH);
  await host.start();
  expect(host.peers(MESH)).toEqual([]);
});

test('[MESH-004] a client of a channel is not told to peers, a server is, with its weight', async () => {
  const cluster = arrangeCluster();
  const node = describeNode(cluster, 'node');
  node.builder(MESH).channel('served').server();
  node.builder(MESH).channel('weighted').server().setWeight(0);
  await node.start();
  const caller = await joinNode(cluster, 'caller', { connect: [node] });
  expect(caller.peers(MESH)[0]?.channels).toEqual([
    { name: 'served', weight: 100 },
    { name: 'weighted', weight: 0 },
  ]);
});

test('[MESH-004] a server without handlers is a member, and calls to it are answered', async () => {
  const cluster = arrangeCluster();
  const server = cluster.host('server');
  server.builder(MESH).routingId('server').channel(CHANNEL).server();
  await server.start();
  const caller = await joinNode(cluster, 'caller', { connect: [server] });
  await expect(rejection(caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit())).resolves.toMatchObject({
    kind: 'NotFound',
    submitted: true,
  });
});

test('[MESH-004] a server may call its channel, and reaches another one', async () => {
  const cluster = arrangeCluster();
  const a = await startNode(cluster, 'a', { weight: 100 });
  const b = await joinNode(cluster, 'b', { weight: 100, connect: [a] });
  await expect(b.requestToChannel(MESH, CHANNEL, Ask(1)).submit()).resolves.toBe('a');
});

test('[CHAN-001] a channel without a role in the mesh is NotFound, and not searched elsewhere', async () => {
  const cluster = arrangeCluster();
  const server = describeNode(cluster, 'server');
  server.builder(MESH).channel('other').server();
  await server.start();
  const caller = await joinNode(cluster, 'caller', { connect: [server] });
  await expect(rejection(caller.requestToChannel(MESH, 'other', Ask(1)).submit())).resolves.toMatchObject({
    kind: 'NotFound',
    submitted: false,
  });
});

test('[CALL-005] calls before the start are InvalidOperation', async () => {
  const cluster = arrangeCluster();
  const host = describeNode(cluster, 'host');
  for (const call of [askNode(host, 'x'), host.sendToChannel(MESH, CHANNEL, Notice({ text: 'x' })).submit()]) {
    await expect(rejection(call)).resolves.toMatchObject({ kind: 'InvalidOperation', submitted: false });
  }
  const runtime = host.runtime(MESH);
  for (const get of [() => runtime.endpoint, () => runtime.routingId, () => runtime.channel(CHANNEL)]) {
    expect(thrown(get).kind).toBe('InvalidOperation');
  }
});

test('[HOSTREG-004] the description is frozen by the start', async () => {
  const cluster = arrangeCluster();
  const host = describeNode(cluster, 'host', { weight: 100 });
  const mesh = host.builder(MESH);
  const channel = mesh.channel(CHANNEL);
  const server = host.builder(MESH).channel('more').server();
  await host.start();
  const changes = [
    () => mesh.listen(1),
    () => mesh.setBindHost('a'),
    () => mesh.setAdvertiseHost('a'),
    () => mesh.routingId('a'),
    () => mesh.setRoutingIdPrefix('a'),
    () => mesh.channel('x'),
    () => mesh.connect('tcp://127.0.0.1:1'),
    () => mesh.setSendTimeoutMs(1),
    () => mesh.setRequestTimeoutMs(1),
    () => mesh.concurrency(1),
    () => mesh.setMailboxLimits({}),
    () => mesh.addRouteSendHandler(Notice, () => undefined),
    () => mesh.addRouteRequestHandler(Ask, () => undefined),
    () => channel.client(),
    () => channel.server(),
    () => server.setWeight(1),
    () => server.concurrency(1),
    () => server.addSendHandler(Notice, () => undefined),
    () => server.addRequestHandler(Ask, () => undefined),
  ];
  for (const change of changes) expect(thrown(change).kind).toBe('InvalidOperation');
});

test('[HOSTREG-005] what applications hold shows nothing of what is behind it', async () => {
  const cluster = arrangeCluster();
  const host = await startNode(cluster, 'host', { weight: 100 });
  const builder = cluster.host('other').builder(MESH);
  const channel = builder.channel(CHANNEL);
  const runtime = host.runtime(MESH);
  const shown = (object: object): string[] =>
    [...Object.keys(object), ...Object.getOwnPropertySymbols(object)].map(String).sort();
  expect(shown(runtime)).toEqual(['channel', 'endpoint', 'meshName', 'peers', 'routingId', 'whenReady']);
  expect(shown(runtime.peers)).toEqual(['connect', 'disconnect', 'list']);
  expect(shown(runtime.channel(CHANNEL))).toEqual(['setWeight', 'weight']);
  expect(shown(channel)).toEqual(['client', 'server']);
  expect(shown(channel.client())).toEqual([]);
  expect(shown(channel.server())).toEqual(['addRequestHandler', 'addSendHandler', 'concurrency', 'setWeight']);
  const held = [runtime, runtime.peers, runtime.channel(CHANNEL), builder, channel, channel.server(), channel.client()];
  for (const object of held) {
    expect(Object.isFrozen(object)).toBe(true);
    expect(Object.getPrototypeOf(object)).toBe(Object.prototype);
  }
});

test('[NET-003] an automatic RID has the prefix and is new at each start', async () => {
  const cluster = arrangeCluster();
  const rids: string[] = [];
  for (const name of ['one', 'two']) {
    const host = cluster.host(name);
    host.builder(MESH);
    host.builder('other').setRoutingIdPrefix('play');
    await host.start();
    rids.push(host.runtime(MESH).routingId, host.runtime('other').routingId);
  }
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
  for (const [at, rid] of rids.entries()) {
    expect(rid).toMatch(new RegExp(`^${at % 2 === 0 ? 'node' : 'play'}-${uuid}$`));
  }
  expect(new Set(rids).size).toBe(4);
});

test('[NET-002] an endpoint or a port can be listened at, and the advertised endpoint is the real one', async () => {
  const cluster = arrangeCluster();
  const fixed = await startNode(cluster, 'fixed', { listen: 'tcp://127.0.0.1:7200' });
  expect(endpointOf(fixed)).toBe('tcp://127.0.0.1:7200');
  const wildcard = await startNode(cluster, 'wildcard', {
    listen: 'tcp://0.0.0.0:7201',
    with: (mesh) => void mesh.setAdvertiseHost('node-b.example'),
  });
  expect(endpointOf(wildcard)).toBe('tcp://node-b.example:7201');
  const port = await startNode(cluster, 'port', { listen: 7_202, with: (mesh) => void mesh.setBindHost('127.0.0.2') });
  expect(endpointOf(port)).toBe('tcp://127.0.0.2:7202');
  expect(endpointOf(await startNode(cluster, 'free'))).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/);
});

test('[HOSTREG-003] all mistakes of a mesh are reported together', () => {
  const problems = problemsOf((mesh) => {
    mesh.listen(70_000).routingId('').setRoutingIdPrefix('no spaces').setAdvertiseHost('*');
    mesh.setSendTimeoutMs(0).setRequestTimeoutMs(1.5).concurrency(0).setMailboxLimits({ messages: 0, bytes: -1 });
    mesh.connect('tcp://*:1').connect('a\0b', 'tcp://127.0.0.1:7000');
    mesh.channel(CHANNEL).server().setWeight(10_001).concurrency(-1);
  });
  expect(problems).toEqual([
    'mesh "game" listen: 70000 is not allowed, allowed: integer 0..65535',
    'mesh "game" advertiseHost: "*" is not allowed, allowed: a host name or an IP address, no wildcard',
    'mesh "game" routingId: "" is not allowed, allowed: 1..255 bytes of UTF-8 without NUL',
    'mesh "game" routingIdPrefix: "no spaces" is not allowed, allowed: [A-Za-z0-9._-]{1,64}',
    'mesh "game": routingId and routingIdPrefix are both set; a fixed RID has no prefix',
    'mesh "game" sendTimeoutMs: 0 is not allowed, allowed: integer 1..2147483647',
    'mesh "game" requestTimeoutMs: 1.5 is not allowed, allowed: integer 1..2147483647',
    'mesh "game" concurrency: 0 is not allowed, allowed: integer 1..2147483647',
    'mesh "game" mailboxLimits.messages: 0 is not allowed, allowed: integer from 1',
    'mesh "game" mailboxLimits.bytes: -1 is not allowed, allowed: integer from 1',
    'mesh "game" connect: "tcp://*:1" is not allowed, allowed: tcp://host:port, no wildcard, port 1..65535',
    'mesh "game" connect, expected RID: "a\\u0000b" is not allowed, allowed: 1..255 bytes of UTF-8 without NUL',
    'channel "match" server weight: 10001 is not allowed, allowed: integer 0..10000',
    'channel "match" server concurrency: -1 is not allowed, allowed: integer 1..2147483647',
  ]);
});

test.each<[string, (mesh: RouteMeshBuilder) => unknown, RegExp]>([
  ['a malformed endpoint', (mesh) => mesh.listen('127.0.0.1:7000'), /listen: "127.0.0.1:7000".*tcp:\/\/host:port/],
  ['two hosts', (mesh) => mesh.listen('tcp://127.0.0.1:1').setBindHost('127.0.0.2'), /both name a host/],
  ['a wildcard alone', (mesh) => mesh.listen('tcp://*:1'), /wildcard and needs an advertiseHost/],
  ['a bad bind host', (mesh) => mesh.setBindHost('a b'), /bindHost: "a b"/],
  ['itself as peer', (mesh) => mesh.routingId('me').connect('me', 'tcp://127.0.0.1:1'), /RID of this node/],
  [
    'two expectations of one endpoint',
    (mesh) => mesh.connect('a', 'tcp://127.0.0.1:1').connect('b', 'tcp://127.0.0.1:1'),
    /given twice, with different expected RIDs/,
  ],
  ['an empty channel name', (mesh) => mesh.channel('').client(), /channel name: ""/],
  ['a channel without role', (mesh) => mesh.channel('x'), /channel "x": neither a client nor a server role/],
  [
    'two roles in one channel',
    (mesh) => [mesh.channel('x').client(), mesh.channel('x').server()],
    /channel "x": it has one role on a mesh, 2 are registered/,
  ],
  [
    'a handler twice in a channel',
    (mesh) =>
      mesh
        .channel('x')
        .server()
        .addSendHandler(Notice, () => undefined)
        .addSendHandler(Notice, () => undefined),
    /channel "x".*send handler.*"system.notice".*twice/,
  ],
  [
    'a handler twice in the node',
    (mesh) => mesh.addRouteSendHandler(Notice, () => undefined).addRouteSendHandler(Notice, () => undefined),
    /mesh "game".*send handler.*"system.notice".*twice/,
  ],
  [
    'a request handler of a one-way message',
    (mesh) => mesh.addRouteRequestHandler(Notice, (() => 1) as never),
    /one-way message/,
  ],
])('[HOSTREG-003] a start reports %s', (_, describe, expected) => {
  expect(problemsOf(describe)).toEqual([expect.stringMatching(expected)]);
});

test('[HOSTREG-002] an empty mesh name is a mistake', () => {
  const host = arrangeCluster().host('host');
  host.builder('');
  expect(() => host.validate()).toThrow(/mesh name: ""/);
});

test('[HOSTREG-003] one endpoint given twice alike is one peer', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other');
  const caller = await joinNode(cluster, 'caller', {
    connect: [other],
    with: (mesh) => void mesh.connect(endpointOf(other)),
  });
  expect(caller.peers(MESH)).toHaveLength(1);
});

test('[HOSTREG-003] peers on a host that cannot dial are a mistake', () => {
  const connect = (mesh: RouteMeshBuilder): unknown => mesh.connect('tcp://127.0.0.1:1');
  expect(problemsOf(connect, { dialProblem: 'serverPublicKey is missing' })).toEqual([
    'mesh "game" connect: serverPublicKey is missing',
  ]);
  expect(problemsOf(() => undefined, { dialProblem: 'serverPublicKey is missing' })).toEqual([]);
});

test('[HOSTREG-003] more channels than a hello has room for are a mistake', async () => {
  const serve = (count: number) => (mesh: RouteMeshBuilder) => {
    for (let i = 0; i < count; i++) mesh.channel(`${i}`.padEnd(250, '-')).server();
  };
  expect(problemsOf(serve(300))).toEqual([expect.stringMatching(/300 channel servers.*allowed: up to/)]);
  expect(problemsOf(serve(250))).toEqual([]);
  const cluster = arrangeCluster();
  const server = describeNode(cluster, 'server', { with: serve(250) });
  await server.start();
  const caller = await joinNode(cluster, 'caller', { connect: [server] });
  expect(caller.peers(MESH)[0]?.channels).toHaveLength(250);
});

test('[ERR-004] a port in use is told with the name of the mesh', async () => {
  const cluster = arrangeCluster();
  await startNode(cluster, 'first', { listen: 7_300 });
  const second = describeNode(cluster, 'second', { listen: 7_300 });
  await expect(second.start()).rejects.toThrow(/7300/);
  await loopTurns(2);
});

/** A route mesh as applications see it, over real sockets; the parts have tests of their own in the channel package. */
import { type FilterContext, metadata, type NodeContext } from '@zlink/framework';
import { loopTurns, until } from '@zlink/testing';
import { Gate, quietPort } from '@zlink/testing/internal';
import { makeHost, NOBODY } from './hosts.ts';
import { isOfHost, LogRecorder } from './log-recorder.ts';
import { askChannel, askNode, joinNode, makeNode, meshEndpointOf, peersOf, startNode } from './meshes.ts';
import { rejection, thrown, watch } from './outcome.ts';
import { Ask, CHANNEL, MESH, Never, Notice } from './packets.ts';
import { hasIpv6Loopback } from './ports.ts';

test('[MESH-001] [NODE-001] nodes call each other by RID through one connection, whoever has dialled it', async () => {
  const a = await startNode('a');
  const b = await joinNode('b', { connect: [a] });
  await a.routeMesh(MESH).whenReady(1);
  expect([await askNode(a, 'b'), await askNode(b, 'a')]).toEqual(['b', 'a']);
  expect(peersOf(a)).toMatchObject([{ endpoint: meshEndpointOf(b), routingId: 'b', state: 'ready', draining: false }]);
  expect(peersOf(b)).toMatchObject([{ endpoint: meshEndpointOf(a), routingId: 'a', state: 'ready', draining: false }]);
  expect(a.query.listeners()).toMatchObject([{ kind: 'ROUTE_MESH', name: MESH, endpoint: meshEndpointOf(a) }]);
});

test('[NODE-001] no mesh and no member of that name is NotFound, as is the node itself, and nothing has left', async () => {
  const a = await startNode('a');
  const b = await joinNode('b', { connect: [a] });
  const fails = async (mesh: string, rid: string) =>
    rejection(b.routeClient.requestToNode(mesh, rid, Ask(1)).submit()).then(({ message, submitted }) => [
      message,
      submitted,
    ]);
  expect(await fails('gane', 'a')).toEqual([
    '[NotFound] mesh "gane" is not registered in this process, did you mean "game"?; registered: "game"',
    false,
  ]);
  expect(await fails(MESH, 'c')).toEqual([`[NotFound] node "c" of mesh "game" is no member; known: "a"`, false]);
  expect((await fails(MESH, 'b'))[0]).toMatch(/^\[NotFound\] node "b" of mesh "game" is this one/);
  expect(() => b.routeMesh('gaem')).toThrow(/^\[NotFound\] mesh "gaem" is not registered/);
});

test('[NODE-002] [DISP-003] one packet name is served apart by node, channel and mesh; handlers see who asked', async () => {
  const seen: NodeContext[] = [];
  const a = makeHost();
  for (const name of ['game', 'chat']) {
    const mesh = a.addRouteMesh(name).routingId('a');
    mesh.addRouteRequestHandler(Ask, (asked, context) => {
      seen.push(context);
      return [name, 'node', asked, context.metadata.get('tenant')];
    });
    mesh
      .channel(`${name} channel`)
      .server()
      .addRequestHandler(Ask, (asked, context) => [name, 'channel', asked, context.metadata.get('tenant')]);
  }
  await a.start();
  const b = makeHost();
  for (const name of ['game', 'chat']) {
    const mesh = b.addRouteMesh(name).routingId(`b of ${name}`).connect('a', a.routeMesh(name).endpoint);
    mesh.channel(`${name} channel`).client();
  }
  await b.start();
  for (const name of ['game', 'chat']) {
    await b.routeMesh(name).whenReady(1);
    const { routeClient } = b;
    expect(await routeClient.requestToNode(name, 'a', Ask(1)).metadata('tenant', '42').submit()).toEqual(
      [name, 'node', 1, '42'], // prettier-ignore
    );
    const all = metadata({ tenant: '43' });
    expect(await routeClient.requestToChannel(`${name} channel`, Ask(2)).metadata(all).submit()).toEqual(
      [name, 'channel', 2, '43'], // prettier-ignore
    );
  }
  expect(seen).toMatchObject([
    { meshName: 'game', sourceNodeRid: 'b of game', targetNodeRid: 'a', kind: 'request', packetName: 'billing.ask' },
    { meshName: 'chat', sourceNodeRid: 'b of chat', targetNodeRid: 'a', kind: 'request', packetName: 'billing.ask' },
  ]);
});

test('[MESH-004] [WRR-001] a channel’s calls go to its servers by weight, never to the caller itself', async () => {
  const a = await startNode('a', { weight: 100 });
  const b = await startNode('b', { weight: 300 });
  const own = await joinNode('own', { weight: 10_000, connect: [a, b] });
  const names = async (count: number): Promise<unknown[]> => {
    const all: unknown[] = [];
    for (let at = 0; at < count; at++) all.push(await askChannel(own));
    return all;
  };
  expect(await names(4)).toEqual(['b', 'a', 'b', 'b']);
  a.routeMesh(MESH).channel(CHANNEL).setWeight(0);
  await until(() => peersOf(own)[0]?.channels[0]?.weight === 0, 'the weight has come');
  expect(await names(4)).toEqual(['b', 'b', 'b', 'b']);
  b.routeMesh(MESH).channel(CHANNEL).setWeight(0);
  await until(() => peersOf(own)[1]?.channels[0]?.weight === 0, 'the weight has come');
  expect(await rejection(askChannel(own))).toMatchObject({ kind: 'NotFound', submitted: false });
  expect(a.routeMesh(MESH).channel(CHANNEL).weight).toBe(0);
  a.routeMesh(MESH).channel(CHANNEL).setWeight(1);
  await until(() => peersOf(own)[0]?.channels[0]?.weight === 1, 'the weight has come');
  expect(await names(2)).toEqual(['a', 'a']);
});

test('[MESH-005] only a weight in range of a channel that this node serves can be set', async () => {
  const a = await startNode('a', { weight: 7 });
  const channel = a.routeMesh(MESH).channel(CHANNEL);
  for (const weight of [-1, 10_001, 1.5, NaN]) {
    expect(() => channel.setWeight(weight)).toThrow(/channel "billing" weight: .* allowed: integer 0\.\.10000/);
  }
  expect(channel.weight).toBe(7);
  const client = await startNode('b');
  expect(() => client.routeMesh(MESH).channel(CHANNEL)).toThrow(/^\[NotConfigured\]/);
});

test('[CHAN-001] channels of a mesh and ClientServer channels of one host are each reached by their name alone', async () => {
  const server = makeHost();
  server
    .addClientServerChannel('stock')
    .server()
    .addRequestHandler(Ask, () => 'stock');
  server
    .addRouteMesh(MESH)
    .channel(CHANNEL)
    .server()
    .addRequestHandler(Ask, () => 'mesh');
  await server.start();
  const client = makeHost();
  client
    .addClientServerChannel('stock')
    .client()
    .connect(server.clientServerChannel('stock').endpoint ?? '');
  client.addRouteMesh(MESH).connect(meshEndpointOf(server)).channel(CHANNEL).client();
  await client.start();
  await client.routeMesh(MESH).whenReady(1);
  expect(await askChannel(client)).toBe('mesh');
  expect(await client.routeClient.requestToChannel('stock', Ask(1)).submit()).toBe('stock');
  expect((await rejection(client.routeClient.requestToChannel('billin', Ask(1)).submit())).message).toBe(
    '[NotFound] channel "billin" is not registered in this process, did you mean "billing"?; registered: "stock", "billing"',
  );
  expect(() => client.clientServerChannel(CHANNEL)).toThrow(/registered: "stock"$/);
});

test('[DISP-007] filters are told the kind of dispatch, and the mesh of direct and of channel messages', async () => {
  const seen: FilterContext[] = [];
  const a = await startNode('a', {
    weight: 100,
    with: (mesh, host) => {
      mesh.addRouteSendHandler(Notice, () => undefined);
      host.addFilter((context, next) => {
        seen.push(context);
        return next();
      });
    },
  });
  const b = await joinNode('b', { connect: [a] });
  await b.routeClient.sendToNode(MESH, 'a', Notice('x')).submit();
  await until(() => seen.length === 1, 'the send is handled');
  await askNode(b, 'a');
  await askChannel(b);
  expect(seen.map(({ dispatchKind, meshName }) => [dispatchKind, meshName])).toEqual([
    ['nodeSend', MESH],
    ['nodeRequest', MESH],
    ['channelRequest', MESH],
  ]);
  expect(seen[0]?.message).toMatchObject({ sourceNodeRid: 'b', targetNodeRid: 'a', correlationId: undefined });
});

test('[NODE-002] [DISP-004] a node without a handler for the packet says so, and a send is counted', async () => {
  const a = await startNode('a');
  const b = await joinNode('b', { connect: [a] });
  const { routeClient } = b;
  expect(await rejection(routeClient.requestToNode(MESH, 'a', Never(1)).submit())).toMatchObject({ kind: 'NotFound' });
  expect(await rejection(askChannel(b))).toMatchObject({ kind: 'NotFound', submitted: false });
  await routeClient.sendToNode(MESH, 'a', Notice(1)).submit();
  await askNode(b, 'a');
  const rows = a.query.counters().map(({ owner, verb, accepted, handled, dropped }) => ({
    ...{ owner, verb, accepted, handled, dropped },
  }));
  expect(rows).toEqual([
    { owner: MESH, verb: 'send', accepted: 1, handled: 0, dropped: { no_handler: 1 } },
    { owner: MESH, verb: 'request', accepted: 2, handled: 1, dropped: { no_handler: 1 } },
    { owner: MESH, verb: 'stray', accepted: 0, handled: 0, dropped: {} },
  ]);
});

test('[MESH-001] counters tell direct messages and each channel apart', async () => {
  const a = await startNode('a', { weight: 100 });
  const b = await joinNode('b', { connect: [a] });
  await askNode(b, 'a');
  await askChannel(b);
  await askChannel(b);
  expect(a.query.counters().map(({ owner, verb, handled }) => [owner, verb, handled])).toEqual([
    [MESH, 'send', 0],
    [MESH, 'request', 1],
    [CHANNEL, 'send', 0],
    [CHANNEL, 'request', 2],
    [MESH, 'stray', 0],
  ]);
});

test('[MESH-002] peers come and go at run time, and whenReady waits for them', async () => {
  const a = await startNode('a', { weight: 5 });
  const b = await startNode('b');
  const runtime = b.routeMesh(MESH);
  const { peers } = runtime;
  const ready = watch(runtime.whenReady(1));
  await loopTurns(5);
  expect([peers.list(), ready.state]).toEqual([[], 'pending']);
  peers.connect('a', meshEndpointOf(a));
  await until(() => ready.state === 'resolved', 'the peer is ready');
  expect(peers.list()).toEqual([
    {
      endpoint: meshEndpointOf(a),
      routingId: 'a',
      state: 'ready',
      channels: [{ name: CHANNEL, weight: 5 }],
      draining: false,
      traffic: expect.any(Object) as unknown,
    },
  ]);
  expect(() => peers.connect('tcp://*:7000')).toThrow(/^\[InvalidOperation\]/);
  expect(() => peers.connect('c', meshEndpointOf(a))).toThrow(/^\[AlreadyExists\]/);
  peers.disconnect(meshEndpointOf(a));
  expect(peers.list()).toEqual([]);
  expect((await rejection(askNode(b, 'a'))).kind).toBe('NotFound');
  await until(() => peersOf(a).length === 0, 'the other side sees it go');
  peers.connect(meshEndpointOf(a));
  await runtime.whenReady(1);
  expect(await askNode(b, 'a')).toBe('a');
});

test('[MESH-002] [NET-004] an endpoint that is not the wanted node is no peer, and the list says why', async () => {
  const wanted = await startNode('wanted');
  const others = makeHost();
  others.addRouteMesh('chat').routingId('other');
  others
    .addClientServerChannel('stock')
    .server()
    .addRequestHandler(Ask, () => 1);
  await others.start();
  const twin = await startNode('twin');
  const endpoints = {
    rid: meshEndpointOf(wanted),
    mesh: others.routeMesh('chat').endpoint,
    channel: others.clientServerChannel('stock').endpoint ?? '',
    self: meshEndpointOf(twin),
  };
  const caller = await startNode('twin', {
    with: (mesh) =>
      mesh
        .connect('expected', endpoints.rid)
        .connect(endpoints.mesh)
        .connect(endpoints.channel)
        .connect(endpoints.self),
  });
  await until(() => peersOf(caller).every(({ state }) => state === 'rejected'), 'all are refused');
  expect(peersOf(caller).map(({ endpoint, reason, channels }) => [endpoint, reason, channels])).toEqual([
    [endpoints.rid, 'endpoint is node "wanted", expected "expected"', []],
    [endpoints.mesh, 'peer: this endpoint belongs to mesh "chat", the caller to mesh "game"', []],
    [endpoints.channel, 'peer: this endpoint takes channel clients, the caller is a mesh node', []],
    [endpoints.self, 'peer: both sides are node "twin"', []],
  ]);
  // The dialled node has to hear that it is not the wanted one.
  await until(() => [wanted, twin].every((node) => peersOf(node).length === 0), 'nobody keeps the caller');
  // Whoever merely answered is no member; who is expected is one, and not ready.
  expect(await rejection(askNode(caller, 'wanted'))).toMatchObject({ kind: 'NotFound', submitted: false });
  const error = await rejection(caller.routeClient.requestToNode(MESH, 'expected', Ask(1)).timeoutMs(50).submit());
  expect([error.kind, error.message]).toEqual(['DeadlineExceeded', expect.stringContaining('expected "expected"')]);
  // A refused peer costs no others anything.
  caller.routeMesh(MESH).peers.disconnect(endpoints.rid);
  caller.routeMesh(MESH).peers.connect('wanted', endpoints.rid);
  await caller.routeMesh(MESH).whenReady(1);
  expect(await askNode(caller, 'wanted')).toBe('wanted');
});

test('[MESH-002] [C02] of two running nodes with one RID the one that came last is reached; the other one is told', async () => {
  const gate = new Gate();
  const hub = await startNode('hub');
  const first = await joinNode('play-1', {
    connect: [hub],
    answer: (asked) => (asked === 'wait' ? gate.opened.then(() => 'first waited') : 'first'),
  });
  await hub.routeMesh(MESH).whenReady(1);
  expect(await askNode(hub, 'play-1')).toBe('first');
  const running = askNode(hub, 'play-1', 'wait');
  await until(() => first.query.counters().some(({ running: count }) => count === 1), 'the handler runs');
  const second = await joinNode('play-1', { connect: [hub], answer: () => 'second' });
  await until(() => peersOf(hub)[0]?.endpoint === meshEndpointOf(second), 'the newcomer has taken over');
  expect(await Promise.all([askNode(hub, 'play-1'), askNode(hub, 'play-1')])).toEqual(['second', 'second']);
  gate.open();
  expect(await running).toBe('first waited'); // what it had is not lost
  await until(() => peersOf(first)[0]?.state === 'rejected', 'the former one is refused');
  expect(peersOf(first)[0]?.reason).toMatch(/^peer: generation \d+ of "play-1" was replaced by a newer one$/);
  expect(await askNode(hub, 'play-1')).toBe('second');
  expect(peersOf(hub)).toHaveLength(1);
});

test('[MESH-002] whenReady ends by its signal, and with the host', async () => {
  const a = await startNode('a');
  const runtime = a.routeMesh(MESH);
  const reason = new Error('enough');
  expect(await thrown(runtime.whenReady(1, AbortSignal.abort(reason)))).toBe(reason);
  const waiting = rejection(runtime.whenReady(1));
  await a.shutdown();
  expect((await waiting).kind).toBe('ShuttingDown');
  expect(peersOf(a)).toEqual([]);
  expect((await rejection(askNode(a, 'b'))).kind).toBe('ShuttingDown');
});

test('[NODE-001] a member that is not there yet is waited for, as long as the send timeout', async () => {
  const b = await startNode('b', {
    with: (mesh) => mesh.connect('a', NOBODY).setSendTimeoutMs(60),
  });
  const error = await rejection(askNode(b, 'a'));
  expect(error).toMatchObject({ kind: 'Unavailable', submitted: false });
  expect(error.message).toMatch(/node "a" of mesh "game" was not ready within 60 ms: tcp:.*/);
});

test('[NODE-001] [CS-008] a draining node is still addressed and decides: new requests get ShuttingDown, running ones end', async () => {
  const gate = new Gate();
  const a = await startNode('a', { answer: (asked) => (asked === 'wait' ? gate.opened.then(() => 'done') : 'now') });
  const b = await joinNode('b', { connect: [a] });
  const accepted = () => a.query.counters().find(({ verb }) => verb === 'request')?.accepted;
  const running = askNode(b, 'a', 'wait');
  await until(() => accepted() === 1, 'the handler runs');
  const stopping = a.shutdown();
  await until(() => peersOf(b)[0]?.draining === true, 'the drain is told');
  const refused = await rejection(askNode(b, 'a', 'new'));
  expect([refused.kind, refused.message]).toEqual(['ShuttingDown', expect.stringContaining('node "a" of mesh "game"')]);
  expect(peersOf(b)).toMatchObject([{ state: 'ready', draining: true }]);
  gate.open();
  expect(await running).toBe('done');
  expect(await stopping).toMatchObject({ outcome: 'stopped' });
});

test('[MESH-006] a draining node is no candidate of its channels any more', async () => {
  const gate = new Gate();
  const a = await startNode('a', { weight: 100, answer: (asked) => (asked === 'wait' ? gate.opened : 'a') });
  const c = await startNode('c', { weight: 100 });
  const b = await joinNode('b', { connect: [a, c] });
  const running = askNode(b, 'a', 'wait');
  await until(() => a.query.counters().some(({ running: n }) => n === 1), 'the handler runs');
  const stopping = a.shutdown();
  await until(() => peersOf(b)[0]?.draining === true, 'the drain is told');
  expect([await askChannel(b), await askChannel(b), await askChannel(b)]).toEqual(['c', 'c', 'c']);
  gate.open();
  await running;
  await stopping;
});

test('[SVC-001] a hosted service calls a peer while its own host still starts', async () => {
  const a = await startNode('a', { weight: 100 });
  const answers: unknown[] = [];
  const b = makeNode('b', {
    connect: [a],
    with: (_mesh, host) =>
      host.addHostedService({
        start: async (signal) => {
          await host.routeMesh(MESH).whenReady(1, signal);
          answers.push(await askNode(host, 'a'), await askChannel(host));
        },
        stop: () => undefined,
      }),
  });
  expect(() => b.routeMesh(MESH).routingId).toThrow(/^\[InvalidOperation\] mesh "game" is not open/);
  expect((await rejection(askNode(b, 'a'))).kind).toBe('InvalidOperation');
  await b.start();
  expect(answers).toEqual(['a', 'a']);
});

test('[MESH-001] a node that starts is connected, and answers Unavailable until it serves', async () => {
  const gate = new Gate();
  const a = await startNode('a');
  const b = makeNode('b', {
    connect: [a],
    with: (_mesh, host) => host.addHostedService({ start: () => gate.opened, stop: () => undefined }),
  });
  const starting = b.start();
  await until(() => peersOf(a).length === 1, 'the node is connected');
  expect(peersOf(a)).toMatchObject([{ routingId: 'b', state: 'admitted' }]);
  const call = a.routeClient.requestToNode(MESH, 'b', Ask(1)).timeoutMs(60).submit();
  expect(await rejection(call)).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  gate.open();
  await starting;
  await a.routeMesh(MESH).whenReady(1);
  expect(await askNode(a, 'b')).toBe('b');
});

test('[NET-003] a node has a RID of its own at each start, with the prefix that it is given', async () => {
  const host = makeHost();
  host.addRouteMesh('game').setRoutingIdPrefix('play');
  host.addRouteMesh('chat');
  await host.start();
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
  expect(host.routeMesh('game').routingId).toMatch(new RegExp(`^play-${uuid}$`));
  expect(host.routeMesh('chat').routingId).toMatch(new RegExp(`^node-${uuid}$`));
});

test('[NET-001] nodes reach each other over IPv6, and a given port is the one that is bound', async () => {
  const port = await quietPort();
  const log = new LogRecorder();
  const hasIpv6 = hasIpv6Loopback();
  const address = hasIpv6 ? '[::1]' : '127.0.0.1'; // where there is no IPv6 the endpoint form is what is left to see
  const listen = `tcp://${address}:${port}`;
  const a = await startNode('a', { with: (mesh) => mesh.listen(listen), options: { logger: log } });
  expect(meshEndpointOf(a)).toBe(listen);
  const b = await joinNode('b', { connect: [a], options: { network: { bindHost: hasIpv6 ? '::1' : '127.0.0.1' } } });
  await a.routeMesh(MESH).whenReady(1);
  expect([await askNode(b, 'a'), await askNode(a, 'b')]).toEqual(['a', 'b']);
  expect(peersOf(a)[0]?.endpoint).toContain(address);
  expect(log.records.filter(isOfHost).filter(({ eventId }) => !String(eventId).endsWith('_changed'))).toEqual([]);
});

test('[NODE-001] both nodes name each other: one connection, and each is listed once', async () => {
  const [portA, portB] = [await quietPort(), await quietPort()];
  const a = makeNode('a', { with: (mesh) => mesh.listen(portA).connect('b', `tcp://127.0.0.1:${portB}`) });
  const b = makeNode('b', { with: (mesh) => mesh.listen(portB).connect('a', `tcp://127.0.0.1:${portA}`) });
  await Promise.all([a.start(), b.start()]);
  await Promise.all([a.routeMesh(MESH).whenReady(1), b.routeMesh(MESH).whenReady(1)]);
  const calls = Array.from({ length: 100 }, () => [askNode(a, 'b'), askNode(b, 'a')]).flat();
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['a', 'b']));
  for (const host of [a, b]) {
    await until(() => peersOf(host).every(({ state }) => state === 'ready'), 'the duplicate is gone');
    expect(peersOf(host)).toHaveLength(1);
  }
});

test('[CHAN-005] a one-way message arrives once, with its metadata, and its sender learns nothing of the handler', async () => {
  const got: unknown[] = [];
  const a = await startNode('a', {
    with: (mesh) =>
      mesh.addRouteSendHandler(Notice, (sent, { metadata: all, correlationId }) => {
        got.push([sent, all.get('k'), correlationId]);
        throw new Error('nobody hears of it');
      }),
  });
  const b = await joinNode('b', { connect: [a] });
  expect(await b.routeClient.sendToNode(MESH, 'a', Notice('x')).metadata('k', 'v').submit()).toBeUndefined();
  await until(() => got.length === 1, 'it is handled');
  expect(got).toEqual([['x', 'v', undefined]]);
  expect(a.query.counters()[0]).toMatchObject({ owner: MESH, verb: 'send', accepted: 1, failed: 1 });
});

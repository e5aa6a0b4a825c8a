import type { Host, LocationStore, ZLinkError } from '@zlink/framework';
import { loopTurns, until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { ask, endpointOf, makeHost } from '../hosts.ts';
import { rejection } from '../outcome.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';
import { Space, watchedStore } from './stores.ts';

async function startAll(...hosts: readonly Host[]): Promise<void> {
  await Promise.all(hosts.map((host) => host.start()));
}

const readyServers = (client: Host): string[] =>
  client
    .clientServerChannel(CHANNEL)
    .servers()
    .filter(({ state }) => state === 'ready')
    .map(({ endpoint }) => endpoint);

const ridOf = (host: Host): string => host.routeMesh(MESH).routingId;

const askNode = (from: Host, to: Host): Promise<unknown> =>
  from.routeClient.requestToNode(MESH, ridOf(to), Ask(1)).submit();

/** Calls again and again; the test's time bounds it. Gives the answer, or the kind of the failure, that was waited for. */
async function askUntil(client: Host, isIt: (outcome: unknown) => boolean): Promise<unknown> {
  for (;;) {
    const outcome: unknown = await ask(client, 1).catch(({ kind }: ZLinkError) => kind);
    if (isIt(outcome)) return outcome;
    await loopTurns(1);
  }
}

test('[CS-002] a client finds servers that start before it and after it, and both get their share', async () => {
  const space = new Space();
  const first = space.server(() => 'first');
  await first.start();
  const client = space.client();
  await client.start();
  expect(await ask(client, 1)).toBe('first');
  const second = space.server(() => 'second');
  await second.start();
  await client.clientServerChannel(CHANNEL).whenReady(2);
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(client, 1)));
  expect(answers.filter((answer) => answer === 'first')).toHaveLength(5);
  expect(readyServers(client).sort()).toEqual([endpointOf(first), endpointOf(second)].sort());
});

test('[CS-002] a server that is named by hand and found by itself is one', async () => {
  const space = new Space();
  const server = space.server(() => 'one');
  await server.start();
  const client = space.host();
  client.addClientServerChannel(CHANNEL).client().connect(endpointOf(server));
  await client.start();
  await client.clientServerChannel(CHANNEL).whenReady(1);
  await startAll(space.server(() => 'other'));
  await client.clientServerChannel(CHANNEL).whenReady(2); // by now the first one was found, too
  expect(readyServers(client)).toHaveLength(2);
  expect(new Set(await Promise.all([1, 2, 3, 4].map(() => ask(client, 1))))).toEqual(new Set(['one', 'other']));
});

test('[MESH-003] nodes find each other, directly and in their channels, each pair once', async () => {
  const space = new Space();
  const nodes = ['a', 'b', 'c', 'd'].map((name) => space.node(name));
  await startAll(...nodes);
  await Promise.all(nodes.map((node) => node.routeMesh(MESH).whenReady(3)));
  for (const [at, node] of nodes.entries()) {
    const peers = node.routeMesh(MESH).peers.list();
    expect(peers.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready']);
    expect(await askNode(node, nodes[(at + 1) % 4]!)).toBe(['b', 'c', 'd', 'a'][at]);
    const answers = await Promise.all([1, 2, 3].map(() => node.routeClient.requestToChannel(CHANNEL, Ask(1)).submit()));
    expect(answers.sort()).toEqual(['a', 'b', 'c', 'd'].filter((_, other) => other !== at));
  }
});

test('[LOC-062] kinds and names do not mix: who publishes a channel is no node, and the other way round', async () => {
  const space = new Space();
  const server = space.server(() => 'server');
  const node = space.host();
  node.addRouteMesh(MESH);
  const other = space.host();
  other.addRouteMesh('another');
  const client = space.client();
  await startAll(server, node, other, client);
  expect(await ask(client, 1)).toBe('server');
  expect([node, other].map((host) => host.routeMesh(host === node ? MESH : 'another').peers.list())).toEqual([[], []]);
  expect(client.clientServerChannel(CHANNEL).servers()).toHaveLength(1);
});

test('[LOC-062] hosts of different stores do not see each other', async () => {
  const [one, two] = [new Space(), new Space()];
  const server = one.server(() => 1);
  const client = two.client();
  await startAll(server, client);
  const error = await rejection(client.routeClient.requestToChannel(CHANNEL, Ask(1)).timeoutMs(200).submit());
  expect(error.kind).toBe('NotFound');
});

test('[LOC-055] an orderly end leaves the targets of others within a poll, and the store', async () => {
  const space = new Space();
  const [first, second, client] = [space.server(() => 'first'), space.server(() => 'second'), space.client()];
  await startAll(first, second, client);
  await client.clientServerChannel(CHANNEL).whenReady(2);
  await first.shutdown();
  expect(await space.traces()).toHaveLength(2 + 1); // leases of two, one descriptor
  await until(() => client.clientServerChannel(CHANNEL).servers().length === 1, 'the client forgets it');
  expect(new Set(await Promise.all([1, 2, 3].map(() => ask(client, 1))))).toEqual(new Set(['second']));
});

test('[CS-013] a server with a fixed RID that starts again takes its old place', async () => {
  const space = new Space();
  const addFixed = (name: string): Host => {
    const host = space.host();
    host
      .addClientServerChannel(CHANNEL)
      .server()
      .routingId('billing-1')
      .addRequestHandler(Ask, () => name);
    return host;
  };
  const client = space.client();
  const old = addFixed('old');
  await startAll(client, old);
  expect(await ask(client, 1)).toBe('old');
  const restarted = addFixed('new');
  await restarted.start(); // while the old one lives
  await until(() => readyServers(client)[0] === endpointOf(restarted), 'the new one is the target');
  expect(await ask(client, 1)).toBe('new');
  await old.shutdown();
  expect(await ask(client, 1)).toBe('new');
  const descriptors = (await space.traces()).filter((key) => key.startsWith('d/'));
  expect(descriptors).toEqual(['d/c/billing/billing-1']); // the old one has not removed what is the new one's
});

test('[CS-011] [MESH-005] weights reach those who found a server or a node by themselves', async () => {
  const space = new Space();
  const [one, two] = [space.node('one'), space.node('two')];
  const caller = space.host();
  caller.addRouteMesh(MESH).channel(CHANNEL).client();
  await startAll(one, two, caller);
  await caller.routeMesh(MESH).whenReady(2);
  one.routeMesh(MESH).channel(CHANNEL).setWeight(0);
  const weights = (): number[] =>
    caller
      .routeMesh(MESH)
      .peers.list()
      .flatMap(({ channels }) => channels.map(({ weight }) => weight));
  await until(() => weights().includes(0), 'the caller knows');
  const answers = await Promise.all([1, 2, 3].map(() => caller.routeClient.requestToChannel(CHANNEL, Ask(1)).submit()));
  expect(answers).toEqual(['two', 'two', 'two']);
});

test('[CS-010] [FAIL-014] while the store is away calls go on; it comes back, and newcomers are found', async () => {
  const space = new Space();
  const stores = [space.store(), space.store()] as const;
  const server = space.server(() => 'first', {}, stores[0]);
  const client = space.client({}, stores[1]);
  await startAll(server, client);
  expect(await ask(client, 1)).toBe('first');
  for (const store of stores) store.inject({ kind: 'fail' });
  const late = space.server(() => 'second');
  await late.start();
  await until(() => stores[1].calls.read > 3, 'the client has asked in vain');
  for (let call = 0; call < 10; call++) expect(await ask(client, 1)).toBe('first');
  for (const store of stores) store.heal();
  await client.clientServerChannel(CHANNEL).whenReady(2);
});

test('[CS-010] [LOC-052] [FAIL-014] a server that cannot renew its lease refuses new calls, a node and a manual server do not', async () => {
  const space = new Space();
  // It refuses a second after its last renewal, and for all of the test the client sees its lease.
  const timing = {
    ownerLeaseTtlMs: 60_000,
    ownerLeaseRenewIntervalMs: 50,
    ownerLeaseRenewTimeoutMs: 50,
    ownerLeaseFencingMarginMs: 59_000,
  };
  const store = space.store();
  const server = space.server(() => 'served', { location: { pollingIntervalMs: 20, ...timing } }, store);
  server.addRouteMesh(MESH).addRouteRequestHandler(Ask, () => 'node');
  const client = space.client();
  client.addRouteMesh(MESH);
  await startAll(server, client);
  await client.routeMesh(MESH).whenReady(1);
  await askUntil(client, (outcome) => outcome === 'served');
  store.inject({ kind: 'fail' });
  expect(await askUntil(client, (outcome) => outcome !== 'served')).toBe('Unavailable');
  expect(await askNode(client, server)).toBe('node');
  const calls = await Promise.all([1, 2, 3].map(() => rejection(ask(client, 1))));
  expect(calls.map(({ kind }) => kind)).toEqual(['Unavailable', 'Unavailable', 'Unavailable']);
  store.heal();
  await askUntil(client, (outcome) => outcome === 'served');
}); // prettier-ignore

test('[FAIL-015] a store that is back is asked for what is our own before anything new counts', async () => {
  const space = new Space();
  const inner = space.store();
  const answered = new Gate();
  let own: readonly string[] = [];
  let [isWatched, asked] = [false, 0];
  const store: LocationStore = {
    ...watchedStore(inner, () => undefined),
    read: async (request, signal) => {
      const result = await inner.read(request, signal);
      const isOfOwn = request.records?.some((key) => own.includes(key) && key.startsWith('d/')) === true;
      if (isWatched && isOfOwn) {
        asked++;
        await answered.opened;
      }
      return result;
    },
  };
  const host = space.server(() => 'own', {}, store);
  host.addClientServerChannel(CHANNEL).client();
  await host.start();
  await host.clientServerChannel(CHANNEL).whenReady(1);
  own = await space.traces();
  inner.inject({ kind: 'fail' });
  const failedBefore = inner.calls.read;
  await until(() => inner.calls.read > failedBefore + 2, 'it was asked in vain');
  await space.server(() => 'newcomer').start();
  const scansBefore = inner.calls.scan;
  isWatched = true;
  inner.heal();
  await until(() => asked > 0, 'it asks for its own descriptor');
  await loopTurns(20);
  expect([inner.calls.scan, host.clientServerChannel(CHANNEL).servers().length]).toEqual([scansBefore, 1]);
  answered.open();
  await host.clientServerChannel(CHANNEL).whenReady(2);
});

test('[FAIL-003] a host that is gone disturbs nobody else', async () => {
  const space = new Space();
  const nodes = ['a', 'b', 'c'].map((name) => space.node(name));
  await startAll(...nodes);
  const [a, b, c] = nodes as [Host, Host, Host];
  await Promise.all(nodes.map((node) => node.routeMesh(MESH).whenReady(2)));
  await b.shutdown({ deadlineMs: 1 });
  expect(await askNode(a, c)).toBe('c');
  expect(await askNode(c, a)).toBe('a');
  expect([a.state, c.state]).toEqual(['serving', 'serving']);
  const again = space.node('b');
  await again.start();
  await again.routeMesh(MESH).whenReady(2);
  expect(await askNode(a, again)).toBe('b');
});

test('[HOST-001] [HOST-003] a host without any peer serves, with meshes and channels in any number', async () => {
  const space = new Space();
  const host = space.host();
  for (let at = 0; at < 5; at++) {
    host.addRouteMesh(`mesh-${at}`);
    host.addClientServerChannel(`client-${at}`).client();
    host
      .addClientServerChannel(`server-${at}`)
      .server()
      .addRequestHandler(Ask, () => at);
  }
  await host.start();
  expect([host.state, host.query.listeners().length]).toEqual(['serving', 10]);
  expect(await space.traces()).toHaveLength(1 + 10); // one lease for all (LOC-050)
  await host.shutdown();
  expect(await space.traces()).toEqual([]);
});

test('[HOST-001] [HOSTREG-001] a host starts once, with a store, too', async () => {
  const host = new Space().host();
  await host.start();
  await expect(host.start()).rejects.toThrow('it was started before and is serving');
  expect(makeHost().state).toBe('configuring');
});

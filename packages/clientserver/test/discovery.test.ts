import { ConfigurationError, Problems } from '@zlink/kernel/errors';
import { DescriptorState } from '@zlink/kernel/internal/wire';
import { ClientServerChannel } from '@zlink/clientserver';
import { loopTurns, until } from '@zlink/testing';
import { Board, Gate, isSettled, rejection, watch } from '@zlink/testing/internal';
import {
  ask,
  CHANNEL,
  configureServer,
  endpointOf,
  findingClient,
  publishingServer,
  serversOf,
  startServer,
} from './arrange.ts';
import { factsOf, type ServerFacts } from './facts.ts';
import { arrangeCluster } from './cluster.ts';
import { Ask } from './packets.ts';
import { RawPeer } from './raw-peer.ts';
import type { TestHost } from './test-host.ts';

/** Addresses that the host dials from here on. */
function dials({ parts: { transport } }: TestHost): readonly string[] {
  const addresses: string[] = [];
  const dial = transport.dial.bind(transport);
  transport.dial = (options) => {
    addresses.push(options.address);
    return dial(options);
  };
  return addresses;
}

test('[CS-002] a client without any address finds the servers that are published, now and later', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const first = await publishingServer(cluster, board, 'a');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  expect(await ask(client, 2)).toEqual(['a', 'a']);
  const second = await publishingServer(cluster, board, 'b');
  await client.channel(CHANNEL).whenReady(2);
  expect(await ask(client, 4)).toEqual(['a', 'b', 'a', 'b']);
  const traffic = expect.any(Object) as unknown;
  const row = { state: 'ready', weight: 100, draining: false, local: false, traffic };
  expect(serversOf(client)).toEqual([
    { ...row, endpoint: endpointOf(first), routingId: 'a' },
    { ...row, endpoint: endpointOf(second), routingId: 'b' },
  ]);
  for (const server of [first, second]) expect(cluster.network.pipesTo(endpointOf(server))).toHaveLength(1);
});

test('[CS-002] a call that waits for a first server goes to the first that is found', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const client = await findingClient(cluster, board);
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await cluster.clock.advanceAsync(1_000);
  expect(outcome.state).toBe('pending');
  await publishingServer(cluster, board, 'a');
  await loopTurns(16);
  expect(outcome).toEqual({ state: 'resolved', value: 'a' });
});

test('[CS-002] what this process, an address and a descriptor name is one candidate, one link and one row', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const port = 7_200;
  const other = await publishingServer(cluster, board, 'b');
  const host = configureServer(cluster, 'a', {
    port,
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
    host: { discovery: board.discovery(cluster.clock) },
  });
  host.channel(CHANNEL).client().connect(`tcp://localhost:${port}`);
  const dialled = dials(host);
  await host.start();
  const two = watch(host.channel(CHANNEL).whenReady(2));
  const three = watch(host.channel(CHANNEL).whenReady(3));
  await until(() => cluster.network.openConnections === 2, 'duplicates give way');
  await cluster.clock.advanceAsync(20_000);
  expect(cluster.network.openConnections).toBe(2);
  expect([two, three].map(isSettled)).toEqual([true, false]);
  expect(await ask(host, 4)).toEqual(['a', 'b', 'a', 'b']); // not a, a, a, b
  expect(serversOf(host).map(({ endpoint, state, local }) => [endpoint, state, local])).toEqual([
    [`tcp://127.0.0.1:${port}`, 'ready', true],
    [`tcp://localhost:${port}`, 'closed', false],
    [endpointOf(other), 'ready', false],
  ]);
  expect(board.facts('a').endpoint).toBe(`tcp://billing-1:${port}`); // has no row beside the local one, and is not dialled
  expect(dialled).toEqual([`tcp://127.0.0.1:${port}`, `tcp://localhost:${port}`, endpointOf(other)]);
});

test('[CS-002] the local server has one row, be it connected or not', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const port = 7_200;
  const host = configureServer(cluster, 'a', {
    port,
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
    host: { discovery: board.discovery(cluster.clock) },
  });
  host.channel(CHANNEL).client();
  cluster.network.refuse(`tcp://127.0.0.1:${port}`);
  await host.start();
  await cluster.clock.advanceAsync(1_000);
  expect(serversOf(host)).toMatchObject([{ local: true, state: 'connecting' }]);
});

test('[CS-002] a published address that was configured too, and where nobody answers, has one row', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const address = 'tcp://10.0.0.1:7200';
  board.post(factsOf({ rid: 'a', generation: 5n }, address));
  const client = await findingClient(cluster, board, [address]);
  await cluster.clock.advanceAsync(1_000);
  expect(serversOf(client)).toMatchObject([{ endpoint: address, state: 'connecting' }]);
});

test('[CS-002] a server that left its configured address is shown where it is published, connected there or not', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a', {
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
  });
  const address = `tcp://localhost:${endpointOf(server).split(':').at(-1)}`;
  const client = await findingClient(cluster, board, [address]);
  await client.channel(CHANNEL).whenReady(1);
  await server.kill();
  board.remove('a');
  await cluster.clock.advanceAsync(1_000);
  expect(serversOf(client)).toMatchObject([{ endpoint: address, routingId: 'a', state: 'reconnecting' }]);
  const elsewhere = 'tcp://10.0.0.1:7200';
  board.post(factsOf({ rid: 'a', generation: 5n }, elsewhere));
  await cluster.clock.advanceAsync(1_000);
  expect(serversOf(client)).toMatchObject([
    { endpoint: address, routingId: 'a', state: 'reconnecting' },
    { endpoint: elsewhere, routingId: 'a', state: 'connecting' },
  ]);
  const fresh = await publishingServer(cluster, board, 'a');
  await client.channel(CHANNEL).whenReady(1);
  expect(serversOf(client)).toMatchObject([{ state: 'reconnecting' }, { endpoint: endpointOf(fresh), state: 'ready' }]);
});

test('[CS-002] an address that rests since discovery had the server first shows the link of that', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a', {
    with: (s) => s.setBindHost('*').setAdvertiseHost('billing-1'),
  });
  const address = `tcp://localhost:${endpointOf(server).split(':').at(-1)}`;
  cluster.network.refuse(address);
  const client = await findingClient(cluster, board, [address]);
  await client.channel(CHANNEL).whenReady(1);
  expect(serversOf(client)).toMatchObject([
    { endpoint: address, state: 'connecting', reason: 'connection refused' },
    { endpoint: endpointOf(server), routingId: 'a', state: 'ready' },
  ]);
  cluster.network.restore();
  await cluster.clock.advanceAsync(1_000);
  const traffic = expect.any(Object) as unknown;
  expect(serversOf(client)).toEqual([
    { endpoint: address, routingId: 'a', state: 'ready', weight: 100, draining: false, local: false, traffic },
  ]);
  expect(cluster.network.openConnections).toBe(1);
});

test.each([
  ['with a store an address is not needed', true, undefined, []],
  [
    'without either there is nothing to dial',
    false,
    undefined,
    [
      'channel "x" client: there is no server to dial: call connect(endpoint), or register a location store with ' +
        'host.addLocationStore(store)',
    ],
  ],
  ['with a store a host must be able to dial', true, 'it has no key', ['channel "x" client: it has no key']],
] as const)('[CS-002] %s', (_, hasLocationStore, dialProblem, expected) => {
  const channel = new ClientServerChannel('x', () => undefined);
  channel.client();
  const problems = new Problems();
  const network = { bindHost: '127.0.0.1', advertiseHost: undefined, services: undefined };
  channel.validate({ problems, ...network, hasLocationStore, dialProblem });
  let found: readonly string[] = [];
  try {
    problems.throwIfAny();
  } catch (error) {
    found = (error as ConfigurationError).problems;
  }
  expect(found).toEqual(expected);
});

test('[CS-002] 1,000 servers found at once are 1,000 links, each called once in turn', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const raw = cluster.add(new RawPeer(cluster, CHANNEL));
  raw.answer = (asked) => raw.reply(asked, { payload: '1' });
  const rids = Array.from({ length: 1_000 }, (_, i) => `s${String(i).padStart(4, '0')}`);
  for (const [i, rid] of rids.entries()) {
    await raw.listen({ rid, generation: BigInt(i + 1) });
    board.post(factsOf({ rid, generation: BigInt(i + 1) }, raw.endpoint));
  }
  const client = await findingClient(cluster, board);
  await cluster.passing(client.channel(CHANNEL).whenReady(1_000));
  expect(serversOf(client).filter(({ state }) => state === 'ready')).toHaveLength(1_000);
  await Promise.all(rids.map(() => client.request(CHANNEL, Ask(1)).submit()));
  expect(new Set(raw.received.map(({ link }) => link)).size).toBe(1_000);
});

test('[CS-004] another generation, or another server, at the published address is not let in, and the reason is shown', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await startServer(cluster, 'a');
  board.post(factsOf({ rid: 'a', generation: 5n }, endpointOf(server)));
  board.post(factsOf({ rid: 'b', generation: 5n }, endpointOf(server)));
  const client = await findingClient(cluster, board, [], { with: (c) => c.setRequestTimeoutMs(500) });
  const error = await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).submit()));
  expect(error.kind).toBe('NotFound');
  const [generation, rid] = serversOf(client);
  expect(generation).toMatchObject({ routingId: 'a', state: 'rejected' });
  expect(generation?.reason).toMatch(/^endpoint is generation \d+ of server "a", expected 5$/);
  expect(rid).toMatchObject({ routingId: 'b', state: 'rejected', reason: 'endpoint is server "a", expected "b"' });
  for (const { endpoint, reason } of serversOf(client))
    expect(error.message).toContain(`${endpoint} rejected (${reason})`);
  expect(client.parts.transport.status.links).toBe(0);
});

test('[CS-004] a server is published as starting once it is bound, and ready when it serves', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const client = await findingClient(cluster, board);
  const server = await configureServer(cluster, 'a', { host: { discovery: board.discovery(cluster.clock) } }).open();
  await loopTurns(8);
  expect(board.written).toEqual([]);
  await server.announce();
  expect(board.written).toMatchObject([{ state: 'starting', endpoint: endpointOf(server) }]);
  const ready = watch(client.channel(CHANNEL).whenReady(1));
  await until(() => serversOf(client)[0]?.state === 'admitted', 'it is found');
  expect(ready.state).toBe('pending');
  server.serve();
  await loopTurns(8);
  expect(ready.state).toBe('resolved');
  expect(board.written.map(({ state }) => state)).toEqual(['starting', 'serving']);
});

test('[LOC-062] a channel publishes what a server says of itself, and looks at nothing but servers of its name', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a', { rid: 'billing-1', weight: 7 });
  await findingClient(cluster, board);
  expect(board.written[0]).toEqual({
    name: CHANNEL,
    rid: 'billing-1',
    lifecycleGeneration: expect.any(BigInt) as bigint,
    revision: 1n,
    endpoint: endpointOf(server),
    weight: 7,
    state: 'starting',
  } satisfies ServerFacts);
  expect(board.watched).toEqual([{ kind: 'clientServer', name: CHANNEL }]); // a server alone looks at nobody
});

test('[CS-005] store and links are told of each change with the same revision, the links first', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const discovery = board.discovery(cluster.clock);
  const server = await publishingServer(cluster, board, 'a', { host: { discovery } });
  const peer = cluster.add(new RawPeer(cluster, CHANNEL));
  peer.dial(endpointOf(server));
  await until(() => peer.links.length === 1, 'it is admitted');
  server.channel(CHANNEL).setWeight(0);
  server.channel(CHANNEL).setWeight(7);
  discovery.sources[0]?.raise(); // others have removed the descriptor
  server.drain();
  await loopTurns(8);
  expect(board.written.map(({ revision, state, weight }) => [revision, state, weight])).toEqual([
    [1n, 'starting', 100],
    [2n, 'serving', 100],
    [3n, 'serving', 0],
    [4n, 'serving', 7],
    [6n, 'draining', 7], // the raised one is written by who asked for it
  ]);
  expect(peer.link.descriptor).toMatchObject({ revision: 6n, state: DescriptorState.draining });
});

test('[CS-005] a revision that was raised reaches the links, and the next look at the facts', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const discovery = board.discovery(cluster.clock);
  const server = await publishingServer(cluster, board, 'a', { host: { discovery } });
  const peer = cluster.add(new RawPeer(cluster, CHANNEL));
  peer.dial(endpointOf(server));
  await until(() => peer.links.length === 1, 'it is admitted');
  discovery.sources[0]?.raise();
  await loopTurns(8);
  expect(peer.link.descriptor).toMatchObject({ revision: 3n, state: DescriptorState.serving });
  expect(discovery.sources[0]?.facts()).toMatchObject({ revision: 3n, state: 'serving' });
});

test('[CS-011] [CS-005] a weight that changes while the place is being claimed is written afterwards', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const discovery = board.discovery(cluster.clock);
  const gate = new Gate();
  discovery.claimed = gate.opened;
  const server = await configureServer(cluster, 'a', { host: { discovery } }).open();
  const announced = server.announce();
  server.channel(CHANNEL).setWeight(9);
  gate.open();
  await announced;
  expect(board.written.map(({ revision, weight }) => [revision, weight])).toEqual([
    [1n, 100],
    [2n, 9],
  ]);
});

test('[CS-005] a late older descriptor revives neither a draining server nor an old weight', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const leaving = await publishingServer(cluster, board, 'leaving');
  const resting = await publishingServer(cluster, board, 'resting');
  const client = await findingClient(cluster, board, [], { with: (c) => c.setRequestTimeoutMs(500) });
  await client.channel(CHANNEL).whenReady(2);
  const older = [board.facts('leaving'), board.facts('resting')];
  leaving.drain();
  resting.channel(CHANNEL).setWeight(0);
  await loopTurns(8);
  for (const facts of older) board.post(facts);
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await cluster.clock.advanceAsync(600);
  expect(outcome.value).toMatchObject({ kind: 'NotFound' });
  expect(serversOf(client)).toMatchObject([
    { routingId: 'leaving', state: 'ready', draining: true },
    { routingId: 'resting', state: 'ready', weight: 0 },
  ]);
});

test('[CS-005] a server that drains, as its descriptor says, is not dialled; a connected one keeps its link', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  const server = await publishingServer(cluster, board, 'a');
  const early = await findingClient(cluster, board, [], { name: 'early' });
  await early.channel(CHANNEL).whenReady(1);
  server.drain();
  await loopTurns(8);
  const late = await findingClient(cluster, board, [], { name: 'late' });
  await cluster.clock.advanceAsync(5_000);
  expect(serversOf(early)).toMatchObject([{ state: 'ready', draining: true }]);
  expect(serversOf(late)).toMatchObject([{ routingId: 'a', state: 'closed', reason: 'draining', draining: false }]);
  expect(cluster.network.openConnections).toBe(1);
});

test('[CS-002] a client that closes looks no more, and what it found is gone', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'clientServer'>()];
  await publishingServer(cluster, board, 'a');
  const client = await findingClient(cluster, board);
  await client.channel(CHANNEL).whenReady(1);
  expect(board.watcherCount).toBe(1);
  await cluster.passing(client.close());
  expect(board.watcherCount).toBe(0);
  expect(serversOf(client)).toEqual([]);
});

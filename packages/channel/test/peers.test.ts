import { RecordKind, RejectReason } from '@zlink/kernel/internal/wire';
import { loopTurns, until } from '@zlink/testing';
import { Gate, rejection, thrown, watch } from '@zlink/testing/internal';
import { type Cluster, arrangeCluster } from './cluster.ts';
import { ask, askNode, CHANNEL, describeNode, endpointOf, joinNode, MESH, startNode } from './arrange.ts';
import { RawNode } from './raw-node.ts';
import { RejectingListener } from './rejecting-listener.ts';

test('[MESH-002] a manual peer is connected by its endpoint and told by its RID', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other', { weight: 7 });
  const caller = await joinNode(cluster, 'caller', { connect: [other] });
  const traffic = expect.any(Object) as unknown;
  expect(caller.peers(MESH)).toEqual([
    {
      endpoint: endpointOf(other),
      routingId: 'other',
      state: 'ready',
      channels: [{ name: CHANNEL, weight: 7 }],
      draining: false,
      traffic,
    },
  ]);
  expect(other.peers(MESH)).toEqual([
    { endpoint: endpointOf(caller), routingId: 'caller', state: 'ready', channels: [], draining: false, traffic },
  ]);
});

test('[MESH-002] what the list shows cannot be changed', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other', { weight: 7 });
  const caller = await joinNode(cluster, 'caller', { connect: [other] });
  const rows = caller.peers(MESH);
  const parts = [rows, rows[0], rows[0]?.channels, rows[0]?.channels[0]];
  expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true]);
});

test('[MESH-002] a node with another RID than the expected one is not admitted, and both sides see why', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other');
  const caller = await startNode(cluster, 'caller', { with: (mesh) => void mesh.connect('wanted', endpointOf(other)) });
  await cluster.clock.advanceAsync(50);
  const [row] = caller.peers(MESH);
  expect(row).toMatchObject({ endpoint: endpointOf(other), routingId: 'other', state: 'rejected', channels: [] });
  expect(row?.reason).toContain('"other"');
  expect(row?.reason).toContain('"wanted"');
  expect(other.peers(MESH)).toEqual([]);
});

test('[MESH-002] [CHAN-002] a node that expects another one here is no target of calls for a moment', async () => {
  const cluster = arrangeCluster();
  const good = await startNode(cluster, 'good', { weight: 100 });
  const shown = new Set<string>();
  const a = await joinNode(cluster, 'a', { weight: 100, connect: [good] });
  await startNode(cluster, 'b', { weight: 100, with: (mesh) => void mesh.connect('wanted', endpointOf(a)) });
  const refusals = (): number => a.parts.transport.status.refused['wrongRid'] ?? 0;
  for (let round = 0; refusals() < 5; round++) {
    await expect(ask(a, 4)).resolves.toEqual(['good', 'good', 'good', 'good']);
    for (const { routingId } of a.peers(MESH)) shown.add(`${routingId}`);
    await cluster.clock.advanceAsync(50);
    if (round > 1_000) throw new Error('b has not dialled');
  }
  expect([...shown]).toEqual(['good']);
  expect(a.parts.transport.status.links).toBe(1);
});

test('[MESH-001] [NET-004] a node of another mesh is not admitted, and the reason says so', async () => {
  const cluster = arrangeCluster();
  const other = cluster.host('other');
  other.builder('chat').routingId('other');
  await other.start();
  const caller = await startNode(cluster, 'caller', { connect: [endpointOf(other, 'chat')] });
  await cluster.clock.advanceAsync(50);
  const [row] = caller.peers(MESH);
  expect(row?.state).toBe('rejected');
  expect(row?.reason).toContain('"chat"');
  expect(row?.reason).toContain('"game"');
});

test('[MESH-002] two nodes with one RID see their conflict', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other', { rid: 'same' });
  const caller = await startNode(cluster, 'caller', { rid: 'same', connect: [other] });
  await cluster.clock.advanceAsync(50);
  const [row] = caller.peers(MESH);
  expect(row).toMatchObject({ endpoint: endpointOf(other), state: 'rejected' });
  expect(row?.reason).toContain('"same"');
});

test('[MESH-002] peers are connected and disconnected at run time; the same again has no effect', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other', { weight: 100 });
  const caller = await startNode(cluster, 'caller');
  const runtime = caller.runtime(MESH);
  const { peers } = runtime;
  peers.connect('other', endpointOf(other));
  peers.connect('other', endpointOf(other));
  await cluster.passing(runtime.whenReady(1));
  await expect(ask(caller, 1)).resolves.toEqual(['other']);
  expect(peers.list()).toHaveLength(1);
  expect(cluster.network.openConnections).toBe(1);
  peers.disconnect('tcp://127.0.0.1:9'); // never connected
  peers.disconnect(endpointOf(other));
  expect(peers.list()).toEqual([]);
  await expect(rejection(ask(caller, 1))).resolves.toMatchObject({ kind: 'NotFound' });
  await loopTurns(16);
  expect(cluster.network.openConnections).toBe(0);
  peers.connect(endpointOf(other));
  await cluster.passing(runtime.whenReady(1));
  await expect(ask(caller, 1)).resolves.toEqual(['other']);
});

test('[MESH-002] an endpoint has one expectation', async () => {
  const cluster = arrangeCluster();
  const other = await startNode(cluster, 'other');
  const caller = await startNode(cluster, 'caller', { connect: [other] });
  const { peers } = caller.runtime(MESH);
  const again = (): void => peers.connect('other', endpointOf(other));
  expect(thrown(again).kind).toBe('AlreadyExists');
  expect(again).toThrow(endpointOf(other));
  peers.disconnect(endpointOf(other));
  again();
  await cluster.passing(caller.runtime(MESH).whenReady(1));
});

test.each(['', 'localhost:7000', 'tcp://*:7000', 'tcp://127.0.0.1:0', 'http://127.0.0.1:7000', 7])(
  '[MESH-002] %p is no endpoint of a peer',
  async (endpoint) => {
    const cluster = arrangeCluster();
    const caller = await startNode(cluster, 'caller');
    const connect = (): void => caller.runtime(MESH).peers.connect(endpoint as string);
    expect(thrown(connect).kind).toBe('InvalidOperation');
    expect(connect).toThrow(JSON.stringify(endpoint));
    expect(caller.peers(MESH)).toEqual([]);
  },
);

test('[MESH-002] an expected RID out of range, and a host that cannot dial, are told at once', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller', { host: { dialProblem: 'serverPublicKey is missing' } });
  const { peers } = caller.runtime(MESH);
  expect(() => peers.connect('a\0b', 'tcp://127.0.0.1:7000')).toThrow(/InvalidOperation.*expected RID/);
  expect(() => peers.connect('tcp://127.0.0.1:7000')).toThrow(/InvalidOperation.*serverPublicKey is missing/);
});

test('[MESH-002] peers are for a running host', async () => {
  const cluster = arrangeCluster();
  const host = describeNode(cluster, 'host');
  const { peers } = host.runtime(MESH);
  const actions = [() => peers.connect('tcp://127.0.0.1:7000'), () => peers.disconnect('tcp://127.0.0.1:7000')];
  for (const action of actions) expect(thrown(action).kind).toBe('InvalidOperation');
  expect(thrown(() => peers.list()).kind).toBe('InvalidOperation');
  await host.start();
  await cluster.passing(host.close());
  for (const action of actions) expect(thrown(action).kind).toBe('ShuttingDown');
  expect(peers.list()).toEqual([]);
});

test('[MESH-002] a disconnected peer ends what it accepted, and takes nothing new', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const other = await startNode(cluster, 'other', {
    answerDirect: async () => {
      await gate.opened;
      return 'late';
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [other] });
  const accepted = watch(askNode(caller, 'other'));
  await until(() => other.counters(MESH, 'request').running === 1, 'the request runs');
  const runtime = caller.runtime(MESH);
  const { peers } = runtime;
  peers.disconnect(endpointOf(other));
  await expect(rejection(askNode(caller, 'other'))).resolves.toMatchObject({ kind: 'NotFound' });
  peers.connect(endpointOf(other)); // comes back while the old connection still has work
  await cluster.passing(runtime.whenReady(1));
  expect(accepted.state).toBe('pending');
  gate.open();
  await loopTurns(8);
  expect(accepted).toEqual({ state: 'resolved', value: 'late' });
  await expect(askNode(caller, 'other')).resolves.toBe('late');
});

test('[CORE-011] work left on a disconnected peer does not outlive the host', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const other = await startNode(cluster, 'other', { answerDirect: () => gate.opened });
  const caller = await joinNode(cluster, 'caller', { connect: [other] });
  const accepted = watch(askNode(caller, 'other'));
  await until(() => other.counters(MESH, 'request').running === 1, 'the request runs');
  caller.runtime(MESH).peers.disconnect(endpointOf(other));
  await cluster.passing(caller.close(300));
  expect(accepted).toMatchObject({ state: 'rejected', value: { submitted: true } });
  expect(caller.parts.transport.status.links).toBe(0);
  gate.open();
  await loopTurns(8);
});

test('[MESH-003] a peer that needs no connection rests until it is disconnected and connected anew', async () => {
  const cluster = arrangeCluster();
  const text = 'both sides are object clients without a channel to serve';
  const stranger = cluster.add(await new RejectingListener(cluster, RejectReason.notRequired, text).listen());
  const caller = await startNode(cluster, 'caller', { connect: [stranger.endpoint] });
  await cluster.clock.advanceAsync(60_000);
  expect(caller.peers(MESH)).toMatchObject([{ endpoint: stranger.endpoint, state: 'notRequired', reason: text }]);
  expect(stranger.attempts).toBe(1);
  const { peers } = caller.runtime(MESH);
  peers.connect(stranger.endpoint); // no effect
  await cluster.clock.advanceAsync(10_000);
  expect(stranger.attempts).toBe(1);
  peers.disconnect(stranger.endpoint);
  peers.connect(stranger.endpoint);
  await cluster.clock.advanceAsync(10_000);
  expect(stranger.attempts).toBe(2);
  expect(caller.log).toEqual([]); // it is no failure
});

test('[MESH-003] an Object Client is connected to a node that is none', async () => {
  const cluster = arrangeCluster();
  const client = cluster.add(await new RawNode(cluster, MESH, { rid: 'client', objectRole: 'client' }).listen());
  const caller = await startNode(cluster, 'caller', { connect: [client.endpoint] });
  await cluster.passing(caller.runtime(MESH).whenReady(1));
  expect(caller.peers(MESH)).toMatchObject([{ routingId: 'client', state: 'ready' }]);
});

test('[MESH-006] a peer that closes, drains, is disconnected or falls silent is no candidate from then on', async () => {
  const cluster = arrangeCluster();
  const names = ['closes', 'drains', 'leaves', 'silent', 'stays'];
  const nodes = await Promise.all(names.map((name) => startNode(cluster, name, { weight: 100 })));
  const [closes, drains, leaves, silent] = nodes as [
    (typeof nodes)[0],
    (typeof nodes)[0],
    (typeof nodes)[0],
    (typeof nodes)[0],
  ];
  const caller = await joinNode(cluster, 'caller', { connect: nodes });
  const chosen = async (): Promise<unknown[]> => [...new Set(await ask(caller, 10))].sort();
  expect(await chosen()).toEqual(names);
  const closed = cluster.passing(closes.close());
  await loopTurns(8);
  expect(await chosen()).toEqual(['drains', 'leaves', 'silent', 'stays']);
  await closed;
  drains.drain();
  await loopTurns(8);
  expect(await chosen()).toEqual(['leaves', 'silent', 'stays']);
  caller.runtime(MESH).peers.disconnect(endpointOf(leaves));
  expect(await chosen()).toEqual(['silent', 'stays']);
  cluster.network.blackhole(endpointOf(silent));
  await cluster.clock.advanceAsync(20_000);
  expect(await chosen()).toEqual(['stays']);
});

test('[MESH-006] a lost peer comes back by itself, and the others notice nothing', async () => {
  const cluster = arrangeCluster();
  const a = await startNode(cluster, 'A', { weight: 100 });
  const b = await startNode(cluster, 'B', { weight: 100 });
  const caller = await joinNode(cluster, 'caller', { connect: [a, b] });
  cluster.network.cut(endpointOf(a));
  await loopTurns(8);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'reconnecting' }, { state: 'ready' }]);
  expect(await ask(caller, 3)).toEqual(['B', 'B', 'B']);
  await cluster.passing(caller.runtime(MESH).whenReady(2));
  expect(new Set(await ask(caller, 2))).toEqual(new Set(['A', 'B']));
});

test('[MESH-002] peers that do not answer yet are shown while they are dialled', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller', { connect: ['tcp://127.0.0.1:1'] });
  expect(caller.peers(MESH)).toMatchObject([{ endpoint: 'tcp://127.0.0.1:1', state: 'connecting', draining: false }]);
  await cluster.clock.advanceAsync(50);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'connecting', reason: 'connection refused' }]);
});

describe('whenReady', () => {
  const connecting = async (cluster: Cluster): Promise<ReturnType<typeof startNode>> => {
    const a = await startNode(cluster, 'A');
    const b = await describeNode(cluster, 'B').open();
    return startNode(cluster, 'caller', { connect: [a, b] });
  };

  test('[MESH-002] resolves when so many peers serve', async () => {
    const cluster = arrangeCluster();
    const caller = await connecting(cluster);
    const runtime = caller.runtime(MESH);
    await expect(runtime.whenReady(0)).resolves.toBeUndefined();
    await cluster.passing(runtime.whenReady(1));
    const both = watch(runtime.whenReady(2));
    await cluster.clock.advanceAsync(1_000);
    expect(both.state).toBe('pending');
    cluster.hosts.find(({ name }) => name === 'B')?.serve();
    await loopTurns(8);
    expect(both.state).toBe('resolved');
  });

  test('[MESH-002] ends with its signal, with the host, and for a wrong count', async () => {
    const cluster = arrangeCluster();
    const caller = await connecting(cluster);
    const runtime = caller.runtime(MESH);
    for (const count of [-1, 1.5, Number.NaN]) {
      await expect(runtime.whenReady(count)).rejects.toMatchObject({ kind: 'InvalidOperation' });
    }
    const controller = new AbortController();
    const aborted = watch(runtime.whenReady(9, controller.signal));
    const ended = watch(runtime.whenReady(9));
    controller.abort('enough');
    await loopTurns(2);
    expect(aborted).toEqual({ state: 'rejected', value: 'enough' });
    await cluster.passing(caller.close());
    expect(ended).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown' } });
    await expect(runtime.whenReady(1)).rejects.toMatchObject({ kind: 'ShuttingDown' });
  });

  test('[MESH-002] needs a host that has started', async () => {
    const cluster = arrangeCluster();
    const host = describeNode(cluster, 'host');
    await expect(host.runtime(MESH).whenReady(1)).rejects.toMatchObject({ kind: 'InvalidOperation' });
  });
});

test('[NODE-001] a node that has not finished its start answers Unavailable, and may call itself', async () => {
  const cluster = arrangeCluster();
  const serving = await startNode(cluster, 'serving');
  const starting = await describeNode(cluster, 'starting', { weight: 100, connect: [serving] }).open();
  await cluster.passing(starting.runtime(MESH).whenReady(1));
  await expect(askNode(starting, 'serving')).resolves.toBe('serving');
  expect(serving.peers(MESH)).toMatchObject([{ routingId: 'starting', state: 'admitted' }]);
  const raw = cluster.add(new RawNode(cluster, MESH, { rid: 'raw' })); // knows no better than to ask
  raw.dial(endpointOf(starting));
  await until(() => raw.links.length === 1, 'the raw node is admitted');
  const asked = [raw.submit(RecordKind.request, ''), raw.submit(RecordKind.request, CHANNEL)];
  await loopTurns(8);
  expect(asked.map(({ reply }) => reply?.errorKind)).toEqual(['Unavailable', 'Unavailable']);
  starting.serve();
  await expect(cluster.passing(askNode(serving, 'starting'))).resolves.toBe('starting');
});

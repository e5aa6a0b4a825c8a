import { ConfigurationError } from '@zlink/kernel/errors';
import { DescriptorState, NEEDLESS_LINK, ObjectRole } from '@zlink/kernel/internal/wire';
import { loopTurns, until } from '@zlink/testing';
import { watch } from '@zlink/testing/internal';
import { DiscoveredPeers } from '../src/peer/discovered-peers.ts';
import { ask, askNode, CHANNEL, describeNode, endpointOf, MESH, type NodeSetup, ridOf } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { describeFound, FakeRegistry, type FoundNode, factsOf, startFound } from './fake-discovery.ts';
import { RawNode } from './raw-node.ts';

describe('who dials', () => {
  test('[MESH-003] of two nodes the one with the smaller RID dials', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const larger = cluster.add(await new RawNode(cluster, MESH, { rid: 'z', generation: 1n }).listen());
    const smaller = cluster.add(await new RawNode(cluster, MESH, { rid: 'a', generation: 1n }).listen());
    for (const [rid, { endpoint }] of Object.entries({ z: larger, a: smaller }))
      registry.put(factsOf({ rid, endpoint }));
    const { host } = await startFound(cluster, registry, 'm');
    registry.show();
    await cluster.passing(host.runtime(MESH).whenReady(1));
    await cluster.clock.advanceAsync(60_000);
    expect(larger.links).toHaveLength(1);
    expect(smaller.links).toHaveLength(0);
    const row = { endpoint: smaller.endpoint, routingId: 'a', state: 'connecting', reason: 'is the one that dials' };
    expect(host.peers(MESH)).toMatchObject([{ routingId: 'z', state: 'ready' }, row]);
    smaller.dial(endpointOf(host));
    await cluster.passing(host.runtime(MESH).whenReady(2));
    expect(host.peers(MESH)).toMatchObject([{ state: 'ready' }, { routingId: 'a', state: 'ready' }]);
    expect(host.peers(MESH)).toHaveLength(2);
  });

  test('[MESH-003] twenty nodes that find each other at once make one link for each pair', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const names = Array.from({ length: 20 }, (_, n) => `n${n}`);
    const nodes = await Promise.all(names.map((name) => startFound(cluster, registry, name, { weight: 100 })));
    registry.show();
    await cluster.passing(Promise.all(nodes.map(({ host }) => host.runtime(MESH).whenReady(19))));
    await cluster.clock.advanceAsync(5_000);
    expect(cluster.network.openConnections).toBe(190);
    for (const { host } of nodes) {
      expect(host.parts.transport.status.links).toBe(19);
      expect(host.peers(MESH).map(({ routingId }) => routingId)).not.toContain(ridOf(host));
      expect(host.peers(MESH).map(({ state }) => state)).toEqual(Array(19).fill('ready'));
      expect([...new Set(await ask(host, 19))].sort()).toEqual(names.filter((name) => name !== host.name).sort());
    }
  });

  test('[MESH-003] two object clients without a membership do not dial each other, all other pairs do', () => {
    const dialled: string[] = [];
    const peersOf = (own: { objectRole: ObjectRole; channels: { name: string; weight: number }[] }): DiscoveredPeers =>
      new DiscoveredPeers({
        own: { rid: 'a', current: own },
        dial: ({ endpoint, rid }) => {
          dialled.push(rid);
          const intent = { address: endpoint, state: 'connecting', reason: undefined, rid: undefined } as const;
          return { ...intent, link: undefined, close: () => Promise.resolve() };
        },
        hasLink: () => false,
        onChanged: () => undefined,
      });
    const registry = new FakeRegistry();
    const member = [{ name: CHANNEL, weight: 0 }];
    const endpoint = 'tcp://127.0.0.1:1';
    registry.put(factsOf({ rid: 'client', endpoint, objectRole: 'client' }));
    registry.put(factsOf({ rid: 'client and member', endpoint, objectRole: 'client', channels: member }));
    registry.put(factsOf({ rid: 'server', endpoint, objectRole: 'server' }));
    const discovery = registry.discovery();
    const client = peersOf({ objectRole: ObjectRole.client, channels: [] });
    client.watch(discovery, MESH);
    registry.show();
    expect(dialled.splice(0)).toEqual(['client and member', 'server']);
    expect(client.all()[0]).toMatchObject({ rid: 'client', state: 'notRequired', reason: NEEDLESS_LINK });
    for (const own of [
      { objectRole: ObjectRole.client, channels: member },
      { objectRole: ObjectRole.none, channels: [] },
    ]) {
      peersOf(own).watch(discovery, MESH);
      discovery.see();
      expect(dialled.splice(0)).toEqual(['client', 'client and member', 'server']);
    }
  });
});

describe('what is published', () => {
  test('[MESH-003] a node is announced as starting, with what is bound, then as serving, then as draining', async () => {
    const cluster = arrangeCluster();
    const { host, discovery } = describeFound(cluster, new FakeRegistry(), 'node', { weight: 7 });
    await host.open();
    expect(discovery.writes).toEqual([]);
    await host.announce();
    expect(discovery.writes).toEqual([
      {
        name: MESH,
        rid: ridOf(host),
        lifecycleGeneration: expect.any(BigInt) as bigint,
        revision: 1n,
        endpoint: endpointOf(host),
        state: 'starting',
        objectRole: 'none',
        channels: [{ name: CHANNEL, weight: 7 }],
        placementWeight: 100,
        limits: { actors: 0, spots: 0 },
        types: [],
        applicationVersion: 1n,
      },
    ]);
    host.serve().drain();
    const changes = discovery.writes.slice(1).map(({ state, revision }) => ({ state, revision }));
    expect(changes).toEqual([
      { state: 'serving', revision: 2n },
      { state: 'draining', revision: 3n },
    ]);
  });

  test('[MESH-005] a changed weight has one revision on links and in the store', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const { host, discovery } = await startFound(cluster, registry, 'a', { weight: 7 });
    const raw = cluster.add(new RawNode(cluster, MESH, { rid: 'raw' }));
    raw.dial(endpointOf(host));
    await until(() => raw.links.length === 1, 'the raw node is admitted');
    host.runtime(MESH).channel(CHANNEL).setWeight(9);
    await loopTurns(4);
    const channels = [{ name: CHANNEL, weight: 9 }];
    expect(raw.link.descriptor).toMatchObject({ revision: 3n, channels });
    const { rid, generation: lifecycleGeneration, endpoint } = raw.link.peer;
    expect(discovery.writes.at(-1)).toMatchObject({ rid, lifecycleGeneration, endpoint, revision: 3n, channels });
  });

  test('[LOC-062] a revision that the publication raises reaches the peers, too', async () => {
    const cluster = arrangeCluster();
    const { host, discovery } = await startFound(cluster, new FakeRegistry(), 'a', { weight: 7 });
    const raw = cluster.add(new RawNode(cluster, MESH, { rid: 'raw' }));
    raw.dial(endpointOf(host));
    await until(() => raw.links.length === 1, 'the raw node is admitted');
    discovery.source?.raise();
    await loopTurns(4);
    expect(raw.link.descriptor).toMatchObject({ revision: 3n, state: DescriptorState.serving });
    expect(discovery.source?.facts()).toMatchObject({ revision: 3n, state: 'serving' });
  });

  test('[MESH-005] a weight that is set while the place is claimed is published, too', async () => {
    const cluster = arrangeCluster();
    const { host, discovery } = describeFound(cluster, new FakeRegistry(), 'a', { weight: 7 });
    await host.open();
    let claim = (): void => undefined;
    discovery.gate = new Promise((resolve) => (claim = resolve));
    const announced = host.announce();
    host.runtime(MESH).channel(CHANNEL).setWeight(9);
    expect(discovery.writes).toHaveLength(1);
    claim();
    await announced;
    expect(discovery.writes.at(-1)).toMatchObject({ revision: 2n, channels: [{ weight: 9 }] });
  });

  test('[MESH-003] a claim that fails ends the start, and nothing is watched', async () => {
    const cluster = arrangeCluster();
    const { host, discovery } = describeFound(cluster, new FakeRegistry(), 'a');
    discovery.failures.push(new Error('the RID is taken'));
    await expect(host.start()).rejects.toThrow('the RID is taken');
    expect(discovery.watchers).toBe(0);
  });

  test('[MESH-003] a node that was closed while its place was claimed watches nothing', async () => {
    const cluster = arrangeCluster();
    const { host, discovery } = describeFound(cluster, new FakeRegistry(), 'a');
    await host.open();
    let claim = (): void => undefined;
    discovery.gate = new Promise((resolve) => (claim = resolve));
    const announced = host.announce();
    await cluster.passing(host.close());
    claim();
    await announced;
    expect(discovery.watchers).toBe(0);
  });
});

describe('with peers of both kinds', () => {
  test('[MESH-002] a peer that is discovered and configured by hand is one row and one link', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const z = await startFound(cluster, registry, 'z', { weight: 100 });
    const a = await startFound(cluster, registry, 'a', { connect: [z.host] });
    registry.show();
    await cluster.passing(a.host.runtime(MESH).whenReady(1));
    const oneRow = (host: FoundNode['host']): void => {
      expect(host.peers(MESH)).toMatchObject([{ state: 'ready' }]);
      expect(host.peers(MESH)).toHaveLength(1);
    };
    for (let step = 0; step < 20; step++) {
      await cluster.clock.advanceAsync(250);
      oneRow(a.host);
      oneRow(z.host);
    }
    expect(cluster.network.openConnections).toBe(1);
    await expect(ask(a.host, 3)).resolves.toEqual(['z', 'z', 'z']);
  });

  test('[MESH-002] one that nobody answers for is one row, whether an RID is expected or not', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const endpoint = 'tcp://127.0.0.1:1';
    registry.put(factsOf({ rid: 'z', endpoint }));
    const { host } = await startFound(cluster, registry, 'a');
    registry.show();
    await cluster.clock.advanceAsync(100);
    const row = { endpoint, state: 'connecting', reason: 'connection refused' };
    expect(host.peers(MESH)).toMatchObject([{ ...row, routingId: 'z' }]);
    const { peers } = host.runtime(MESH);
    for (const connect of [() => peers.connect(endpoint), () => peers.connect('z', endpoint)]) {
      connect();
      await cluster.clock.advanceAsync(100);
      expect(host.peers(MESH)).toMatchObject([row]);
      peers.disconnect(endpoint);
    }
    peers.connect('y', endpoint);
    expect(host.peers(MESH)).toMatchObject([{ routingId: 'y' }, { routingId: 'z' }]);
  });

  test('[MESH-002] a disconnected peer that is discovered, too, stays connected or comes back', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const z = await startFound(cluster, registry, 'z', { weight: 100 });
    const a = await startFound(cluster, registry, 'a', { connect: [z.host] });
    const runtime = a.host.runtime(MESH);
    await cluster.passing(runtime.whenReady(1));
    registry.show(); // the manual link is there first, the discovered intent rests
    await cluster.clock.advanceAsync(1_000);
    runtime.peers.disconnect(endpointOf(z.host));
    await cluster.passing(runtime.whenReady(1));
    runtime.peers.connect(endpointOf(z.host)); // now the manual one rests
    await cluster.clock.advanceAsync(1_000);
    runtime.peers.disconnect(endpointOf(z.host));
    await expect(askNode(a.host, ridOf(z.host))).resolves.toBe('z');
    await cluster.clock.advanceAsync(1_000);
    expect(runtime.peers.list()).toMatchObject([{ routingId: ridOf(z.host), state: 'ready' }]);
    expect(cluster.network.openConnections).toBe(1);
  });

  test('[MESH-002] the row of a manual peer shows the link that discovery has made before', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const z = await startFound(cluster, registry, 'z', { listen: 7_001 });
    const a = await startFound(cluster, registry, 'a');
    const runtime = a.host.runtime(MESH);
    registry.show();
    await cluster.passing(runtime.whenReady(1));
    cluster.network.delay(endpointOf(z.host), 50, 'toListener');
    runtime.peers.connect(endpointOf(z.host));
    await loopTurns(4);
    expect(runtime.peers.list()).toMatchObject([{ routingId: ridOf(z.host), state: 'ready' }]);
    expect(runtime.peers.list()).toHaveLength(1);
  });
});

test('[MESH-003] a closed node dials nobody any more', async () => {
  const cluster = arrangeCluster();
  const registry = new FakeRegistry();
  const a = await startFound(cluster, registry, 'a');
  const z = await startFound(cluster, registry, 'z');
  registry.show();
  await cluster.passing(a.host.runtime(MESH).whenReady(1));
  await cluster.passing(a.host.close());
  expect(a.discovery.watchers).toBe(0);
  registry.show();
  await cluster.clock.advanceAsync(5_000);
  expect(z.host.parts.transport.status.links).toBe(0);
});

test('[MESH-003] a host without a store announces nothing', async () => {
  const cluster = arrangeCluster();
  const host = await describeNode(cluster, 'host').open();
  const announced = watch(host.announce());
  await loopTurns(1);
  expect(announced.state).toBe('resolved');
});

describe('what a description must not say', () => {
  const problemsOf = (setup: NodeSetup, dialProblem?: string): readonly string[] => {
    const host = dialProblem === undefined ? {} : { dialProblem };
    const found = describeFound(arrangeCluster(), new FakeRegistry(), 'node', { ...setup, host });
    try {
      found.host.validate();
    } catch (error) {
      if (error instanceof ConfigurationError) return error.problems;
      throw error;
    }
    return [];
  };

  test('[HOSTREG-003] a fixed RID on a host with a store', () => {
    const cluster = arrangeCluster();
    const host = cluster.host('host', { discovery: new FakeRegistry().discovery() });
    host.builder(MESH).routingId('n');
    const text = 'routingId "n" is fixed, with a location store routing ids are allocated; use setRoutingIdPrefix';
    expect(() => host.validate()).toThrow(`mesh "game": ${text}`);
    expect(problemsOf({})).toEqual([]);
  });

  test('[HOSTREG-003] a mesh that discovers its peers on a host that cannot dial', () => {
    const missing = 'serverPublicKey is missing';
    expect(problemsOf({}, missing)).toEqual([`mesh "game" dials the peers that it discovers: ${missing}`]);
    expect(problemsOf({ connect: ['tcp://127.0.0.1:1'] }, missing)).toEqual([`mesh "game" connect: ${missing}`]);
  });

  test('[HOSTREG-003] more channels than a descriptor in the store has room for', () => {
    const serve = (count: number): readonly string[] =>
      problemsOf({
        with: (mesh) => {
          for (let i = 0; i < count; i++) mesh.channel(`c${i}`).server();
        },
      });
    expect(serve(1_024)).toEqual([]);
    expect(serve(1_025)).toEqual([expect.stringMatching(/1025 channel servers.*up to 1024/)]);
  });
});

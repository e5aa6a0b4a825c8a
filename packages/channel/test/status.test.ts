/** What a node shows and tells of its mesh, as it finds others and as they find it. */
import type { TopologySections } from '@zlink/kernel/internal/host';
import { ObjectRole } from '@zlink/kernel/internal/wire';
import type { MonitoringFact, RouteMeshSnapshot } from '@zlink/kernel/observe';
import { loopTurns, until } from '@zlink/testing';
import { DiscoveredPeers } from '../src/peer/discovered-peers.ts';
import { askNode, CHANNEL, endpointOf, joinNode, MESH, ridOf, startNode } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { factsOf, FakeRegistry, startFound } from './fake-discovery.ts';
import type { TestHost } from './test-host.ts';

function showOf(host: TestHost): RouteMeshSnapshot {
  const sections: TopologySections = {
    routeMeshes: [],
    clientServerChannels: [],
    fanoutChannels: [],
    backlog: { running: 0, queued: 0 },
  };
  host.mesh(MESH).showIn(sections);
  return sections.routeMeshes[0]!; // every mesh adds one
}

function toldOf<T extends MonitoringFact['type']>({ facts }: TestHost, type: T) {
  return facts
    .map(({ fact }) => fact)
    .filter((fact): fact is Extract<MonitoringFact, { type: T }> => fact.type === type);
}

test('[MON-004] a row says how its peer became known: by hand, by discovery, by both', async () => {
  const [cluster, registry] = [arrangeCluster(), new FakeRegistry()];
  const { host: a } = await startFound(cluster, registry, 'a');
  const { host: b } = await startFound(cluster, registry, 'b', { connect: [a] });
  registry.show();
  await cluster.passing(b.runtime(MESH).whenReady(1));
  const sources = [a, b].map((host) => showOf(host).peers.map(({ routingId, source }) => [routingId, source]));
  expect(sources).toEqual([[[ridOf(b), 'automatic']], [[ridOf(a), 'both']]]);
  const stranger = await joinNode(cluster, 'c', { connect: [b] });
  const met = showOf(b).peers.find(({ routingId }) => routingId === ridOf(stranger));
  expect(met).toMatchObject({ state: 'ready', source: 'automatic', endpoint: endpointOf(stranger) });
});

test('[MON-021] a discovered peer is told as it comes, connects, and is gone, each state once', async () => {
  const [cluster, registry] = [arrangeCluster(), new FakeRegistry()];
  const { host: a } = await startFound(cluster, registry, 'a');
  const { host: b } = await startFound(cluster, registry, 'b', { weight: 100 });
  registry.show();
  await cluster.passing(a.runtime(MESH).whenReady(1));
  const rid = ridOf(b);
  await b.close();
  registry.remove(rid);
  registry.show();
  await until(() => showOf(a).peers.length === 0, 'it is gone');
  await loopTurns(2);
  const told = toldOf(a, 'zlink.runtime.mesh_node.peer_changed').map(({ peer }) => peer);
  expect(new Set(told.map(({ routingId }) => routingId))).toEqual(new Set([rid]));
  const states = told.map(({ state, draining }) => (draining ? 'draining' : state));
  expect(states.slice(0, 3)).toEqual(['connecting', 'admitted', 'ready']);
  expect(states.at(-1)).toBe('closed');
  expect(states.filter((state, at) => state === states[at - 1])).toEqual([]);
  const members = toldOf(a, 'zlink.runtime.mesh_node.channel_changed').map(({ channel }) => channel.readyMembers);
  expect([members[0], members.at(-1)]).toEqual([1, 0]);
});

test('[MON-004] [LOC-064] a mesh is degraded while the store is away, and its peers stay ready', async () => {
  const [cluster, registry] = [arrangeCluster(), new FakeRegistry()];
  const { host: a, discovery } = await startFound(cluster, registry, 'a', { weight: 100 });
  await startFound(cluster, registry, 'b', { weight: 100 });
  registry.show();
  await cluster.passing(a.runtime(MESH).whenReady(1));
  expect(showOf(a)).toMatchObject({ state: 'ready', reasons: [] });
  discovery.setProblem('no answer');
  expect(showOf(a)).toMatchObject({
    state: 'degraded',
    reasons: ['location_unavailable'],
    peers: [{ state: 'ready' }],
  });
  discovery.setProblem(undefined);
  expect(
    toldOf(a, 'zlink.runtime.mesh_node.state_changed')
      .map(({ state }) => state)
      .slice(-2),
  ).toEqual(['degraded', 'ready']);
});

test('[MON-004] nodes that are published and not connected are missed, until one of them is ready', async () => {
  const [cluster, registry] = [arrangeCluster(), new FakeRegistry()];
  const { host: a } = await startFound(cluster, registry, 'a', { weight: 100 });
  expect(showOf(a).state).toBe('ready');
  registry.put(factsOf({ rid: 'z', endpoint: 'tcp://127.0.0.1:1' }));
  registry.show();
  await loopTurns(2);
  expect(showOf(a)).toMatchObject({ state: 'degraded', reasons: ['no_ready_peer'] });
  registry.remove('z');
  registry.show();
  await loopTurns(2);
  expect(showOf(a).state).toBe('ready');
});

test('[MON-004] two object clients without a membership miss nothing of each other', () => {
  const client = { objectRole: ObjectRole.client, channels: [] };
  const discovered = new DiscoveredPeers({
    own: { rid: 'a', current: client },
    dial: () => {
      throw new Error('nobody is dialled');
    },
    hasLink: () => false,
    onChanged: () => undefined,
  });
  const facts = factsOf({ rid: 'b', endpoint: 'tcp://b:1', objectRole: 'client' });
  const ofRun = { ownerId: 'owner', leaseGeneration: 1n, protocol: { min: 1, max: 1 } };
  const endpoints = new Map([['b', { descriptor: { ...facts, ...ofRun }, isOwnerPresent: true }]]);
  discovered.watch(
    {
      admission: { isOpen: true },
      problem: undefined,
      onHealth: () => undefined,
      publish: () => Promise.reject(new Error('nothing is published')),
      watch: (_topology, onView) => {
        onView({ endpoints, isCurrent: true, problem: undefined } as unknown as Parameters<typeof onView>[0]); // of a mesh
        return () => undefined;
      },
    },
    MESH,
  );
  expect(discovered.all()).toMatchObject([{ rid: 'b', state: 'notRequired' }]);
  expect(discovered.expectsPeer).toBe(false);
});

test('[MON-021] another weight of the own node is one event, with the role and the weight', async () => {
  const cluster = arrangeCluster();
  const node = await startNode(cluster, 'node', { weight: 100 });
  const before = node.facts.length;
  node.runtime(MESH).channel(CHANNEL).setWeight(7);
  expect(node.facts.slice(before).map(({ fact }) => fact)).toMatchObject([
    { meshName: MESH, channelName: CHANNEL, channel: { role: 'server', weight: 7, readyMembers: 0, members: [] } },
  ]);
});

test('[MON-001] [MON-021] a peer shows the traffic of its link while there is one, and nobody is told that it moves', async () => {
  const cluster = arrangeCluster();
  const b = await startNode(cluster, 'b', { weight: 100 });
  const a = await joinNode(cluster, 'a', { connect: [b] });
  const before = showOf(a).peers[0]?.traffic;
  const toldCount = a.facts.length;
  for (let asked = 0; asked < 20; asked++) await askNode(a, ridOf(b));
  expect(a.facts).toHaveLength(toldCount);
  expect(before).toMatchObject({ sentMessages: 0, receivedMessages: 0 });
  const shown = [showOf(a).peers, a.peers(MESH), showOf(b).peers].map(([peer]) => peer?.traffic);
  expect(shown).toMatchObject(Array(3).fill({ sentMessages: 20, receivedMessages: 20 }));
  expect(Object.isFrozen(a.peers(MESH)[0]?.traffic)).toBe(true);
  await b.close();
  await until(() => a.peers(MESH)[0]?.state !== 'ready', 'it is gone');
  for (const [peer] of [showOf(a).peers, a.peers(MESH)]) expect(peer).not.toHaveProperty('traffic');
  const told = [a, b].flatMap((host) => toldOf(host, 'zlink.runtime.mesh_node.peer_changed'));
  expect(told.length).toBeGreaterThan(2);
  for (const { peer } of told) expect(peer).not.toHaveProperty('traffic');
});

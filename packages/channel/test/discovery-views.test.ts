import type { RouteMeshBuilder } from '@zlink/channel';
import { DescriptorState } from '@zlink/kernel/internal/wire';
import { message } from '@zlink/kernel/message';
import { loopTurns, seededRandom, until } from '@zlink/testing';
import { type Outcome, rejection, watch } from '@zlink/testing/internal';
import { ask, askNode, CHANNEL, endpointOf, MESH, ridOf } from './arrange.ts';
import { arrangeCluster, type Cluster, makeCluster } from './cluster.ts';
import { describeFound, FakeRegistry, type FoundNode, factsOf, startFound } from './fake-discovery.ts';
import { Ask } from './packets.ts';
import { RawNode } from './raw-node.ts';

interface Pair {
  readonly cluster: Cluster;
  readonly registry: FakeRegistry;
  /** Dials. */
  readonly a: FoundNode;
  readonly z: FoundNode;
  readonly zRid: string;
}

/** Two nodes that have found each other. */
async function arrangePair(): Promise<Pair> {
  const cluster = arrangeCluster();
  const registry = new FakeRegistry();
  const z = await startFound(cluster, registry, 'z', { weight: 100 });
  const a = await startFound(cluster, registry, 'a', { weight: 100 });
  registry.show();
  await cluster.passing(a.host.runtime(MESH).whenReady(1));
  return { cluster, registry, a, z, zRid: ridOf(z.host) };
}

const links = ({ host }: FoundNode): number => host.parts.transport.status.links;

describe('an owner without a lease', () => {
  test('[LOC-063] is chosen for no channel, takes direct messages, and is chosen again with its lease', async () => {
    const { registry, a, zRid } = await arrangePair();
    await expect(ask(a.host, 1)).resolves.toEqual(['z']);
    registry.setOwnerPresent(zRid, false);
    registry.show();
    const error = await rejection(ask(a.host, 1));
    const why = `node "${zRid}" is on a host without a lease`;
    expect(error.message).toBe(`[NotFound] channel "match" has no ready server: ${why}`);
    await expect(askNode(a.host, zRid)).resolves.toBe('z');
    expect(a.host.peers(MESH)).toMatchObject([{ state: 'ready', reason: 'is on a host without a lease' }]);
    registry.setOwnerPresent(zRid, true);
    registry.show();
    await expect(ask(a.host, 1)).resolves.toEqual(['z']);
    expect(a.host.peers(MESH)[0]).not.toHaveProperty('reason');
  });

  test('[LOC-063] is left out by the node that did not dial, too', async () => {
    const { registry, a, z } = await arrangePair();
    registry.setOwnerPresent(ridOf(a.host), false);
    registry.show();
    await expect(rejection(ask(z.host, 1))).resolves.toMatchObject({ kind: 'NotFound' });
    await expect(askNode(z.host, ridOf(a.host))).resolves.toBe('a');
  });

  test('[LOC-063] is not dialled, neither at first nor again', async () => {
    const { cluster, registry, a, z, zRid } = await arrangePair();
    registry.setOwnerPresent(zRid, false);
    registry.show();
    await cluster.clock.advanceAsync(5_000);
    expect(links(a)).toBe(1);
    cluster.network.cut(endpointOf(z.host));
    await cluster.clock.advanceAsync(30_000);
    expect(links(a)).toBe(0);
    const row = { routingId: zRid, state: 'closed', reason: 'is on a host without a lease' };
    expect(a.host.peers(MESH)).toMatchObject([row]);
    const b = await startFound(cluster, registry, 'b');
    b.discovery.see();
    await cluster.clock.advanceAsync(5_000);
    expect(b.host.peers(MESH)).toContainEqual(expect.objectContaining(row));
  });

  test('[LOC-063] that was configured by hand stays a candidate until it is disconnected', async () => {
    const { cluster, registry, a, z, zRid } = await arrangePair();
    registry.setOwnerPresent(zRid, false);
    registry.show();
    const { peers } = a.host.runtime(MESH);
    peers.connect(zRid, endpointOf(z.host));
    await cluster.clock.advanceAsync(1_000);
    await expect(ask(a.host, 1)).resolves.toEqual(['z']);
    peers.disconnect(endpointOf(z.host));
    await expect(rejection(ask(a.host, 1))).resolves.toMatchObject({ kind: 'NotFound' });
  });
});

describe('a view that shrinks', () => {
  test('[LOC-063] a node that is gone from it keeps its link, is left out, and is forgotten with its link', async () => {
    const { cluster, registry, a, z, zRid } = await arrangePair();
    await expect(askNode(a.host, zRid)).resolves.toBe('z');
    const kept = a.host.mesh(MESH).keptRoutes;
    registry.remove(zRid);
    registry.show();
    await cluster.clock.advanceAsync(5_000);
    expect(links(a)).toBe(1);
    await expect(askNode(a.host, zRid)).resolves.toBe('z');
    await expect(rejection(ask(a.host, 1))).resolves.toMatchObject({
      message: expect.stringContaining('is not in the location store any more') as string,
    });
    cluster.network.cut(endpointOf(z.host));
    await cluster.clock.advanceAsync(30_000);
    expect(links(a)).toBe(0);
    expect(a.host.peers(MESH)).toEqual([]);
    await expect(rejection(askNode(a.host, zRid))).resolves.toMatchObject({ kind: 'NotFound' });
    expect(a.host.mesh(MESH).keptRoutes).toBe(kept - 1);
  });

  test('[LOC-063] a link that the other side has dialled counts likewise', async () => {
    const { cluster, registry, a, z } = await arrangePair();
    const rid = ridOf(a.host);
    registry.remove(rid);
    z.discovery.see();
    await expect(rejection(ask(z.host, 1))).resolves.toMatchObject({ kind: 'NotFound' });
    await expect(askNode(z.host, rid)).resolves.toBe('a');
    await cluster.passing(a.host.close());
    expect(z.host.peers(MESH)).toEqual([]);
    await expect(rejection(askNode(z.host, rid))).resolves.toMatchObject({ kind: 'NotFound' });
  });
});

describe('a store that is away', () => {
  const problem = 'connection refused';

  test('[LOC-064] closes no link; within the grace a lost one is dialled again, after it not until there is a view', async () => {
    const { cluster, a, z, zRid } = await arrangePair();
    a.discovery.see({ problem });
    await expect(ask(a.host, 1)).resolves.toEqual(['z']);
    cluster.network.cut(endpointOf(z.host));
    await loopTurns(8);
    expect(links(a)).toBe(0);
    await cluster.passing(a.host.runtime(MESH).whenReady(1));
    a.discovery.see({ problem, isCurrent: false });
    await cluster.clock.advanceAsync(60_000);
    await expect(ask(a.host, 1)).resolves.toEqual(['z']);
    cluster.network.cut(endpointOf(z.host));
    await cluster.clock.advanceAsync(60_000);
    expect(links(a)).toBe(0);
    const reason = 'not dialled while the location store is away';
    expect(a.host.peers(MESH)).toMatchObject([{ routingId: zRid, state: 'closed', reason }]);
    const error = await rejection(ask(a.host, 1));
    expect(error.message).toContain(`${endpointOf(z.host)} closed (${reason}); location store: ${problem}`);
    a.discovery.see();
    await cluster.passing(a.host.runtime(MESH).whenReady(1));
    await expect(ask(a.host, 1)).resolves.toEqual(['z']);
  });

  test('[LOC-064] an attempt that is under way ends when the grace is over', async () => {
    const { cluster, a, z } = await arrangePair();
    cluster.network.refuse(endpointOf(z.host));
    cluster.network.cut(endpointOf(z.host));
    await cluster.clock.advanceAsync(2_000);
    expect(a.host.peers(MESH)).toMatchObject([{ state: 'reconnecting' }]);
    a.discovery.see({ problem, isCurrent: false });
    cluster.network.restore();
    await cluster.clock.advanceAsync(60_000);
    expect(links(a)).toBe(0);
    a.discovery.see();
    await cluster.passing(a.host.runtime(MESH).whenReady(1));
  });

  test('[LOC-064] calls that find nobody say that the store is away', async () => {
    const cluster = arrangeCluster();
    const { host, discovery } = await startFound(cluster, new FakeRegistry(), 'a');
    discovery.see({ problem });
    const noMember = await rejection(askNode(host, 'ghost'));
    expect(noMember).toMatchObject({ kind: 'NotFound' });
    const allocated = 'routing ids are allocated, see peers.list()';
    expect(noMember.message).toContain(`is no member; known: none; ${allocated}; location store: ${problem}`);
    const noServer = await rejection(ask(host, 1));
    expect(noServer.message).toContain(`no connected node serves it; location store: ${problem}`);
  });
});

describe('a restart', () => {
  test('[LOC-062] a new generation at another endpoint is dialled, and takes over from the old one', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const channels = [{ name: CHANNEL, weight: 100 }];
    const raw = async (generation: bigint): Promise<RawNode> => {
      const node = cluster.add(await new RawNode(cluster, MESH, { rid: 'z', generation, channels }).listen());
      node.answer = (request) => node.reply(request, `"generation ${generation}"`);
      registry.put(factsOf({ rid: 'z', endpoint: node.endpoint, lifecycleGeneration: generation, channels }));
      return node;
    };
    const old = await raw(5n);
    const { host } = await startFound(cluster, registry, 'a');
    registry.show();
    await cluster.passing(host.runtime(MESH).whenReady(1));
    await expect(ask(host, 1)).resolves.toEqual(['generation 5']);
    const young = await raw(3n); // generations are equal or not, never older
    registry.show();
    await until(() => young.links.length === 1, 'the new generation is dialled');
    await loopTurns(8);
    await expect(ask(host, 2)).resolves.toEqual(['generation 3', 'generation 3']);
    await expect(askNode(host, 'z')).resolves.toBe('generation 3');
    await cluster.clock.advanceAsync(5_000);
    expect(old.links).toHaveLength(0);
    expect(host.peers(MESH)).toMatchObject([{ endpoint: young.endpoint, state: 'ready' }]);
    expect(host.peers(MESH)).toHaveLength(1);
  });

  test('[LOC-062] an old generation whose link lives is a target until the listed one is verified', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const channels = [{ name: CHANNEL, weight: 100 }];
    const raw = cluster.add(await new RawNode(cluster, MESH, { rid: 'z', generation: 1n, channels }).listen());
    registry.put(factsOf({ rid: 'z', endpoint: raw.endpoint, channels }));
    const { host } = await startFound(cluster, registry, 'a');
    registry.show();
    await cluster.passing(host.runtime(MESH).whenReady(1));
    const endpoint = 'tcp://127.0.0.1:1';
    registry.put(factsOf({ rid: 'z', endpoint, lifecycleGeneration: 2n, channels }));
    registry.show();
    watch(host.requestToChannel(MESH, CHANNEL, Ask(1)).submit());
    await until(() => raw.received.length === 1, 'it is asked');
    expect(host.peers(MESH)).toMatchObject([{ endpoint: raw.endpoint, state: 'ready' }]);
    expect(host.peers(MESH)[0]?.reason).toBeUndefined();
    raw.update(2n, DescriptorState.starting);
    await loopTurns(4);
    const error = await cluster.passing(rejection(askNode(host, 'z')));
    expect(error.message).toContain(`: connected, does not serve yet; ${endpoint} connecting (connection refused)`);
  });

  test('[LOC-062] another generation than the descriptor says is not admitted, and the reason says so', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const raw = cluster.add(await new RawNode(cluster, MESH, { rid: 'z', generation: 2n }).listen());
    registry.put(factsOf({ rid: 'z', endpoint: raw.endpoint, lifecycleGeneration: 1n }));
    const { host } = await startFound(cluster, registry, 'a');
    registry.show();
    await cluster.clock.advanceAsync(50);
    const reason = 'endpoint is generation 2 of node "z", expected 1';
    expect(host.peers(MESH)).toMatchObject([{ routingId: 'z', state: 'rejected', reason }]);
  });

  test('[LOC-062] what the store says of a connected peer changes nothing, its link does', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const channels = [{ name: CHANNEL, weight: 100 }];
    const raw = cluster.add(await new RawNode(cluster, MESH, { rid: 'z', generation: 1n, channels }).listen());
    raw.answer = (request) => raw.reply(request, '"z"');
    const facts = { rid: 'z', endpoint: raw.endpoint, channels };
    registry.put(factsOf(facts));
    const { host } = await startFound(cluster, registry, 'a');
    registry.show();
    await cluster.passing(host.runtime(MESH).whenReady(1));
    registry.put(factsOf({ ...facts, revision: 9n, channels: [], state: 'draining' }));
    registry.show();
    await expect(ask(host, 1)).resolves.toEqual(['z']);
    raw.update(2n, DescriptorState.draining);
    await loopTurns(8);
    await expect(rejection(ask(host, 1))).resolves.toMatchObject({ kind: 'NotFound' });
  });
});

describe('direct calls', () => {
  const arrangeUnconnected = async (given: Partial<Parameters<typeof factsOf>[0]> = {}) => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    registry.put(factsOf({ rid: 'z', endpoint: 'tcp://127.0.0.1:1', ...given }));
    const found = await startFound(cluster, registry, 'a');
    registry.show();
    return { cluster, registry, ...found };
  };

  test('[NODE-001] a discovered node that is not connected yet is waited for, and served when it is', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const z = await startFound(cluster, registry, 'z');
    const a = await startFound(cluster, registry, 'a');
    cluster.network.delay(endpointOf(z.host), 100, 'toListener');
    registry.show();
    const asked = watch(askNode(a.host, ridOf(z.host)));
    const answered = watch(askNode(z.host, ridOf(a.host))); // the one that does not dial waits, too
    await loopTurns(8);
    expect([asked.state, answered.state]).toEqual(['pending', 'pending']);
    await cluster.clock.advanceAsync(500);
    expect([asked.value, answered.value]).toEqual(['z', 'a']);
  });

  test('[NODE-001] it is waited for up to the send timeout; the error says how far the way to it is', async () => {
    const { cluster, host, discovery } = await arrangeUnconnected();
    const error = await cluster.passing(rejection(askNode(host, 'z')));
    expect(error.kind).toBe('Unavailable');
    expect(error.message).toMatch(/tcp:\/\/127\.0\.0\.1:1 connecting \(connection refused\)$/);
    discovery.see({ isCurrent: false, problem: 'timed out' });
    const away = await cluster.passing(rejection(askNode(host, 'z')));
    const why = 'closed (not dialled while the location store is away); location store: timed out';
    expect(away.message).toContain(why);
  });

  test('[NODE-001] one whose descriptor is gone is no member any more; nobody waits for it', async () => {
    const { registry, host } = await arrangeUnconnected();
    const asked = watch(askNode(host, 'z'));
    await loopTurns(4);
    expect(asked.state).toBe('pending');
    registry.remove('z');
    registry.show();
    await loopTurns(4);
    expect(asked).toMatchObject({ state: 'rejected', value: { kind: 'NotFound' } });
    expect(host.mesh(MESH).keptRoutes).toBe(0);
  });

  test('[NODE-001] one that is listed is named to whoever asks for a stranger', async () => {
    const { host } = await arrangeUnconnected();
    const error = await rejection(askNode(host, 'ghost'));
    expect(error.message).toMatch(/ is no member; known: "z"; routing ids are allocated, see peers\.list\(\)$/);
  });

  test('[NODE-001] a discovered Object Client takes none, connected or not', async () => {
    const { registry, host } = await arrangeUnconnected({ objectRole: 'client' });
    await expect(rejection(askNode(host, 'z'))).resolves.toMatchObject({
      kind: 'NotFound',
      message: expect.stringContaining('is an object client') as string,
    });
    registry.put(factsOf({ rid: 'y', endpoint: 'tcp://127.0.0.1:1' }));
    registry.show();
    const asked = watch(askNode(host, 'y'));
    registry.put(factsOf({ rid: 'y', endpoint: 'tcp://127.0.0.1:1', lifecycleGeneration: 2n, objectRole: 'client' }));
    registry.show();
    await loopTurns(4);
    expect(asked).toMatchObject({ state: 'rejected', value: { kind: 'NotFound' } });
  });

  test('[NODE-001] the own RID is no member although it is published', async () => {
    const { host } = await arrangeUnconnected();
    const error = await rejection(askNode(host, ridOf(host)));
    expect(error.message).toContain('has no link to itself');
  });
});

describe('channel calls', () => {
  test('[LOC-063] without a candidate they name the discovered nodes that serve the channel, and no others', async () => {
    const cluster = arrangeCluster();
    const registry = new FakeRegistry();
    const channels = [{ name: CHANNEL, weight: 100 }];
    const at = (port: number): string => `tcp://127.0.0.1:${port}`;
    registry.put(factsOf({ rid: 'z', endpoint: at(1), channels }));
    registry.put(factsOf({ rid: 'y', endpoint: at(2) }));
    registry.put(factsOf({ rid: '0', endpoint: at(3), channels, state: 'draining' }));
    const { host } = await startFound(cluster, registry, 'a');
    registry.show();
    await cluster.clock.advanceAsync(50);
    const error = await rejection(ask(host, 1));
    const found = `${at(1)} connecting (connection refused); ${at(3)} closed (drains)`;
    expect(error.message).toBe(`[NotFound] channel "match" has no ready server: ${found}`);
  });
});

const Step = message<number>('step');

test('[MESH-002] nodes that find and name each other in any order keep one link, and lose and double nothing', async () => {
  for (let round = 0; round < 40; round++) {
    const random = seededRandom(round + 1);
    const chance = (share: number): boolean => random() < share;
    const cluster = makeCluster();
    const registry = new FakeRegistry();
    const received = new Map<string, number[]>();
    const nodes = ['a', 'b', 'c'].map((name, at) => {
      received.set(name, []);
      const withSteps = (mesh: RouteMeshBuilder): void => {
        mesh.addRouteSendHandler(Step, (n) => void received.get(name)?.push(n));
        for (const port of [7_001, 7_002, 7_003]) {
          if (port !== 7_001 + at && chance(0.4)) mesh.connect(`tcp://127.0.0.1:${port}`);
        }
      };
      const host = { seed: 1 + Math.floor(random() * 1_000), sendTimeoutMs: 60_000, requestTimeoutMs: 60_000 };
      return describeFound(cluster, registry, name, { listen: 7_001 + at, weight: 100, with: withSteps, host });
    });
    for (let port = 7_001; port <= 7_003; port++) {
      const direction = chance(0.5) ? 'toListener' : 'toDialer';
      cluster.network.delay(`tcp://127.0.0.1:${port}`, Math.floor(random() * 40), direction);
    }
    for (const { host, discovery } of nodes) {
      await host.start();
      if (chance(0.5)) discovery.see();
      await cluster.clock.advanceAsync(Math.floor(random() * 100));
    }
    for (const { discovery } of nodes) discovery.see();
    const sent = new Map(nodes.map(({ host }) => [host.name, [] as number[]]));
    const outcomes: Outcome[] = [];
    for (let step = 0; step < 12; step++) {
      for (const { host } of nodes) {
        const [target] = nodes.filter((other) => other.host !== host && chance(0.5));
        if (target === undefined) continue;
        outcomes.push(watch(host.sendToNode(MESH, ridOf(target.host), Step(step)).submit()));
        sent.get(target.host.name)?.push(step);
        outcomes.push(watch(host.requestToNode(MESH, ridOf(target.host), Ask(step)).submit()));
      }
      if (chance(0.5)) nodes[Math.floor(random() * 3)]?.discovery.see();
      await cluster.clock.advanceAsync(Math.floor(random() * 30));
    }
    await cluster.clock.advanceAsync(3_000);
    expect({ round, failed: outcomes.filter(({ state }) => state !== 'resolved') }).toEqual({ round, failed: [] });
    const sorted = (of: Map<string, number[]>) => [...of].map(([name, steps]) => [name, steps.sort((x, y) => x - y)]);
    expect({ round, received: sorted(received) }).toEqual({ round, received: sorted(sent) });
    expect({ round, open: cluster.network.openConnections }).toEqual({ round, open: 3 });
    for (const { host } of nodes) {
      const rids = host.peers(MESH).map(({ routingId, state }) => `${routingId} ${state}`);
      const others = nodes.filter((other) => other.host !== host).map((other) => `${ridOf(other.host)} ready`);
      expect({ round, rids: rids.sort() }).toEqual({ round, rids: others.sort() });
    }
    await cluster.close();
  }
}, 120_000);

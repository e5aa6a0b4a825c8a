import type { MeshChannelServerBuilder } from '@zlink/channel';
import { ConfigurationError } from '@zlink/kernel/errors';
import { loopTurns, seededRandom, until } from '@zlink/testing';
import { Gate, rejection, selectionSuite, thrown, watch } from '@zlink/testing/internal';
import { ChannelRoute } from '../src/route/channel-route.ts';
import { arrangeCluster, makeCluster } from './cluster.ts';
import { ask, CHANNEL, describeNode, joinNode, MESH, startNode } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import type { TestHost } from './test-host.ts';

function routeOf(host: TestHost): ChannelRoute {
  const path = host.mesh(MESH).channelPath(CHANNEL);
  if (!(path instanceof ChannelRoute)) throw new Error('the channel has a role');
  return path;
}

selectionSuite(async (weights) => {
  const cluster = arrangeCluster();
  const notified: string[] = [];
  const servers = new Map<string, TestHost>();
  for (const [name, weight] of Object.entries(weights)) {
    const server = (s: MeshChannelServerBuilder): void => void s.addSendHandler(Notice, () => void notified.push(name));
    servers.set(name, await startNode(cluster, name, { weight, server }));
  }
  const caller = await joinNode(cluster, 'caller', { connect: [...servers.values()] });
  return {
    request: () => caller.requestToChannel(MESH, CHANNEL, Ask(1)).submit(),
    send: () => caller.sendToChannel(MESH, CHANNEL, Notice({ text: 'x' })).submit(),
    notified,
    setWeight: (name, weight) => servers.get(name)?.runtime(MESH).channel(CHANNEL).setWeight(weight),
    handledBy: (name) => servers.get(name)?.counters(CHANNEL, 'request').handled,
    rebuilds: () => routeOf(caller).rebuilds,
  };
});

test('[WRR-001] ties go to the smaller RID by unsigned bytes, a prefix first, whoever dialled', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller');
  const rids = ['ab', 'a', 'é', 'z', 'Z']; // in order of bytes: Z, a, ab, z, é
  for (const rid of rids) await startNode(cluster, rid, { weight: 100, connect: [caller] });
  await cluster.passing(caller.runtime(MESH).whenReady(5));
  expect(await ask(caller, 5)).toEqual(['Z', 'a', 'ab', 'z', 'é']);
});

test('[WRR-003] the list is built once per change of a candidate, and for nothing else', async () => {
  const cluster = arrangeCluster();
  const servers = [await startNode(cluster, 'A', { weight: 100 }), await startNode(cluster, 'B', { weight: 100 })];
  const other = await startNode(cluster, 'other'); // no member
  const caller = await joinNode(cluster, 'caller', { connect: [...servers, other] });
  const route = routeOf(caller);
  const rebuildsBy = async (change: () => void): Promise<number> => {
    const before = route.rebuilds;
    change();
    await loopTurns(8);
    return route.rebuilds - before;
  };
  const weigh = (at: number, weight: number) => () => servers[at]?.runtime(MESH).channel(CHANNEL).setWeight(weight);
  const seen = [
    await rebuildsBy(() => undefined),
    await rebuildsBy(weigh(0, 300)),
    await rebuildsBy(weigh(0, 0)),
    await rebuildsBy(weigh(0, 0)), // as before, in a newer descriptor
    await rebuildsBy(() => servers[0]?.drain()), // it was no candidate any more
    await rebuildsBy(() => other.drain()),
    await rebuildsBy(weigh(1, 7)),
  ];
  expect(seen).toEqual([0, 1, 1, 0, 0, 0, 1]);
});

/** The procedure as it is written down, call by call. */
class PlainRoundRobin {
  readonly #accumulators = new Map<string, number>();

  /** Who has no weight any more is dropped with its accumulator. */
  change(weights: ReadonlyMap<string, number>): void {
    for (const id of this.#accumulators.keys()) if (weights.get(id) === 0) this.#accumulators.delete(id);
  }

  next(weights: ReadonlyMap<string, number>): string | undefined {
    const candidates = [...weights].filter(([, weight]) => weight > 0).sort(([a], [b]) => (a < b ? -1 : 1));
    const total = candidates.reduce((sum, [, weight]) => sum + weight, 0);
    let chosen: string | undefined;
    for (const [id, weight] of candidates) {
      const accumulator = (this.#accumulators.get(id) ?? 0) + weight;
      this.#accumulators.set(id, accumulator);
      if (chosen === undefined || accumulator > (this.#accumulators.get(chosen) ?? 0)) chosen = id;
    }
    if (chosen !== undefined) this.#accumulators.set(chosen, (this.#accumulators.get(chosen) ?? 0) - total);
    return chosen;
  }
}

test('[WRR-004] over changes of weights and members the order is that of the plain procedure, call by call', async () => {
  for (let round = 0; round < 20; round++) {
    const random = seededRandom(round + 1);
    const cluster = makeCluster();
    const weights = new Map<string, number>();
    const servers: TestHost[] = [];
    for (const name of ['A', 'B', 'C', 'D']) {
      weights.set(name, 1 + Math.floor(random() * 20));
      servers.push(await startNode(cluster, name, { weight: weights.get(name) ?? 0 }));
    }
    const caller = await joinNode(cluster, 'caller', { connect: servers });
    const plain = new PlainRoundRobin();
    for (let change = 0; change < 10; change++) {
      const count = Math.floor(random() * 30);
      const expected = Array.from({ length: count }, () => plain.next(weights));
      expect({ round, chosen: await ask(caller, count) }).toEqual({ round, chosen: expected });
      const server = servers[Math.floor(random() * servers.length)] as TestHost;
      // Never all of them 0: a call would have no candidate.
      const weight = server.name === 'A' ? 1 + Math.floor(random() * 20) : Math.floor(random() * 4) * 7;
      weights.set(server.name, weight);
      server.runtime(MESH).channel(CHANNEL).setWeight(weight);
      await loopTurns(4);
      plain.change(weights);
    }
    await cluster.close();
  }
});

test('[WRR-005] every channel has its own order, untouched by the calls of another', async () => {
  const cluster = arrangeCluster();
  const servers: TestHost[] = [];
  for (const [name, weight] of [
    ['A', 100],
    ['B', 300],
  ] as const) {
    const host = describeNode(cluster, name, { weight });
    const stock = host.builder(MESH).channel('stock').server().setWeight(weight);
    stock.addRequestHandler(Ask, () => name);
    servers.push(await host.start());
  }
  const caller = await joinNode(cluster, 'caller', {
    connect: servers,
    with: (mesh) => void mesh.channel('stock').client(),
  });
  const match: unknown[] = [];
  const stock: unknown[] = [];
  for (let i = 0; i < 4; i++) {
    match.push(...(await ask(caller, 1)));
    stock.push(await caller.requestToChannel(MESH, 'stock', Ask(i)).submit());
  }
  expect(match).toEqual(['B', 'A', 'B', 'B']);
  expect(stock).toEqual(match);
});

test('[CHAN-002] members that are remote, ready, of weight above 0 and not draining are candidates, and no one else', async () => {
  const cluster = arrangeCluster();
  const serving = await startNode(cluster, 'serving', { weight: 100 });
  const weightless = await startNode(cluster, 'weightless', { weight: 0 });
  const draining = await startNode(cluster, 'draining', { weight: 100 });
  const starting = await describeNode(cluster, 'starting', { weight: 100 }).open();
  const elsewhere = await startNode(cluster, 'elsewhere'); // a client of the channel
  const caller = await startNode(cluster, 'caller', {
    weight: 10_000, // and itself a server
    connect: [serving, weightless, draining, starting, elsewhere],
  });
  await cluster.passing(caller.runtime(MESH).whenReady(4));
  draining.drain();
  await loopTurns(8);
  expect(await ask(caller, 3)).toEqual(['serving', 'serving', 'serving']);
  weightless.runtime(MESH).channel(CHANNEL).setWeight(100);
  starting.serve();
  await loopTurns(8);
  expect(await ask(caller, 3)).toEqual(['serving', 'starting', 'weightless']);
});

test('[CHAN-002] without a candidate a call is NotFound at once, saying who there is and what is the matter', async () => {
  const cluster = arrangeCluster();
  const lone = await startNode(cluster, 'lone', { weight: 100 });
  const alone = await rejection(ask(lone, 1));
  expect(alone.kind).toBe('NotFound');
  expect(alone.message).toContain('channel "match" has no ready server: no connected node serves it');
  const weightless = await startNode(cluster, 'W', { weight: 0 });
  const draining = await startNode(cluster, 'D', { weight: 100 });
  const starting = await describeNode(cluster, 'S', { weight: 100 }).open();
  const caller = await startNode(cluster, 'caller', {
    connect: [weightless, draining, starting, 'tcp://127.0.0.1:1'],
  });
  await cluster.passing(caller.runtime(MESH).whenReady(2));
  draining.drain();
  await loopTurns(8);
  const startedAtMs = cluster.clock.nowMs();
  const error = await rejection(ask(caller, 1));
  expect(cluster.clock.nowMs()).toBe(startedAtMs);
  expect(error).toMatchObject({ kind: 'NotFound', submitted: false });
  expect(error.message).toContain('node "W" has weight 0');
  expect(error.message).toContain('node "D" drains');
  expect(error.message).toContain('node "S" does not serve yet');
  expect(error.message).toContain('and 1 more');
  await expect(rejection(caller.sendToChannel(MESH, CHANNEL, Notice({ text: 'x' })).submit())).resolves.toMatchObject({
    kind: 'NotFound',
  });
});

test('[MESH-005] a changed weight raises the revision, reaches peers, and leaves links and submitted work alone', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startNode(cluster, 'server', {
    weight: 100,
    answer: async () => {
      await gate.opened;
      return 'late';
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [server] });
  const submitted = watch(ask(caller, 1));
  await until(() => server.counters(CHANNEL, 'request').running === 1, 'the request runs');
  const { transport } = caller.parts;
  const linksBefore = transport.status.links;
  const channel = server.runtime(MESH).channel(CHANNEL);
  channel.setWeight(0);
  expect(channel.weight).toBe(0);
  await loopTurns(8);
  expect(caller.peers(MESH)).toMatchObject([{ state: 'ready', channels: [{ name: CHANNEL, weight: 0 }] }]);
  expect(transport.status.links).toBe(linksBefore);
  await expect(rejection(ask(caller, 1))).resolves.toMatchObject({ kind: 'NotFound' });
  gate.open();
  await loopTurns(8);
  expect(submitted).toEqual({ state: 'resolved', value: ['late'] });
});

test.each([-1, 10_001, 1.5, Number.NaN, '7'])(
  '[MESH-005] weight %p is refused at run time, and the old one stays',
  async (weight) => {
    const cluster = arrangeCluster();
    const server = await startNode(cluster, 'server', { weight: 7 });
    const channel = server.runtime(MESH).channel(CHANNEL);
    expect(() => channel.setWeight(weight as number)).toThrow(ConfigurationError);
    expect(channel.weight).toBe(7);
  },
);

test('[MESH-005] only a channel that this node serves has a weight', async () => {
  const cluster = arrangeCluster();
  const caller = await startNode(cluster, 'caller');
  for (const name of [CHANNEL, 'unknown']) {
    expect(thrown(() => caller.runtime(MESH).channel(name)).kind).toBe('NotConfigured');
  }
});

test('[CHAN-004] a request that fails is sent to no other member, and nothing about the choice is shown', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const answer = async (): Promise<string> => {
    await gate.opened;
    return 'never';
  };
  const servers = [
    await startNode(cluster, 'A', { weight: 100, answer }),
    await startNode(cluster, 'B', { weight: 100, answer }),
  ];
  const caller = await joinNode(cluster, 'caller', { connect: servers });
  const lost = rejection(ask(caller, 1));
  await until(() => servers[0]?.counters(CHANNEL, 'request').running === 1, 'A has it');
  await servers[0]?.kill();
  await expect(lost).resolves.toMatchObject({ kind: 'Unavailable', submitted: true });
  gate.open();
  expect(servers[1]?.counters(CHANNEL, 'request').accepted).toBe(0);
});

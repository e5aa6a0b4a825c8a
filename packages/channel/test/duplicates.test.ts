import { message, request } from '@zlink/kernel/message';
import { loopTurns, seededRandom, until } from '@zlink/testing';
import { Gate, type Outcome, watch } from '@zlink/testing/internal';
import { arrangeCluster, type Cluster, makeCluster } from './cluster.ts';
import { ask, askNode, CHANNEL, describeNode, endpointOf, joinNode, MESH, startNode } from './arrange.ts';
import type { TestHost } from './test-host.ts';

const Echo = request<number, number>('echo');
const Step = message<number>('step');

/** Two nodes at fixed addresses that name each other. */
function arrangePair(cluster: Cluster, seed: number, received: Map<string, number[]>): [TestHost, TestHost] {
  const random = seededRandom(seed);
  const ports = { a: 7_001, b: 7_002 };
  const describe = (name: 'a' | 'b', other: 'a' | 'b'): TestHost =>
    describeNode(cluster, name, {
      listen: ports[name],
      weight: 100,
      host: { seed: 1 + Math.floor(random() * 1_000), sendTimeoutMs: 60_000, requestTimeoutMs: 60_000 },
      with: (mesh) => {
        mesh.connect(other, `tcp://127.0.0.1:${ports[other]}`);
        mesh.addRouteRequestHandler(Echo, (n) => n);
        mesh.addRouteSendHandler(Step, (n) => void received.get(name)?.push(n));
      },
    });
  return [describe('a', 'b'), describe('b', 'a')];
}

test('[MESH-002] nodes that dial each other keep one link in any order of events, and lose and double nothing', async () => {
  for (let round = 0; round < 200; round++) {
    const random = seededRandom(round + 1);
    const cluster = makeCluster();
    const received = new Map<string, number[]>([
      ['a', []],
      ['b', []],
    ]);
    const pair = arrangePair(cluster, round + 1, received);
    if (random() < 0.5) pair.reverse();
    for (const host of pair) {
      for (const direction of ['toListener', 'toDialer'] as const) {
        cluster.network.delay(
          host.name === 'a' ? 'tcp://127.0.0.1:7001' : 'tcp://127.0.0.1:7002',
          Math.floor(random() * 40),
          direction,
        );
      }
    }
    const outcomes: Outcome[] = [];
    const sent = { a: 0, b: 0 };
    const call = (host: TestHost): void => {
      const other = host.name === 'a' ? 'b' : 'a';
      outcomes.push(watch(host.requestToNode(MESH, other, Echo(outcomes.length)).submit()));
      outcomes.push(watch(host.sendToNode(MESH, other, Step(sent[other]++)).submit()));
    };
    await pair[0].start();
    if (random() < 0.5) await cluster.clock.advanceAsync(Math.floor(random() * 300));
    await pair[1].start();
    for (let step = 0; step < 12; step++) {
      for (const host of pair) if (random() < 0.6) call(host);
      await cluster.clock.advanceAsync(Math.floor(random() * 30));
    }
    await cluster.clock.advanceAsync(2_000);
    const failed = outcomes.filter((outcome) => outcome.state !== 'resolved');
    expect({ round, failed }).toEqual({ round, failed: [] });
    for (const name of ['a', 'b'] as const) {
      const numbers = [...(received.get(name) ?? [])].sort((x, y) => x - y);
      expect({ round, name, numbers }).toEqual({
        round,
        name,
        numbers: Array.from({ length: sent[name] }, (_, n) => n),
      });
    }
    for (const host of pair) {
      expect({ round, links: host.parts.transport.status.links }).toEqual({ round, links: 1 });
      expect(host.peers(MESH)).toMatchObject([{ state: 'ready' }]);
      expect(host.peers(MESH)).toHaveLength(1);
    }
    await cluster.close();
  }
}, 120_000);

test('[CORE-010] a node that was ready stays so while one of two links is ended, in any order of events', async () => {
  for (let round = 0; round < 200; round++) {
    const random = seededRandom(round + 1);
    const cluster = makeCluster();
    const pair = (['a', 'b'] as const).map((name, at) =>
      describeNode(cluster, name, {
        listen: 7_001 + at,
        weight: 100,
        with: (mesh) => {
          mesh.connect(`tcp://127.0.0.1:${7_002 - at}`); // whose RID is not known before
          mesh.addRouteRequestHandler(Echo, (n) => n);
        },
      }),
    );
    for (const port of [7_001, 7_002]) {
      for (const direction of ['toListener', 'toDialer'] as const)
        cluster.network.delay(`tcp://127.0.0.1:${port}`, Math.floor(random() * 40), direction);
    }
    for (const host of pair) await host.start();
    const wereReady = new Set<TestHost>();
    const outcomes: Outcome[] = [];
    for (let step = 0; step < 300; step++) {
      for (const host of pair) {
        if (host.peers(MESH).some(({ state }) => state === 'ready')) wereReady.add(host);
        if (!wereReady.has(host)) continue;
        outcomes.push(watch(host.requestToNode(MESH, host.name === 'a' ? 'b' : 'a', Echo(step)).submit()));
      }
      await cluster.clock.advanceAsync(1);
    }
    await cluster.clock.advanceAsync(2_000);
    const failed = outcomes.filter((outcome) => outcome.state !== 'resolved');
    expect({ round, failed }).toEqual({ round, failed: [] });
    expect(outcomes.length).toBeGreaterThan(100);
    for (const host of pair) expect({ round, links: host.parts.transport.status.links }).toEqual({ round, links: 1 });
    await cluster.close();
  }
}, 120_000);

test('[MESH-002] a peer that rests shows the link that is kept, whoever dialled it', async () => {
  const cluster = arrangeCluster();
  const pair = arrangePair(cluster, 1, new Map());
  for (const host of pair) await host.start();
  await cluster.clock.advanceAsync(2_000);
  for (const [at, host] of pair.entries()) {
    const other = pair[1 - at] as TestHost;
    expect(host.peers(MESH)).toMatchObject([
      {
        endpoint: endpointOf(other),
        routingId: other.name,
        state: 'ready',
        channels: [{ name: CHANNEL, weight: 100 }],
        draining: false,
      },
    ]);
  }
  pair[1].drain();
  await loopTurns(8);
  expect(pair[0].peers(MESH)).toMatchObject([{ state: 'ready', draining: true }]);
});

test('[MESH-002] a peer that rests without an expected RID knows whom it rests for', async () => {
  const cluster = arrangeCluster();
  const a = await startNode(cluster, 'a', { listen: 7_001, connect: ['tcp://127.0.0.1:7002'] });
  const b = await startNode(cluster, 'b', { listen: 7_002, connect: ['tcp://127.0.0.1:7001'] });
  await cluster.clock.advanceAsync(2_000);
  expect(a.peers(MESH)).toMatchObject([{ endpoint: endpointOf(b), routingId: 'b', state: 'ready' }]);
  expect(b.peers(MESH)).toMatchObject([{ endpoint: endpointOf(a), routingId: 'a', state: 'ready' }]);
  expect([a, b].map((host) => host.parts.transport.status.links)).toEqual([1, 1]);
});

test('[MESH-006] when the kept link is lost, whoever dials first brings the pair together again', async () => {
  const cluster = arrangeCluster();
  const pair = arrangePair(cluster, 3, new Map());
  for (const host of pair) await host.start();
  await cluster.clock.advanceAsync(2_000);
  cluster.network.cut('*');
  await loopTurns(8);
  await cluster.clock.advanceAsync(5_000);
  for (const host of pair) {
    expect(host.parts.transport.status.links).toBe(1);
    expect(host.peers(MESH)).toMatchObject([{ state: 'ready' }]);
  }
});

test('[CORE-010] a new generation of a RID takes over at once; the old one ends what it has', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const old = await startNode(cluster, 'old', {
    rid: 'fixed',
    weight: 100,
    answer: async () => {
      await gate.opened;
      return 'old';
    },
  });
  const caller = await joinNode(cluster, 'caller', { connect: [old] });
  const accepted = watch(ask(caller, 1));
  await until(() => old.counters(CHANNEL, 'request').running === 1, 'the request runs');
  await startNode(cluster, 'new', { rid: 'fixed', weight: 100, connect: [caller] });
  await loopTurns(32);
  expect(await ask(caller, 2)).toEqual(['new', 'new']);
  await expect(askNode(caller, 'fixed')).resolves.toBe('new');
  expect(accepted.state).toBe('pending');
  gate.open();
  await loopTurns(8);
  expect(accepted).toEqual({ state: 'resolved', value: ['old'] });
  const rows = caller.peers(MESH).filter(({ state }) => state === 'ready');
  expect(rows).toMatchObject([{ routingId: 'fixed' }]);
});

test('[CORE-010] a node that was killed comes back under its RID and keeps its place in the order', async () => {
  const cluster = arrangeCluster();
  const first = await startNode(cluster, 'A', { listen: 7_100, weight: 100 });
  const b = await startNode(cluster, 'B', { weight: 300 });
  const caller = await joinNode(cluster, 'caller', { connect: [first, b] });
  expect(await ask(caller, 1)).toEqual(['B']);
  await first.kill();
  await loopTurns(8);
  await startNode(cluster, 'A2', { rid: 'A', listen: 7_100, weight: 100 });
  await cluster.passing(caller.runtime(MESH).whenReady(2));
  expect(new Set(await ask(caller, 4))).toEqual(new Set(['A2', 'B']));
});

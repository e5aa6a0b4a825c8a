import { ErrorKind, type ZLinkError } from '@zlink/kernel/errors';
import { loopTurns, until } from '@zlink/testing';
import { Gate, isSettled, type Outcome, rejection, watch } from '@zlink/testing/internal';
import { type Cluster, arrangeCluster } from './cluster.ts';
import { ask, CHANNEL, endpointOf, startClient, startServer } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import type { TestHost } from './test-host.ts';

interface Waiting {
  readonly cluster: Cluster;
  readonly server: TestHost;
  readonly client: TestHost;
  readonly gate: Gate;
  readonly outcomes: readonly Outcome[];
}

/** A thousand requests without an own deadline, every one of them running at the server. */
async function arrangeWaiting(count = 1_000): Promise<Waiting> {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startServer(cluster, 'server', {
    answer: async () => {
      await gate.opened;
      return 'late';
    },
    with: (s) => s.concurrency(count),
  });
  const client = await startClient(cluster, [server]);
  const outcomes = Array.from({ length: count }, (_, i) => watch(client.request(CHANNEL, Ask(i)).submit()));
  await until(() => server.counters(CHANNEL, 'request').running === count, 'all run');
  expect(client.parts.wheel.size).toBe(count);
  return { cluster, server, client, gate, outcomes };
}

function expectUnknownOutcome({ client, outcomes }: Waiting): void {
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'Unavailable', submitted: true });
  expect(client.parts.wheel.size).toBe(0); // no deadline is left
  expect(client.parts.transport.status.links).toBe(0); // and no table
}

test('[C09] a cut link ends its 1,000 waiting requests at once, as ones that may have run', async () => {
  const waiting = await arrangeWaiting();
  const { cluster, server, gate, outcomes } = waiting;
  cluster.network.refuse('*');
  cluster.network.cut('*');
  await loopTurns(4);
  expect(outcomes.every(isSettled)).toBe(true);
  expectUnknownOutcome(waiting);
  gate.open();
  await loopTurns(8);
  expect(server.counters(CHANNEL, 'request').dropped).toEqual({ link_closed: 1_000 });
});

test('[C09] a killed server ends the waiting requests at once', async () => {
  const waiting = await arrangeWaiting();
  await waiting.server.kill();
  await loopTurns(4);
  expectUnknownOutcome(waiting);
  waiting.gate.open();
});

test('[C09] [C03] a server that stands still ends them within the liveness limit; its late replies reach nobody', async () => {
  const waiting = await arrangeWaiting();
  const { cluster, server, client, gate, outcomes } = waiting;
  const [pipe] = cluster.network.pipesTo(endpointOf(server));
  cluster.network.refuse('*');
  cluster.network.pauseReceiver(pipe!);
  await cluster.clock.advanceAsync(14_900);
  expect(outcomes.some(isSettled)).toBe(false);
  await cluster.clock.advanceAsync(200);
  expectUnknownOutcome(waiting);
  expect((outcomes[0]?.value as Error).message).toContain('no answer to probes');
  gate.open(); // the handlers answer now
  await loopTurns(8);
  cluster.network.restore();
  const after = await cluster.passing(ask(client, 1)); // on a new link
  expect(after).toEqual(['late']);
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'Unavailable' });
});

test('[C09] [CHAN-004] what was submitted is never sent again: neither to another server nor over a new link', async () => {
  const cluster = arrangeCluster();
  const seen: unknown[] = [];
  const gate = new Gate();
  const answer = async (id: unknown): Promise<unknown> => {
    seen.push(id);
    await gate.opened;
    return id;
  };
  const servers = [await startServer(cluster, 'a', { answer }), await startServer(cluster, 'b', { answer })];
  const client = await startClient(cluster, servers);
  const outcomes = [1, 2, 3, 4].map((id) => watch(client.request(CHANNEL, Ask(id)).submit()));
  await until(() => seen.length === 4, 'all run');
  cluster.network.cut(endpointOf(servers[0]!));
  await cluster.clock.advanceAsync(1_000); // time to connect anew
  gate.open();
  await loopTurns(8);
  const states = outcomes.map(({ state }) => state).sort();
  expect(states).toEqual(['rejected', 'rejected', 'resolved', 'resolved']);
  expect([...seen].sort()).toEqual([1, 2, 3, 4]);
});

test('[CALL-004] shutdown ends waiting requests once with ShuttingDown', async () => {
  const waiting = await arrangeWaiting(50);
  const { cluster, client, gate, outcomes } = waiting;
  await cluster.passing(client.close(100));
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'ShuttingDown', submitted: true });
  expect(client.parts.wheel.size).toBe(0);
  expect(await rejection(client.request(CHANNEL, Ask(1)).submit())).toMatchObject({ kind: 'ShuttingDown' });
  gate.open();
});

test('[CORE-011] replies that come while the client closes are still delivered', async () => {
  const waiting = await arrangeWaiting(50);
  const { client, gate, outcomes } = waiting;
  const closed = client.close(5_000);
  await loopTurns(4);
  expect(outcomes.some(isSettled)).toBe(false);
  gate.open();
  await closed; // without any passing of time
  expect(outcomes.map(({ value }) => value)).toEqual(outcomes.map(() => 'late'));
});

test('[ERR-004] no failure of a transport shows anything but a kind and words', async () => {
  const errors: ZLinkError[] = [];
  for (const fault of ['cut', 'kill', 'silence', 'garbage'] as const) {
    const waiting = await arrangeWaiting(1);
    const { cluster, server, client, gate, outcomes } = waiting;
    if (fault === 'cut') cluster.network.cut('*');
    else if (fault === 'kill') await server.kill();
    else if (fault === 'silence') cluster.network.blackhole('*');
    else cluster.network.pipesTo(endpointOf(server))[0]?.send([Uint8Array.of(0xff, 0xff)]);
    cluster.network.refuse('*');
    await cluster.clock.advanceAsync(16_000);
    errors.push(outcomes[0]?.value as ZLinkError);
    errors.push(await cluster.passing(rejection(client.request(CHANNEL, Ask(1)).timeoutMs(500).submit())));
    gate.open();
  }
  expect(errors.map(({ kind }) => kind)).toEqual(Array(4).fill(['Unavailable', 'NotFound']).flat());
  for (const error of errors) {
    expect(Object.keys(error).sort()).toEqual(['code', 'kind', 'submitted']);
    expect(error.cause).toBeUndefined();
    expect(error.kind in ErrorKind).toBe(true);
    expect(error.message).not.toMatch(/\bE[A-Z]{4,}\b/);
    expect(error.message).not.toMatch(/errno|zmq|zeromq|socket|0x/i);
  }
});

test('[C10] nothing is handled twice however often connections are refused, made and cut', async () => {
  const cluster = arrangeCluster();
  const handled = new Map<number, number>();
  const count = (id: number): void => void handled.set(id, (handled.get(id) ?? 0) + 1);
  const server = await startServer(cluster, 'server', {
    answer: (id) => (count(id as number), id),
    with: (s) => s.addSendHandler(Notice, ({ text }) => count(Number(text))),
  });
  const client = await startClient(cluster, [server]);
  const outcomes = new Map<number, Outcome>();
  let nextId = 0;
  const traffic = (calls: number): void => {
    for (let i = 0; i < calls; i++) {
      const id = nextId++;
      const call = id % 2 === 0 ? client.request(CHANNEL, Ask(id)) : client.send(CHANNEL, Notice({ text: `${id}` }));
      outcomes.set(id, watch(call.submit()));
    }
  };
  for (let round = 0; round < 20; round++) {
    traffic(400);
    await loopTurns(round % 4); // cut before, while and after it travels
    cluster.network.refuse('*');
    cluster.network.cut('*');
    traffic(300); // without a server
    await cluster.clock.advanceAsync(500);
    cluster.network.restore();
    traffic(300);
    await cluster.clock.advanceAsync(2_000);
  }
  expect(nextId).toBe(20_000);
  await cluster.clock.advanceAsync(6_000);
  expect([...outcomes.values()].every(isSettled)).toBe(true);
  expect(Math.max(...handled.values())).toBe(1);
  for (const [id, { state }] of outcomes) if (id % 2 === 0 && state === 'resolved') expect(handled.get(id)).toBe(1);
  expect(cluster.network.openConnections).toBe(1);
  expect(client.channel(CHANNEL).servers()).toHaveLength(1);
});

import { DescriptorState, RecordKind } from '@zlink/kernel/internal/wire';
import { loopTurns, until } from '@zlink/testing';
import { Gate, type Outcome, rejection, watch } from '@zlink/testing/internal';
import { type Cluster, arrangeCluster } from './cluster.ts';
import { ask, CHANNEL, configureServer, dialingClient, endpointOf, startClient, startServer } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import { RawPeer } from './raw-peer.ts';
import type { TestHost } from './test-host.ts';

/** A server whose handlers wait at a gate and then answer with `text`. */
async function gatedServer(cluster: Cluster, name: string, gate: Gate, port = 0): Promise<TestHost> {
  return startServer(cluster, name, {
    rid: 'billing-1',
    port,
    answer: async () => {
      await gate.opened;
      return name;
    },
    with: (s) => s.addSendHandler(Notice, () => gate.opened),
  });
}

async function request(client: TestHost, server: TestHost): Promise<Outcome> {
  const before = server.counters(CHANNEL, 'request').accepted;
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await until(() => server.counters(CHANNEL, 'request').accepted === before + 1, 'the request runs');
  return outcome;
}

test('[CS-008] a draining server is no target any more, finishes what it accepted, then closes', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await gatedServer(cluster, 'first', gate);
  const other = await startServer(cluster, 'other');
  const client = await startClient(cluster, [server, other]);
  const accepted = await request(client, server);
  server.drain();
  await loopTurns(8);
  expect(client.channel(CHANNEL).servers()).toMatchObject([
    { routingId: 'billing-1', state: 'ready', draining: true, weight: 100 },
    { routingId: 'other', draining: false },
  ]);
  expect(await ask(client, 3)).toEqual(['other', 'other', 'other']);
  const drained = watch(server.drained());
  await loopTurns(8);
  expect(drained.state).toBe('pending');
  expect(accepted.state).toBe('pending');
  gate.open();
  await loopTurns(8);
  expect(drained.state).toBe('resolved');
  expect(accepted).toEqual({ state: 'resolved', value: 'first' });
  const endpoint = endpointOf(server);
  await cluster.passing(server.close());
  const late = await dialingClient(cluster, [endpoint], { name: 'late' });
  await cluster.clock.advanceAsync(300);
  expect(late.channel(CHANNEL).servers()).toMatchObject([{ state: 'connecting', reason: 'connection refused' }]);
});

test('[CS-008] a server that closes is no target from its first word on, while its requests still end', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await gatedServer(cluster, 'first', gate);
  const other = await startServer(cluster, 'other');
  const client = await startClient(cluster, [server, other]);
  const accepted = await request(client, server);
  const closed = server.close(5_000); // without a drain before
  await loopTurns(8);
  expect(await ask(client, 3)).toEqual(['other', 'other', 'other']);
  expect(accepted.state).toBe('pending');
  gate.open();
  await closed;
  expect(accepted).toEqual({ state: 'resolved', value: 'first' });
});

test('[CS-008] a request that crosses the drain is Rejected, not left hanging, and a send is dropped and recorded', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await gatedServer(cluster, 'first', gate);
  const client = await startClient(cluster, [server]);
  cluster.network.pauseReceiver(endpointOf(server), 'toDialer'); // the client does not hear of the drain yet
  server.drain();
  await client.send(CHANNEL, Notice({ text: 'x' })).submit();
  const crossing = watch(client.request(CHANNEL, Ask(1)).submit());
  await until(() => server.counters(CHANNEL, 'request').accepted === 1, 'both arrive');
  expect(crossing.state).toBe('pending');
  cluster.network.resumeReceiver(endpointOf(server), 'toDialer');
  await loopTurns(8);
  expect(crossing.value).toMatchObject({ kind: 'Rejected', submitted: true });
  expect((crossing.value as Error).message).toBe(
    '[Rejected] channel "billing" (server "billing-1") takes nothing new (the server drains; the handler did not run)',
  );
  expect(server.counters(CHANNEL, 'send').dropped).toEqual({ shutdown: 1 });
  expect(server.counters(CHANNEL, 'request')).toMatchObject({ handled: 0, dropped: { shutdown: 1 } });
  expect(server.log).toContainEqual(expect.objectContaining({ reason: 'shutdown', message_kind: 'send' }));
  gate.open();
});

test('[CS-008] weight 0 is no drain: the server runs on, keeps its links and serves who still asks it', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const client = await startClient(cluster, [server]);
  cluster.network.pauseReceiver(endpointOf(server), 'toDialer');
  server.channel(CHANNEL).setWeight(0);
  const crossing = watch(client.request(CHANNEL, Ask(1)).submit());
  await loopTurns(8);
  cluster.network.resumeReceiver(endpointOf(server), 'toDialer');
  await loopTurns(8);
  expect(crossing).toEqual({ state: 'resolved', value: 'a' });
  expect(client.channel(CHANNEL).servers()).toMatchObject([{ state: 'ready', weight: 0, draining: false }]);
  await cluster.clock.advanceAsync(60_000);
  expect(cluster.network.openConnections).toBe(1);
  server.channel(CHANNEL).setWeight(5);
  await loopTurns(8);
  expect(await ask(client, 1)).toEqual(['a']);
});

test('[CS-008] who connects during the drain learns of it by the handshake', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await gatedServer(cluster, 'first', gate);
  server.drain();
  const client = await dialingClient(cluster, [server]);
  const outcome = watch(client.request(CHANNEL, Ask(1)).timeoutMs(400).submit());
  await cluster.clock.advanceAsync(450);
  expect(outcome.value).toMatchObject({ kind: 'NotFound' });
  expect(client.channel(CHANNEL).servers()).toMatchObject([{ state: 'ready', draining: true }]);
  gate.open();
});

test('[CS-008] handlers that do not end are given up at the deadline: their callers get ShuttingDown', async () => {
  const cluster = arrangeCluster();
  const signals: AbortSignal[] = [];
  const gate = new Gate();
  const server = await startServer(cluster, 'server', {
    answer: async (_, { signal }) => {
      signals.push(signal);
      await gate.opened;
      return 'too late';
    },
  });
  const client = await startClient(cluster, [server]);
  const outcome = await request(client, server);
  server.drain();
  server.channel(CHANNEL).abort();
  await loopTurns(8);
  expect(outcome.value).toMatchObject({ kind: 'ShuttingDown', submitted: true });
  expect(signals[0]?.aborted).toBe(true);
  expect(signals[0]?.reason).toMatchObject({ kind: 'ShuttingDown' });
  gate.open();
  await server.drained();
});

test('[CS-008] while the own host drains, only calls of handlers that still run are taken', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const stock = cluster.host('stock');
  stock
    .channel('stock')
    .server()
    .addRequestHandler(Ask, () => 'from stock');
  await stock.start();
  const middle: TestHost = configureServer(cluster, 'middle', {
    answer: async (_, { signal }) => {
      await gate.opened;
      const inside = await middle.request('stock', Ask(1)).submit(signal);
      const outside = await rejection(middle.request('stock', Ask(1)).submit());
      return [inside, outside.kind];
    },
  });
  middle
    .channel('stock')
    .client()
    .connect(stock.channel('stock').endpoint ?? '');
  await middle.start();
  await middle.channel('stock').whenReady(1);
  const client = await startClient(cluster, [middle]);
  const outcome = await request(client, middle);
  middle.drain();
  gate.open();
  await middle.drained();
  await loopTurns(8);
  expect(outcome).toEqual({ state: 'resolved', value: ['from stock', 'ShuttingDown'] });
});

test('[CS-008] a one-way handler that still runs may start calls with its signal as well', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const answers: unknown[] = [];
  const stock = cluster.host('stock');
  stock
    .channel('stock')
    .server()
    .addRequestHandler(Ask, () => 'from stock');
  await stock.start();
  const middle: TestHost = configureServer(cluster, 'middle', {
    with: (s) =>
      s.addSendHandler(Notice, async (_, { signal }) => {
        await gate.opened;
        answers.push(await middle.request('stock', Ask(1)).submit(signal));
      }),
  });
  middle
    .channel('stock')
    .client()
    .connect(stock.channel('stock').endpoint ?? '');
  await middle.start();
  await middle.channel('stock').whenReady(1);
  const client = await startClient(cluster, [middle]);
  await client.send(CHANNEL, Notice({ text: '' })).submit();
  await until(() => middle.counters(CHANNEL, 'send').running === 1, 'it runs');
  middle.drain();
  gate.open();
  await middle.drained();
  expect(answers).toEqual(['from stock']);
});

test('[CS-009] [CS-013] a new generation at another address replaces the old one, whose waiting requests still end', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const old = await gatedServer(cluster, 'old', gate);
  const client = await dialingClient(cluster, [old, 'tcp://127.0.0.1:7600']);
  await client.channel(CHANNEL).whenReady(1);
  const waiting = await request(client, old);
  await startServer(cluster, 'fresh', { rid: 'billing-1', port: 7_600 });
  await cluster.clock.advanceAsync(1_000);
  expect(await ask(client, 4)).toEqual(['fresh', 'fresh', 'fresh', 'fresh']); // one candidate: the one verified last
  expect(waiting.state).toBe('pending');
  expect(old.counters(CHANNEL, 'request').accepted).toBe(1);
  gate.open();
  await loopTurns(12);
  expect(waiting).toEqual({ state: 'resolved', value: 'old' }); // correlation decides, not the generation
  await cluster.clock.advanceAsync(10_000);
  expect(client.channel(CHANNEL).servers()).toMatchObject([
    { state: 'rejected', reason: expect.stringContaining('was replaced by a newer one') as string },
    { state: 'ready', routingId: 'billing-1' },
  ]);
  expect(await ask(client, 2)).toEqual(['fresh', 'fresh']); // the old one is no target again
  expect(old.counters(CHANNEL, 'request').accepted).toBe(1);
});

test('[CS-009] the old link takes no new work but stays until its requests have ended', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const old = await gatedServer(cluster, 'old', gate);
  const client = await dialingClient(cluster, [old, 'tcp://127.0.0.1:7600']);
  await client.channel(CHANNEL).whenReady(1);
  const outcome = await request(client, old);
  await startServer(cluster, 'fresh', { rid: 'billing-1', port: 7_600 });
  await cluster.clock.advanceAsync(20_000); // longer than liveness: the link is alive
  expect(old.parts.transport.status.links).toBe(1);
  gate.open();
  await loopTurns(12);
  expect(outcome).toEqual({ state: 'resolved', value: 'old' });
  expect(old.parts.transport.status.links).toBe(0);
});

test('[CS-009] a restart at the same address: old requests end, new ones go to the new generation only', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const port = 7_600;
  const old = await gatedServer(cluster, 'old', gate, port);
  const client = await startClient(cluster, [old]);
  const waiting = await request(client, old);
  await old.kill();
  await loopTurns(4);
  expect(waiting.value).toMatchObject({ kind: 'Unavailable', submitted: true });
  const early = watch(client.request(CHANNEL, Ask(2)).submit());
  await startServer(cluster, 'fresh', { rid: 'billing-1', port });
  await cluster.clock.advanceAsync(1_000);
  expect(early).toEqual({ state: 'resolved', value: 'fresh' });
  gate.open();
  await loopTurns(8);
  expect(waiting.value).toMatchObject({ kind: 'Unavailable' });
  expect(old.counters(CHANNEL, 'request').dropped).toEqual({ link_closed: 1 });
});

test('[CS-009] a new generation that does not serve yet does not take the place of the old one', async () => {
  const cluster = arrangeCluster();
  const old = await startServer(cluster, 'old', { rid: 'billing-1' });
  const fresh = await configureServer(cluster, 'fresh', { rid: 'billing-1' }).open();
  const client = await dialingClient(cluster, [old, fresh]);
  await cluster.clock.advanceAsync(1_000);
  expect(await ask(client, 2)).toEqual(['old', 'old']);
  expect(client.channel(CHANNEL).servers()[1]?.reason).toContain('does not serve');
  fresh.serve();
  await cluster.clock.advanceAsync(6_000);
  expect(await ask(client, 2)).toEqual(['fresh', 'fresh']);
});

test('[CS-009] generations are compared for equality only', async () => {
  for (const generations of [
    [5n, 9n],
    [9n, 5n],
  ] as const) {
    const cluster = arrangeCluster();
    const [first, second] = [new RawPeer(cluster, CHANNEL), new RawPeer(cluster, CHANNEL)].map((p) => cluster.add(p));
    await first!.listen({ generation: generations[0] });
    first!.answer = (asked) => first!.reply(asked, { payload: '"first"' });
    second!.answer = (asked) => second!.reply(asked, { payload: '"second"' });
    const client = await dialingClient(cluster, [first!.endpoint, 'tcp://127.0.0.1:7600']);
    await client.channel(CHANNEL).whenReady(1);
    expect(await ask(client, 1)).toEqual(['first']);
    await second!.listen({ generation: generations[1], address: 'tcp://127.0.0.1:7600' });
    await cluster.clock.advanceAsync(1_000);
    expect(await ask(client, 1)).toEqual(['second']);
  }
});

test('[CS-009] a late reply of the old generation never completes a request to the new one', async () => {
  const cluster = arrangeCluster();
  const old = cluster.add(await new RawPeer(cluster, CHANNEL).listen({ rid: 'billing-1' }));
  const client = await dialingClient(cluster, [old.endpoint, 'tcp://127.0.0.1:7600']);
  await client.channel(CHANNEL).whenReady(1);
  const early = watch(client.request(CHANNEL, Ask('early')).timeoutMs(1_500).submit());
  await until(() => old.received.length === 1, 'the old one has it');
  const gate = new Gate();
  const fresh = await gatedServer(cluster, 'fresh', gate, 7_600);
  await cluster.clock.advanceAsync(1_000);
  const later = await request(client, fresh);
  await cluster.clock.advanceAsync(600);
  expect(early.value).toMatchObject({ kind: 'DeadlineExceeded' });
  // Both were the first request of their link and have the same correlation.
  old.reply(old.received[0]!, { payload: '"from the old one"' });
  await loopTurns(8);
  expect(client.counters(CHANNEL, 'stray').dropped).toEqual({ reply: 1 });
  expect(later.state).toBe('pending');
  gate.open();
  await loopTurns(8);
  expect(later).toEqual({ state: 'resolved', value: 'fresh' });
});

test('[CS-005] a higher revision counts, a late older one revives neither weight nor server', async () => {
  const cluster = arrangeCluster();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen({ revision: 10n, weight: 10 }));
  raw.answer = (asked) => raw.reply(asked, { payload: '"raw"' });
  const client = await startClient(cluster, [raw.endpoint]);
  const shown = (): unknown => {
    const [{ weight, draining } = { weight: 0, draining: false }] = client.channel(CHANNEL).servers();
    return { weight, draining };
  };
  raw.update(12n, DescriptorState.serving, 20);
  await loopTurns(8);
  expect(shown()).toEqual({ weight: 20, draining: false });
  raw.update(13n, DescriptorState.draining, 20);
  await loopTurns(8);
  expect(shown()).toEqual({ weight: 20, draining: true });
  const outcome = watch(client.request(CHANNEL, Ask(1)).timeoutMs(50).submit());
  raw.update(11n, DescriptorState.serving, 30);
  await loopTurns(8);
  expect(shown()).not.toEqual({ weight: 30, draining: false });
  await cluster.clock.advanceAsync(70);
  expect(outcome.value).toMatchObject({ kind: 'NotFound' });
  expect(raw.received.filter(({ kind }) => kind === RecordKind.request)).toEqual([]);
});

test('[CS-005] every change of a server raises its revision, so that clients apply them in order', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  const peer = cluster.add(new RawPeer(cluster, CHANNEL));
  peer.dial(endpointOf(server));
  await until(() => peer.links.length === 1, 'it is admitted');
  const seen = [peer.link.descriptor];
  for (const change of [
    () => server.channel(CHANNEL).setWeight(0),
    () => server.channel(CHANNEL).setWeight(7),
    () => server.drain(),
  ]) {
    change();
    await loopTurns(8);
    seen.push(peer.link.descriptor);
  }
  const { serving, draining } = DescriptorState;
  expect(seen.map(({ state, channels }) => [state, channels[0]?.weight])).toEqual([
    [serving, 100],
    [serving, 0],
    [serving, 7],
    [draining, 7],
  ]);
  const revisions = seen.map(({ revision }) => revision);
  for (const [i, revision] of revisions.entries()) expect(revision).toBeGreaterThan(revisions[i - 1] ?? 0n);
});

test('[CS-004] before it serves a server answers Unavailable to who asks all the same', async () => {
  const cluster = arrangeCluster();
  const server = await configureServer(cluster, 'a', {
    with: (s) => s.addSendHandler(Notice, () => undefined),
  }).open();
  const peer = cluster.add(new RawPeer(cluster, CHANNEL));
  peer.dial(endpointOf(server));
  await until(() => peer.links.length === 1, 'it is admitted');
  expect(peer.link.descriptor.state).toBe(DescriptorState.starting);
  const asked = peer.submit(RecordKind.request, { payload: '1' });
  peer.submit(RecordKind.send, { packetName: 'system.notice', payload: '{"text":"x"}' });
  await until(() => asked.reply !== undefined, 'the request is answered');
  expect(asked.reply).toMatchObject({ kind: RecordKind.error, errorKind: 'Unavailable' });
  expect(server.counters(CHANNEL, 'send').dropped).toEqual({ not_serving: 1 });
  server.serve();
  const again = peer.submit(RecordKind.request, { payload: '1' });
  await until(() => again.reply !== undefined, 'the request is answered');
  expect(again.reply?.payload).toBe('"a"');
});

test('[CS-011] a weight set while the server ends is refused: nobody would learn of it', async () => {
  const cluster = arrangeCluster();
  const server = await startServer(cluster, 'a');
  server.drain();
  const setWeight = (): void => server.channel(CHANNEL).setWeight(5);
  expect(setWeight).toThrow('[ShuttingDown]');
});

import { RecordKind } from '@zlink/kernel/internal/wire';
import { message, request } from '@zlink/kernel/message';
import { loopTurns, until } from '@zlink/testing';
import { Gate, type Outcome, watch } from '@zlink/testing/internal';
import { type Cluster, arrangeCluster } from './cluster.ts';
import { CHANNEL, startClient, startServer } from './arrange.ts';
import { Ask, Notice } from './packets.ts';
import { RawPeer } from './raw-peer.ts';
import type { TestHost } from './test-host.ts';

const Step = message<{ key: number; seq: number }>('step');
const Echo = request<number, number>('echo');
const text = 'x'.repeat(1_000);

const count = (outcomes: readonly Outcome[], state: Outcome['state']): number =>
  outcomes.filter((outcome) => outcome.state === state).length;

test.each([
  { windowBytes: 1_048_576, permits: 256 },
  { windowBytes: 65_536, permits: 3 },
])(
  '[C04] 5,000 sends over 50 keys and 500 requests started in one turn all arrive once and in order ($windowBytes bytes)',
  async ({ windowBytes, permits }) => {
    const cluster = arrangeCluster();
    const lastSeq = new Map<number, number>();
    const swaps: unknown[] = [];
    const server = await startServer(cluster, 'server', {
      host: { maxWindowBytes: windowBytes, permits: { max: permits } },
      with: (s) =>
        s
          .addRequestHandler(Echo, (n) => n)
          .addSendHandler(Step, ({ key, seq }) => {
            if (seq !== (lastSeq.get(key) ?? -1) + 1) swaps.push([key, seq]);
            lastSeq.set(key, seq);
          }),
    });
    const client = await startClient(cluster, [server]);
    const sends = Array.from({ length: 5_000 }, (_, i) =>
      client.send(CHANNEL, Step({ key: i % 50, seq: Math.floor(i / 50) })).submit(),
    );
    const requests = Array.from({ length: 500 }, (_, i) => client.request(CHANNEL, Echo(i)).submit());
    await Promise.all(sends);
    await expect(Promise.all(requests)).resolves.toEqual(requests.map((_, i) => i));
    await until(() => server.counters(CHANNEL, 'send').handled === 5_000, 'all are handled');
    expect(swaps).toEqual([]);
    expect([...lastSeq.values()]).toEqual(Array(50).fill(99));
  },
);

/** A server that runs one handler at a time, each until the gate opens, and holds few messages. */
async function slowServer(cluster: Cluster, gate: Gate): Promise<TestHost> {
  return startServer(cluster, 'server', {
    host: { maxWindowBytes: 65_536, permits: { max: 2 } },
    answer: async (given) => {
      await gate.opened;
      return given;
    },
    with: (s) => s.concurrency(1).addSendHandler(Notice, () => gate.opened),
  });
}

test('[CALL-003] [C01] a send that finds no credit waits its send timeout and is never reported as accepted', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await slowServer(cluster, gate);
  const client = await startClient(cluster, [server], { host: { sendTimeoutMs: 700 } });
  const outcomes = Array.from({ length: 200 }, () => watch(client.send(CHANNEL, Notice({ text })).submit()));
  await cluster.clock.advanceAsync(699);
  const accepted = count(outcomes, 'resolved');
  expect(accepted).toBeGreaterThan(50);
  expect(count(outcomes, 'pending')).toBe(200 - accepted);
  await cluster.clock.advanceAsync(17);
  expect(count(outcomes, 'rejected')).toBe(200 - accepted);
  for (const { state, value } of outcomes) {
    if (state === 'rejected') expect(value).toMatchObject({ kind: 'DeadlineExceeded', submitted: false });
  }
  gate.open();
  await until(() => server.counters(CHANNEL, 'send').handled === accepted, 'what was accepted is handled');
  await loopTurns(20);
  expect(server.counters(CHANNEL, 'send')).toMatchObject({ accepted, handled: accepted });
});

test('[CALL-002] an abort takes back a send or request that waits for credit: it never arrives', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await slowServer(cluster, gate);
  const client = await startClient(cluster, [server]);
  const filling = Array.from({ length: 100 }, () => watch(client.send(CHANNEL, Notice({ text })).submit()));
  const controller = new AbortController();
  const aborted = [
    watch(client.send(CHANNEL, Notice({ text: 'mine' })).submit(controller.signal)),
    watch(client.request(CHANNEL, Ask('mine')).submit(controller.signal)),
  ];
  const after = watch(client.request(CHANNEL, Ask('after')).submit());
  await loopTurns(8);
  expect(count(aborted, 'pending')).toBe(2);
  controller.abort('enough');
  await loopTurns(1);
  for (const outcome of aborted) expect(outcome).toEqual({ state: 'rejected', value: 'enough' });
  gate.open();
  await until(() => after.state === 'resolved', 'what stood behind them is answered');
  expect(count(filling, 'resolved')).toBe(100);
  expect(server.counters(CHANNEL, 'send').accepted).toBe(100);
  expect(server.counters(CHANNEL, 'request').accepted).toBe(1);
});

test('[CALL-005] a send that waits for credit when its link ends was not submitted, and says so', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await slowServer(cluster, gate);
  const client = await startClient(cluster, [server]);
  const outcomes = Array.from({ length: 150 }, () => watch(client.send(CHANNEL, Notice({ text })).submit()));
  await loopTurns(8);
  const waiting = count(outcomes, 'pending');
  expect(waiting).toBeGreaterThan(20);
  cluster.network.cut('*');
  await loopTurns(4);
  expect(count(outcomes, 'rejected')).toBe(waiting);
  for (const { state, value } of outcomes) {
    if (state === 'rejected') expect(value).toMatchObject({ kind: 'Unavailable', submitted: false });
  }
  gate.open();
});

test('[ERR-003] more calls waiting here than this side keeps is CapacityExceeded', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await slowServer(cluster, gate);
  const client = await startClient(cluster, [server]);
  const controller = new AbortController();
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 70_000; i++) {
    outcomes.push(watch(client.send(CHANNEL, Notice({ text })).submit(controller.signal)));
  }
  await loopTurns(4);
  const refused = outcomes.filter(({ state }) => state === 'rejected');
  expect(count(outcomes, 'pending')).toBe(65_536);
  expect(refused.length).toBeGreaterThan(4_000);
  for (const { value } of refused.slice(0, 10)) {
    expect(value).toMatchObject({ kind: 'CapacityExceeded', submitted: false });
    expect((value as Error).message).toContain('(65536)');
  }
  controller.abort('enough');
  gate.open();
  await loopTurns(4);
  expect(count(outcomes, 'pending')).toBe(0);
});

test('[ERR-003] a full queue of the server is Unavailable to its callers', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startServer(cluster, 'server', {
    host: { permits: { max: 100_000 } },
    answer: async () => {
      await gate.opened;
      return 1;
    },
    with: (s) => s.concurrency(1),
  });
  const client = await startClient(cluster, [server]);
  const outcomes: Outcome[] = [];
  for (let round = 0; round < 66; round++) {
    for (let i = 0; i < 1_000; i++) outcomes.push(watch(client.request(CHANNEL, Ask(0)).submit()));
    await loopTurns(2);
  }
  await until(() => count(outcomes, 'rejected') === 66_000 - 65_536, 'the queue is full', 60_000);
  for (const { value } of outcomes.slice(65_536)) expect(value).toMatchObject({ kind: 'Unavailable', submitted: true });
  expect(server.counters(CHANNEL, 'request').dropped).toEqual({ backpressure: 464 });
  gate.open();
  await until(() => count(outcomes, 'resolved') === 65_536, 'the others are answered', 60_000);
}, 180_000);

/** A client whose process also serves `stock`, where `held` messages wait with a permit each until the gate opens. */
async function busyClient(
  cluster: Cluster,
  endpoint: string,
  gate: Gate,
  { max, held, pauseThresholdPercent }: { max: number; held: number; pauseThresholdPercent: number },
): Promise<TestHost> {
  const client = cluster.host('client', {
    maxWindowBytes: 65_536,
    permits: { max, pauseThresholdPercent, resumeThresholdPercent: 50 },
  });
  client.channel(CHANNEL).client().connect(endpoint);
  const stock = client.channel('stock');
  stock
    .server()
    .concurrency(1)
    .addSendHandler(Notice, () => gate.opened);
  await client.start();
  const feeder = cluster.host('feeder');
  feeder
    .channel('stock')
    .client()
    .connect(stock.endpoint ?? '');
  await feeder.start();
  await client.channel(CHANNEL).whenReady(1);
  for (let i = 0; i <= held; i++) await feeder.send('stock', Notice({ text: '' })).submit(); // one runs, `held` wait
  await until(() => client.parts.permits.inUse === held, 'permits are taken');
  return client;
}

test('[CORE-015] [JOBQ-009] behind unread data a reply may come after the timeout, and makes no second result', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const client = await busyClient(cluster, raw.endpoint, gate, { max: 2, held: 2, pauseThresholdPercent: 100 });
  expect(client.parts.permits.flow).toBe('PAUSED');
  const outcome = watch(client.request(CHANNEL, Ask(1)).timeoutMs(500).submit());
  await until(() => raw.received.length === 1, 'the request arrives');
  raw.submit(RecordKind.send, { packetName: 'system.notice', payload: '{"text":"first"}' });
  raw.reply(raw.received[0]!, { payload: '"behind"' });
  await cluster.clock.advanceAsync(499);
  expect(outcome.state).toBe('pending');
  await cluster.clock.advanceAsync(17);
  expect(outcome.value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  expect(client.counters(CHANNEL, 'stray').accepted).toBe(0);
  gate.open();
  await until(() => client.counters(CHANNEL, 'stray').accepted === 2, 'data and late reply come through');
  expect(client.counters(CHANNEL, 'stray').dropped).toEqual({ send: 1, reply: 1 });
  expect(outcome.value).toMatchObject({ kind: 'DeadlineExceeded' });
  raw.answer = (asked) => raw.reply(asked, { payload: '"next"' });
  await expect(client.request(CHANNEL, Ask(2)).submit()).resolves.toBe('next');
});

test('[CORE-015] a reply alone in line waits while the client is PAUSED, and completes as soon as it runs', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const client = await busyClient(cluster, raw.endpoint, gate, { max: 4, held: 3, pauseThresholdPercent: 75 });
  expect(client.parts.permits.flow).toBe('PAUSED');
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit());
  await until(() => raw.received.length === 1, 'the request arrives');
  raw.reply(raw.received[0]!, { payload: '"late"' });
  await cluster.clock.advanceAsync(1_000);
  expect(outcome.state).toBe('pending');
  gate.open();
  await loopTurns(8);
  expect(outcome).toEqual({ state: 'resolved', value: 'late' });
});

test('[JOBQ-009] at the head of a running flow a reply takes no permit', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const raw = cluster.add(await new RawPeer(cluster, CHANNEL).listen());
  const client = await busyClient(cluster, raw.endpoint, gate, { max: 4, held: 3, pauseThresholdPercent: 100 });
  raw.answer = (asked) => raw.reply(asked, { payload: asked.payload });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const call = client.request(CHANNEL, Ask(i)).submit();
      void call.then(() => expect(client.parts.permits.inUse).toBe(3));
      return call;
    }),
  );
  expect(answers).toHaveLength(20);
  expect(client.parts.permits).toMatchObject({ inUse: 3, flow: 'RUNNING' });
  gate.open();
});

test('[CORE-015] a reply that finds no credit before its request has run out of time is dropped and counted there', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startServer(cluster, 'server', { answer: () => 'x'.repeat(40_000) });
  const { endpoint = '' } = server.channel(CHANNEL);
  const client = await busyClient(cluster, endpoint, gate, { max: 2, held: 2, pauseThresholdPercent: 100 });
  const outcomes = [1, 2, 3].map((i) => watch(client.request(CHANNEL, Ask(i)).timeoutMs(400).submit()));
  await cluster.clock.advanceAsync(450);
  for (const { value } of outcomes) expect(value).toMatchObject({ kind: 'DeadlineExceeded', submitted: true });
  // The first reply has left and stands at the client, the others never got credit.
  expect(server.counters(CHANNEL, 'request')).toMatchObject({ handled: 1, dropped: { reply_expired: 2 } });
  gate.open();
  await loopTurns(16);
  await expect(client.request(CHANNEL, Ask(4)).submit()).resolves.toHaveLength(40_000);
});

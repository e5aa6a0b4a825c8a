import { loopTurns, until } from '@zlink/testing';
import { Gate, watch } from '@zlink/testing/internal';
import { CHANNEL, dialingClient, startClient, startServer } from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { Ask, Notice } from './packets.ts';

test('[WIRE-006] a request that waited for a permit until its time was over never reaches its handler', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  let runs = 0;
  const server = await startServer(cluster, 'server', {
    host: { permits: { max: 1 } },
    answer: () => ++runs,
    with: (s) => s.concurrency(1).addSendHandler(Notice, () => gate.opened),
  });
  const client = await startClient(cluster, [server]);
  for (let i = 0; i < 2; i++) await client.send(CHANNEL, Notice({ text: '' })).submit(); // one runs, one holds the permit
  const outcome = watch(client.request(CHANNEL, Ask(1)).timeoutMs(1_000).submit());
  await loopTurns(8);
  await cluster.clock.advanceAsync(3_000);
  expect(outcome).toMatchObject({ state: 'rejected', value: { kind: 'DeadlineExceeded', submitted: true } });
  gate.open();
  await until(() => server.counters(CHANNEL, 'request').accepted === 1, 'it has its turn');
  await loopTurns(8);
  expect(runs).toBe(0);
  expect(server.counters(CHANNEL, 'request').dropped).toEqual({ deadline_exceeded: 1 });
});

test('[CHAN-003] a call with more time than its path waits for a first server as long as it may', async () => {
  const cluster = arrangeCluster();
  const client = await dialingClient(cluster, ['tcp://10.0.0.1:7200'], { with: (c) => c.setRequestTimeoutMs(1_000) });
  const patient = watch(client.request(CHANNEL, Ask(1)).timeoutMs(30_000).submit());
  const usual = watch(client.request(CHANNEL, Ask(2)).submit());
  const send = watch(client.send(CHANNEL, Notice({ text: '' })).submit());
  await cluster.clock.advanceAsync(1_100);
  expect([patient.state, usual.state, send.state]).toEqual(['pending', 'rejected', 'rejected']);
  await cluster.clock.advanceAsync(4_000);
  expect(patient).toMatchObject({ state: 'rejected', value: { kind: 'NotFound', submitted: false } });
});

test('[CALL-005] a call that waits for credit ends ShuttingDown when its own host stops', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const server = await startServer(cluster, 'server', {
    host: { maxWindowBytes: 65_536, permits: { max: 1 } },
    with: (s) => s.concurrency(1).addSendHandler(Notice, () => gate.opened),
  });
  const client = await startClient(cluster, [server], { host: { sendTimeoutMs: 60_000 } });
  const text = 'x'.repeat(20_000);
  const sends = Array.from({ length: 8 }, () => watch(client.send(CHANNEL, Notice({ text })).submit()));
  await loopTurns(8);
  const waiting = sends.filter(({ state }) => state === 'pending');
  expect(waiting.length).toBeGreaterThan(0);
  gate.open();
  void client.close();
  await loopTurns(2);
  for (const outcome of waiting) {
    expect(outcome).toMatchObject({ state: 'rejected', value: { kind: 'ShuttingDown', submitted: false } });
  }
});

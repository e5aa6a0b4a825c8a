import { loopTurns, until } from '@zlink/testing';
import { Gate, watch } from '@zlink/testing/internal';
import { arrangeCluster } from './cluster.ts';
import { CHANNEL, startClient, startServer } from './arrange.ts';
import { Ask, Notice } from './packets.ts';

test('[C12] an abort in the turn of the submission stops the work, though the request is on its way', async () => {
  const cluster = arrangeCluster();
  const signals: AbortSignal[] = [];
  const gate = new Gate();
  const server = await startServer(cluster, 'server', {
    answer: async (_, { signal }) => {
      signals.push(signal);
      await gate.opened;
    },
  });
  const client = await startClient(cluster, [server]);
  const controller = new AbortController();
  const outcome = watch(client.request(CHANNEL, Ask(1)).submit(controller.signal));
  controller.abort('enough');
  await loopTurns(8);
  expect(outcome).toEqual({ state: 'rejected', value: 'enough' });
  expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
  gate.open();
});

test('[C12] a cancelled request that still waits for a job permit is not left to run', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const signals: AbortSignal[] = [];
  const server = await startServer(cluster, 'server', {
    host: { permits: { max: 1 } },
    answer: async (_, { signal }) => {
      signals.push(signal);
      await gate.opened;
    },
    with: (s) => s.concurrency(1).addSendHandler(Notice, () => gate.opened),
  });
  const client = await startClient(cluster, [server]);
  for (let i = 0; i < 2; i++) await client.send(CHANNEL, Notice({ text: '' })).submit(); // one runs, one holds the permit
  const controller = new AbortController();
  void client
    .request(CHANNEL, Ask(1))
    .submit(controller.signal)
    .catch(() => undefined);
  await loopTurns(8);
  controller.abort('enough');
  await loopTurns(8);
  gate.open();
  await until(() => server.counters(CHANNEL, 'send').handled === 2, 'the others are handled');
  await loopTurns(8);
  expect(signals.filter((signal) => !signal.aborted)).toEqual([]);
});

import { loopTurns } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import {
  CHANNEL,
  endpointOf,
  publishNumbers,
  range,
  seenAll,
  startPublisher,
  startSubscriber,
  statusOf,
} from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { News } from './packets.ts';

test('[FAN-005] endpoints are connected and disconnected while the host runs, each with a connection of its own', async () => {
  const cluster = arrangeCluster();
  const [a, b] = [await startPublisher(cluster, 'a'), await startPublisher(cluster, 'b')];
  const subscriber = await startSubscriber(cluster, 'subscriber', [a]);
  const { connections } = subscriber.host.runtime(CHANNEL);
  await a.client.ready(CHANNEL, 1);
  connections.connect(endpointOf(b));
  connections.connect(endpointOf(b)); // no effect
  await b.client.ready(CHANNEL, 1);
  expect(connections.list()).toEqual([endpointOf(a), endpointOf(b)]);
  expect(cluster.network.pipesTo(endpointOf(b))).toHaveLength(1);
  await publishNumbers(a, 1, 1);
  await publishNumbers(b, 2, 2);
  await seenAll(subscriber, 2);

  connections.disconnect(endpointOf(a));
  connections.disconnect('tcp://127.0.0.1:9'); // no effect
  await loopTurns(4);
  expect(connections.list()).toEqual([endpointOf(b)]);
  expect(cluster.network.pipesTo(endpointOf(a))).toEqual([]);
  expect(statusOf(subscriber).map(({ endpoint }) => endpoint)).toEqual([endpointOf(b)]);
  connections.connect(endpointOf(a));
  await a.client.ready(CHANNEL, 1);
});

test('[FAN-005] the same endpoint twice in the configuration is one', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher, publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 3);
  await seenAll(subscriber, 3);
  expect(subscriber.seen).toEqual([1, 2, 3]);
  expect(statusOf(subscriber)).toHaveLength(1);
});

test.each(['', 'tcp://*:7100', 'tcp://127.0.0.1:0', 7 as unknown as string])(
  '[FAN-005] connect(%j) is refused',
  async (endpoint) => {
    const cluster = arrangeCluster();
    const { host } = await startSubscriber(cluster, 'subscriber', ['tcp://127.0.0.1:7100']);
    expect(() => host.runtime(CHANNEL).connections.connect(endpoint)).toThrow('[InvalidOperation] endpoint: ');
  },
);

test('[FAN-005] before the start, without a subscriber, and once the host drains, there is nothing to connect', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('subscriber');
  host
    .channel(CHANNEL)
    .connect('tcp://127.0.0.1:7100')
    .addHandler(News, () => undefined);
  const { connections } = host.runtime(CHANNEL);
  const connect = (): void => connections.connect('tcp://127.0.0.1:7200');
  expect(connect).toThrow('[InvalidOperation]');
  expect(connections.list()).toEqual([]);
  await host.open();
  connect();
  expect(connections.list()).toEqual(['tcp://127.0.0.1:7100', 'tcp://127.0.0.1:7200']);
  host.serve();
  host.drain();
  expect(connect).toThrow('[ShuttingDown]');
  const publisher = await startPublisher(cluster, 'publisher');
  expect(() => publisher.runtime(CHANNEL).connections.connect('tcp://127.0.0.1:7100')).toThrow('[NotConfigured]');
});

test('[FAN-005] a handler may disconnect its own publisher: what waits of it is dropped, the handler ends', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const seen: (number | undefined)[] = [];
  const { host } = await startSubscriber(cluster, 'subscriber', [publisher], {
    handler: ({ seq }) => {
      seen.push(seq);
      if (seq === 2) host.runtime(CHANNEL).connections.disconnect(endpointOf(publisher));
    },
  });
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 10);
  await loopTurns(8);
  expect(seen).toEqual([1, 2]);
  expect(host.parts.permits.inUse).toBe(0);
});

test('[DRAIN-002] drain ends what comes from outside, handlers that have started end in their own time', async () => {
  const cluster = arrangeCluster();
  const gate = new Gate();
  const publisher = await startPublisher(cluster, 'publisher');
  const { host } = await startSubscriber(cluster, 'subscriber', [publisher], {
    host: { permits: { max: 4 } },
    handler: () => gate.opened,
  });
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 300);
  await loopTurns(8);
  expect(host.counters(CHANNEL)).toMatchObject({ running: 256, queued: 4 });
  host.drain();
  await loopTurns(4);
  expect(cluster.network.pipesTo(endpointOf(publisher))).toEqual([]);
  gate.open();
  await host.drained();
  expect(host.counters(CHANNEL)).toMatchObject({ accepted: 260, handled: 260 });
});

test('[DRAIN-005] handlers that do not end find their signal aborted', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const aborted: unknown[] = [];
  const { host } = await startSubscriber(cluster, 'subscriber', [publisher], {
    handler: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.push(signal.reason);
          resolve();
        });
      }),
  });
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 1);
  await loopTurns(8);
  host.drain();
  host.abort();
  await host.drained();
  expect(aborted).toMatchObject([{ kind: 'ShuttingDown' }]);
});

test('[FAN-004] what was published in the turn of the end still leaves', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 500);
  await publisher.close();
  await seenAll(subscriber, 500);
  expect(subscriber.seen).toEqual(range(1, 500));
});

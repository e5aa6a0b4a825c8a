import { loopTurns, until } from '@zlink/testing';
import { Board, watch } from '@zlink/testing/internal';
import {
  CHANNEL,
  endpointOf,
  findingSubscriber,
  publishingHost,
  publishNumbers,
  range,
  seenAll,
  startPublisher,
  startSubscriber,
  stateOf,
  statusOf,
} from './arrange.ts';
import { factsOf } from './facts.ts';
import { arrangeCluster } from './cluster.ts';
import { News } from './packets.ts';
import { frameOf, RawPublisher } from './raw-publisher.ts';

test('[FAN-005] an automatic subscriber finds the publishers of its channel, now and later, each with a connection of its own', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const first = await publishingHost(cluster, board, 'a');
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await first.client.ready(CHANNEL, 1);
  const second = await publishingHost(cluster, board, 'b');
  await second.client.ready(CHANNEL, 1);
  await publishNumbers(first, 1, 10);
  await publishNumbers(second, 11, 20);
  await seenAll(subscriber, 20);
  expect(subscriber.seen.toSorted((a = 0, b = 0) => a - b)).toEqual(range(1, 20));
  expect(board.watched).toEqual([{ kind: 'fanout', name: CHANNEL }]);
  expect(statusOf(subscriber)).toEqual([
    { endpoint: endpointOf(first), routingId: 'a', state: 'ready', missedEvents: 0, firstEvent: 1 },
    { endpoint: endpointOf(second), routingId: 'b', state: 'ready', missedEvents: 0, firstEvent: 1 },
  ]);
  for (const publisher of [first, second]) expect(cluster.network.pipesTo(endpointOf(publisher))).toHaveLength(1);
});

test('[LOC-002] a publisher is found under its fixed RID or one of its own, with its states', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const fixed = await publishingHost(cluster, board, 'fixed');
  const host = cluster.host('fresh', { discovery: board.discovery(cluster.clock) });
  host.channel(CHANNEL).enablePublisher().setRoutingIdPrefix('feed');
  await host.start();
  fixed.drain();
  const [starting, serving, draining] = board.written.filter(({ rid }) => rid === 'fixed');
  expect([starting?.state, serving?.state, draining?.state]).toEqual(['starting', 'serving', 'draining']);
  expect([starting?.revision, serving?.revision, draining?.revision]).toEqual([1n, 2n, 3n]);
  expect(starting).toMatchObject({ name: CHANNEL, endpoint: endpointOf(fixed) });
  expect(board.written.find(({ endpoint }) => endpoint === endpointOf(host))?.rid).toMatch(/^feed-[0-9a-f-]{36}$/);
});

test('[FAN-005] a publisher that drains, or whose owner is absent, is not connected to', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const raw = await RawPublisher.bind(cluster);
  const identity = { rid: 'a', generation: 7n };
  board.post(factsOf(identity, raw.endpoint, { state: 'draining' }));
  board.post(factsOf({ rid: 'b', generation: 7n }, raw.endpoint), false);
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await cluster.clock.advanceAsync(10_000);
  expect(raw.subscriptions).toBe(0);
  expect(statusOf(subscriber)).toEqual([
    { endpoint: raw.endpoint, routingId: 'a', state: 'closed', reason: 'draining', missedEvents: 0 },
    { endpoint: raw.endpoint, routingId: 'b', state: 'closed', reason: 'owner lease absent', missedEvents: 0 },
  ]);
  board.post(factsOf(identity, raw.endpoint, { revision: 2n }));
  await raw.subscribed();
});

test('[FAN-005] a connected publisher that drains is read to its end, and then forgotten', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 5); // in the turn of the end
  publisher.drain();
  board.remove('a');
  await publisher.close();
  await seenAll(subscriber, 5);
  await cluster.clock.advanceAsync(10_000);
  expect(statusOf(subscriber)).toEqual([]);
  expect(subscriber.host.log).toEqual([]);
});

test('[FAN-005] only the discovered run is subscribed to: another one at its address refuses, and its reason is shown', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const other = await RawPublisher.bind(cluster, 7_100, 8n);
  board.post(factsOf({ rid: 'a', generation: 7n }, other.endpoint));
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await until(() => stateOf(subscriber) === 'rejected', 'it is refused');
  expect(statusOf(subscriber)).toEqual([
    {
      endpoint: other.endpoint,
      routingId: 'a',
      state: 'rejected',
      reason: 'another run of the publisher',
      missedEvents: 0,
    },
  ]);
  expect(subscriber.host.log).toMatchObject([{ eventId: 'zlink.fanout.publisher_refused' }]);
  await other.close();
  const raw = await RawPublisher.bind(cluster, 7_100);
  await cluster.passing(raw.subscribed());
  raw.send(frameOf(1, ['{"seq":1}'], { generation: 8n }));
  raw.send(frameOf(1, ['{"seq":2}']));
  await loopTurns(4);
  expect(stateOf(subscriber)).toBe('ready');
  expect(subscriber.seen).toEqual([2]);
});

test('[C08] who still looks for the former run is not counted by the next one, and hears it from the first event on', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const before = await publishingHost(cluster, board, 'before', { port: 7_100 });
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await before.client.ready(CHANNEL, 1);
  const former = board.facts('before');
  await before.close(); // as if it was killed: its descriptor stays

  const unseen = new Board<'fanout'>();
  const after = await publishingHost(cluster, unseen, 'after', { port: 7_100 });
  const ready = watch(after.client.ready(CHANNEL, 1));
  await cluster.clock.advanceAsync(30_000); // it is dialled again and again
  expect(ready.state).toBe('pending');
  expect(statusOf(subscriber)).toMatchObject([{ state: 'rejected', reason: 'another run of the publisher' }]);

  board.post(unseen.facts('after'));
  await cluster.passing(after.client.ready(CHANNEL, 1));
  await publishNumbers(after, 1, 10);
  await seenAll(subscriber, 10);
  board.post({ ...former, revision: 9n }, false);
  await loopTurns(4);
  expect(statusOf(subscriber)).toMatchObject([
    { routingId: 'before', state: 'closed', reason: 'owner lease absent' },
    { routingId: 'after', state: 'ready', missedEvents: 0, firstEvent: 1 },
  ]);
  expect(cluster.network.pipesTo(endpointOf(after))).toHaveLength(1);
});

test('[C08] a subscriber that was told of its publisher does not mind that others are refused there', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await startPublisher(cluster, 'publisher', { port: 7_100 });
  const told = await startSubscriber(cluster, 'told', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 5);
  board.post(factsOf({ rid: 'a', generation: 7n }, endpointOf(publisher)));
  const mistaken = await findingSubscriber(cluster, board, 'mistaken');
  await until(() => stateOf(mistaken) === 'rejected', 'it is refused');
  await publishNumbers(publisher, 6, 10);
  await seenAll(told, 10);
  expect(statusOf(told)).toMatchObject([{ state: 'ready', missedEvents: 0 }]);
  expect([told.seen, mistaken.seen, told.host.log]).toEqual([range(1, 10), [], []]);
});

test('[FAN-005] a publisher restarted in place is followed: a new run, and no gap between the two', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  for (const first of [1, 101, 201]) {
    const publisher = await publishingHost(cluster, board, 'a', { port: 7_100 });
    await cluster.passing(publisher.client.ready(CHANNEL, 1));
    await publishNumbers(publisher, first, first + 49);
    await seenAll(subscriber, Math.ceil(first / 100) * 50);
    expect(statusOf(subscriber)).toMatchObject([{ routingId: 'a', state: 'ready', firstEvent: 1, missedEvents: 0 }]);
    publisher.drain();
    await publisher.close();
  }
  expect(subscriber.seen).toEqual([...range(1, 50), ...range(101, 150), ...range(201, 250)]);
});

test('[FAN-005] with the store away subscriptions stay, and a lost one is dialled again while views are current', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await publisher.client.ready(CHANNEL, 1);
  board.goAway('no route');
  cluster.network.cut(endpointOf(publisher));
  await loopTurns(4);
  await cluster.passing(publisher.client.ready(CHANNEL, 1));
  await publishNumbers(publisher, 1, 3);
  await seenAll(subscriber, 3);
  board.outlast();
  board.setOwnerPresent('a', false);
  await publishNumbers(publisher, 4, 6);
  await seenAll(subscriber, 6);
  cluster.network.cut(endpointOf(publisher));
  await cluster.clock.advanceAsync(10_000);
  expect(statusOf(subscriber)).toMatchObject([{ state: 'closed', reason: 'owner lease absent' }]);
  board.comeBack();
  board.setOwnerPresent('a', true);
  await cluster.passing(publisher.client.ready(CHANNEL, 1));
});

test('[FAN-005] a publisher that leaves the store is kept as long as it is heard', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const subscriber = await findingSubscriber(cluster, board, 'subscriber');
  await cluster.clock.advanceAsync(1_000);
  board.remove('a');
  await cluster.clock.advanceAsync(30_000);
  expect(statusOf(subscriber)).toMatchObject([{ state: 'ready', reason: 'descriptor gone' }]);
  await publisher.close();
  await cluster.clock.advanceAsync(1_000);
  expect(statusOf(subscriber)).toEqual([]);
});

test('[HOST-004] nothing is received before the host serves', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const host = cluster.host('subscriber', { discovery: board.discovery(cluster.clock) });
  const seen: unknown[] = [];
  host
    .channel(CHANNEL)
    .enableSubscriber()
    .addHandler(News, (event) => void seen.push(event));
  await host.open();
  await host.announce();
  await cluster.clock.advanceAsync(10_000);
  expect(cluster.network.pipesTo(endpointOf(publisher))).toEqual([]);
  host.serve();
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 1);
  await until(() => seen.length === 1, 'the event is handled');
});

test('[FAN-005] the handle for endpoints steers no discovery', async () => {
  const [cluster, board] = [arrangeCluster(), new Board<'fanout'>()];
  const publisher = await publishingHost(cluster, board, 'a');
  const { host } = await findingSubscriber(cluster, board, 'subscriber');
  await publisher.client.ready(CHANNEL, 1);
  const { connections } = host.runtime(CHANNEL);
  expect(connections.list()).toEqual([]);
  expect(() => connections.connect('tcp://127.0.0.1:7100')).toThrow('[InvalidOperation]');
  expect(() => connections.disconnect(endpointOf(publisher))).toThrow('which is not steered by hand');
  expect(publisher.listeners()).toHaveLength(1);
});

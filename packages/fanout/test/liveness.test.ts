import { beaconParts, checkBeacon } from '@zlink/kernel/internal/wire';
import { loopTurns, until } from '@zlink/testing';
import {
  CHANNEL,
  endpointOf,
  publish,
  publishNumbers,
  startPublisher,
  startSubscriber,
  stateOf,
  statusOf,
} from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { News } from './packets.ts';
import { frameOf, RawPublisher } from './raw-publisher.ts';
import type { TestHost } from './test-host.ts';

const TOPIC = Uint8Array.of(0x01, 0x5a, 0x4c, 0x46, 0x31);

/** When beacons come, by the test's clock, at somebody who subscribes without being one of ours. */
async function beaconTimes(cluster: Cluster, publisher: TestHost): Promise<number[]> {
  const times: number[] = [];
  const listener = cluster.host('listener');
  listener.parts.events.subscribe(
    { address: endpointOf(publisher) },
    {
      onOpen: () => undefined,
      onMessage: (parts) => {
        if (checkBeacon(parts) !== 'beacon') throw new Error('no beacon');
        times.push(cluster.clock.nowMs());
      },
      onClosed: () => undefined,
    },
  );
  await publisher.client.ready(CHANNEL, 1);
  return times;
}

test('[LIVE-003] a publisher beacons soon after a subscription and every 5 s, whatever it publishes', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const times = await beaconTimes(cluster, publisher);
  const startedAtMs = cluster.clock.nowMs();
  await cluster.clock.advanceAsync(20_000);
  const [first = 0, ...later] = times.map((atMs) => Math.round(atMs - startedAtMs));
  expect(first).toBeLessThanOrEqual(100);
  expect(later.map((atMs) => Math.round((atMs - first) / 1_000))).toEqual([5, 10, 15]);
});

test('[LIVE-003] subscribers that come one after the other all are greeted, and share the beacon', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const times = await beaconTimes(cluster, publisher);
  const subscribers = [];
  for (let i = 0; i < 20; i++) {
    subscribers.push(await startSubscriber(cluster, `subscriber ${i}`, [publisher]));
    await cluster.clock.advanceAsync(5);
  }
  expect(subscribers.slice(0, 8).map(stateOf)).toEqual(Array(8).fill('ready')); // nobody waits for the last one
  await cluster.clock.advanceAsync(200);
  expect(subscribers.map(stateOf)).toEqual(subscribers.map(() => 'ready'));
  expect(times.length).toBeLessThanOrEqual(5);
});

test('[LIVE-003] a subscriber is connected first, and ready with the first beacon', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  expect(stateOf(subscriber)).toBe('connecting');
  await raw.subscribed();
  await loopTurns(4);
  expect(stateOf(subscriber)).toBe('admitted');
  raw.beacon();
  await loopTurns(4);
  expect(statusOf(subscriber)).toEqual([{ endpoint: raw.endpoint, state: 'ready', missedEvents: 0 }]);
  expect(subscriber.host.counters(CHANNEL).accepted).toBe(0); // LIVE-003: no message
});

test('[LIVE-003] or with the first event, without any beacon', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  await raw.subscribed();
  raw.send(frameOf(1, ['{"seq":1}']));
  await loopTurns(4);
  expect(stateOf(subscriber)).toBe('ready');
});

test('[LIVE-003] after 15 s of silence it is not ready and dials anew; a sign of life starts the 15 s again', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  await raw.subscribed();
  raw.beacon();
  await cluster.clock.advanceAsync(14_900);
  raw.send(frameOf(1, ['{"seq":1}']));
  await cluster.clock.advanceAsync(14_900);
  expect(stateOf(subscriber)).toBe('ready');
  await cluster.clock.advanceAsync(150);
  expect(statusOf(subscriber)).toMatchObject([
    { state: 'reconnecting', reason: 'nothing was heard for 15000 ms', missedEvents: 0 },
  ]);
  await cluster.clock.advanceAsync(200);
  await raw.subscribed();
  raw.send(frameOf(2, ['{"seq":2}']));
  await loopTurns(4);
  expect(statusOf(subscriber)).toEqual([{ endpoint: raw.endpoint, state: 'ready', missedEvents: 0, firstEvent: 1 }]);
  expect(subscriber.seen).toEqual([1, 2]);
});

test('[LIVE-003] a connection on which nothing is ever heard is given up after 15 s, and one that nobody answers is, too', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  await cluster.clock.advanceAsync(14_900);
  expect(stateOf(subscriber)).toBe('admitted');
  cluster.network.blackhole(raw.endpoint);
  await cluster.clock.advanceAsync(400);
  expect(statusOf(subscriber)).toMatchObject([{ state: 'connecting', reason: 'nothing was heard for 15000 ms' }]);
  await cluster.clock.advanceAsync(15_000); // no answer to an attempt
  cluster.network.restore();
  await cluster.passing(raw.subscribed());
  raw.beacon();
  await loopTurns(4);
  expect(statusOf(subscriber)).toEqual([{ endpoint: raw.endpoint, state: 'ready', missedEvents: 0 }]);
});

test('[FAN-005] the silence of one publisher touches no other', async () => {
  const cluster = arrangeCluster();
  const [silent, alive] = [await startPublisher(cluster, 'silent'), await startPublisher(cluster, 'alive')];
  const subscriber = await startSubscriber(cluster, 'subscriber', [silent, alive]);
  await cluster.clock.advanceAsync(1_000);
  expect(statusOf(subscriber).map(({ state }) => state)).toEqual(['ready', 'ready']);
  cluster.network.blackhole(endpointOf(silent));
  await cluster.clock.advanceAsync(16_000);
  await publishNumbers(alive, 1, 10);
  await loopTurns(8);
  expect(statusOf(subscriber).map(({ state }) => state)).toEqual(['reconnecting', 'ready']);
  expect(subscriber.seen).toHaveLength(10);
  expect(cluster.network.pipesTo(endpointOf(alive))).toHaveLength(1);
});

test('[LIVE-003] time in which the subscriber itself does not read is no silence', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint], { host: { permits: { max: 10 } } });
  const { permits } = subscriber.host.parts;
  await raw.subscribed();
  raw.beacon();
  await cluster.clock.advanceAsync(10_000);
  for (let taken = 0; taken < 10; taken++) expect(permits.tryAcquire()).toBe(true); // PAUSED
  await cluster.clock.advanceAsync(60_000);
  expect(stateOf(subscriber)).toBe('ready');
  for (let taken = 0; taken < 10; taken++) permits.release();
  await cluster.clock.advanceAsync(4_900);
  expect(stateOf(subscriber)).toBe('ready');
  await cluster.clock.advanceAsync(200);
  expect(stateOf(subscriber)).toBe('reconnecting'); // 10 s before, 5 s after
});

test('[LIVE-002] a subscriber whose event loop stood still reads what has arrived before it judges', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await cluster.clock.advanceAsync(1_000);
  cluster.clock.stall(60_000);
  await cluster.clock.advanceAsync(0);
  await cluster.clock.advanceAsync(14_000);
  expect(stateOf(subscriber)).toBe('ready');
  expect(cluster.network.pipesTo(endpointOf(publisher))).toHaveLength(1);
});

test('[LIVE-002] and what arrives soon after counts, too', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  await raw.subscribed();
  raw.beacon();
  await cluster.clock.advanceAsync(14_000);
  cluster.network.delay(raw.endpoint, 10_500, 'toDialer');
  raw.beacon();
  cluster.clock.stall(10_000);
  await cluster.clock.advanceAsync(2_000);
  expect(stateOf(subscriber)).toBe('ready');
  await cluster.clock.advanceAsync(15_000);
  expect(stateOf(subscriber)).toBe('reconnecting');
});

test.each<[string, Uint8Array[]]>([
  ['another payload', [TOPIC, Uint8Array.of(0x5a, 0x46, 0x01, 0x02)]],
  ['an empty payload', [TOPIC, new Uint8Array(0)]],
  ['a third part', [...beaconParts(), new Uint8Array(0)]],
  ['one part', [TOPIC]],
])('[LIVE-003] a malformed beacon closes that subscription only, which dials again: %s', async (_, parts) => {
  const cluster = arrangeCluster();
  const [raw, other] = [await RawPublisher.bind(cluster), await RawPublisher.bind(cluster)];
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint, other.endpoint]);
  await raw.subscribed();
  await other.subscribed();
  raw.beacon();
  other.beacon();
  await loopTurns(4);
  raw.send(...parts);
  await loopTurns(4);
  expect(statusOf(subscriber)).toMatchObject([{ state: 'rejected', reason: 'malformed beacon' }, { state: 'ready' }]);
  expect(subscriber.host.log).toMatchObject([{ eventId: 'zlink.fanout.publisher_refused', kind: 'ProtocolError' }]);
  expect([raw.subscriptions, other.subscriptions]).toEqual([0, 1]);
  await cluster.clock.advanceAsync(200);
  await raw.subscribed();
  raw.beacon();
  await loopTurns(4);
  expect(statusOf(subscriber).map(({ state }) => state)).toEqual(['ready', 'ready']);
});

test('[LIVE-003] a beacon reaches neither handlers nor counters, and leaves no log', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await cluster.clock.advanceAsync(30_000);
  expect(stateOf(subscriber)).toBe('ready');
  expect(subscriber.host.counters(CHANNEL)).toMatchObject({ accepted: 0, dropped: {} });
  expect([...subscriber.host.log, ...publisher.log]).toEqual([]);
});

test('[FAN-005] a publisher that is away is dialled again with growing delays, and found again', async () => {
  const cluster = arrangeCluster();
  const subscriber = await startSubscriber(cluster, 'subscriber', ['tcp://127.0.0.1:7100']);
  await cluster.clock.advanceAsync(60_000);
  expect(statusOf(subscriber)).toMatchObject([{ state: 'connecting', reason: 'connection refused' }]);
  const publisher = await startPublisher(cluster, 'publisher', { port: 7_100 });
  await cluster.clock.advanceAsync(5_100); // no longer than the longest delay
  expect(stateOf(subscriber)).toBe('ready');
  await publish(publisher, News({ seq: 1 }));
  await until(() => subscriber.seen.length === 1, 'the event arrives');
  cluster.network.cut('tcp://127.0.0.1:7100');
  await loopTurns(4);
  expect(stateOf(subscriber)).toBe('reconnecting');
  await cluster.clock.advanceAsync(200); // the delay starts small again
  expect(stateOf(subscriber)).toBe('ready');
});

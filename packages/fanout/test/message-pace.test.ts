import { loopTurns, ManualClock, until } from '@zlink/testing';
import { MessagePace } from '../src/publisher/message-pace.ts';
import { CHANNEL, publishNumbers, range, startPublisher, startSubscriber, statusOf } from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { News } from './packets.ts';
import type { TestHost } from './test-host.ts';

const BURST = 100;

const INTERVAL_MS = 2;

test('[CORE-016] after a rest so many messages leave at once, then one per interval', () => {
  const clock = new ManualClock();
  const pace = new MessagePace(clock);
  for (let message = 1; message <= BURST; message++) {
    expect(pace.waitMs).toBe(0);
    pace.spend();
  }
  expect(pace.waitMs).toBe(INTERVAL_MS);
  clock.advance(1.5);
  expect(pace.waitMs).toBe(0.5);
  clock.advance(0.5);
  expect(pace.waitMs).toBe(0);
  pace.spend();
  pace.spend(); // by a timer that was early
  expect(pace.waitMs).toBe(INTERVAL_MS);
  clock.advance(1_000_000);
  for (let message = 1; message <= BURST; message++) pace.spend();
  expect(pace.waitMs).toBe(INTERVAL_MS);
});

/** A turn with one event each, ten turns in a millisecond. */
async function publishTurns(cluster: Cluster, publisher: TestHost, count: number): Promise<void> {
  for (let seq = 1; seq <= count; seq++) {
    await publishNumbers(publisher, seq, seq);
    await new Promise((resolve) => setImmediate(resolve));
    if (seq % 10 === 0) await cluster.clock.advanceAsync(1);
  }
}

test('[CORE-016] [FAN-004] thousands of turns with one event each do not overrun a subscriber that rests meanwhile', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher], { host: { permits: { max: 10 } } });
  await publisher.client.ready(CHANNEL, 1);
  const { permits } = subscriber.host.parts;
  for (let taken = 0; taken < 10; taken++) expect(permits.tryAcquire()).toBe(true);
  await publishTurns(cluster, publisher, 5_000); // five times the mark
  expect(subscriber.seen).toEqual([]);
  for (let taken = 0; taken < 10; taken++) permits.release();
  await until(() => subscriber.seen.length === 5_000, 'all are handled');
  expect(subscriber.seen).toEqual(range(1, 5_000));
  expect(statusOf(subscriber)).toMatchObject([{ state: 'ready', missedEvents: 0 }]);
});

test('[CORE-016] [FAN-006] a full message waits for nothing, and costs what follows it no time', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await loopTurns(8);
  const text = 'x'.repeat(40_000); // the next one does not fit beside it
  const publishLarge = (seq: number): Promise<void> => publisher.client.publish(CHANNEL, News({ seq, text })).submit();
  for (let seq = 1; seq <= 10 * BURST; seq++) await publishLarge(seq);
  await until(() => subscriber.seen.length === 10 * BURST, 'the last one has left with the end of the turn');
  for (let turn = 1; turn < BURST; turn++) {
    await publishNumbers(publisher, 0, 0);
    await loopTurns(1);
  }
  await until(() => subscriber.seen.length === 11 * BURST - 1, 'a burst was left');
  await publishLarge(1);
  await loopTurns(8);
  expect(subscriber.seen).toHaveLength(11 * BURST - 1);
  await publishLarge(2);
  await loopTurns(8);
  expect(subscriber.seen.slice(11 * BURST - 1)).toEqual([1]); // the second one waits, and is not full
  await cluster.clock.advanceAsync(INTERVAL_MS);
  expect(subscriber.seen.at(-1)).toBe(2);
});

test('[FAN-002] what waits for the pace leaves when the publisher closes', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  for (let seq = 1; seq <= 2 * BURST; seq++) {
    await publishNumbers(publisher, seq, seq);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(subscriber.seen.length).toBeLessThan(2 * BURST);
  await publisher.close();
  await until(() => subscriber.seen.length === 2 * BURST, 'all are handled');
  expect(subscriber.seen).toEqual(range(1, 2 * BURST));
});

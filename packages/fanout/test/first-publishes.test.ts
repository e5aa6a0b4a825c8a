import { arrangeCluster, type Cluster } from './cluster.ts';
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
import type { TestHost } from './test-host.ts';

const RUNS = 50;
const PORT = 7_100;
const ENDPOINT = `tcp://127.0.0.1:${PORT}`;

/** A publisher that has as many subscribers as it waits for: time passes until dialling again has found it. */
async function publisherWith(cluster: Cluster, name: string, subscribers: number): Promise<TestHost> {
  const publisher = await startPublisher(cluster, name, { port: PORT });
  await cluster.passing(publisher.client.ready(CHANNEL, subscribers));
  return publisher;
}

test('[C08] after ready nothing is lost, not to subscribers that were there before their publisher, nor after its restart', async () => {
  const cluster = arrangeCluster();
  for (let run = 0; run < RUNS; run++) {
    const first = await startSubscriber(cluster, `first ${run}`, [ENDPOINT]);
    const second = await startSubscriber(cluster, `second ${run}`, [ENDPOINT]);
    const publisher = await publisherWith(cluster, `publisher ${run}`, 2);
    expect(endpointOf(publisher)).toBe(ENDPOINT);
    await publishNumbers(publisher, 1, 1_000);
    await seenAll(first, 1_000);
    await publisher.close();

    const restarted = await publisherWith(cluster, `restarted ${run}`, 2);
    await publishNumbers(restarted, 2_001, 3_000);
    for (const subscriber of [first, second]) {
      await seenAll(subscriber, 2_000);
      expect(subscriber.seen).toEqual([...range(1, 1_000), ...range(2_001, 3_000)]);
      expect(statusOf(subscriber)).toMatchObject([{ state: 'ready', missedEvents: 0, firstEvent: 1 }]);
      await subscriber.host.close();
    }
    await restarted.close();
  }
});

test('[C08] a late subscriber is told with which event it began, and misses none from there on', async () => {
  const cluster = arrangeCluster();
  for (let run = 0; run < RUNS; run++) {
    const publisher = await startPublisher(cluster, `publisher ${run}`, { port: PORT });
    await publishNumbers(publisher, 1, 1_000);
    const late = await startSubscriber(cluster, `late ${run}`, [ENDPOINT]);
    // Some of these are published before it has subscribed, some after.
    for (let seq = 1_001; seq <= 1_100; seq++) {
      await publishNumbers(publisher, seq, seq);
      await cluster.clock.advanceAsync(2);
    }
    await publisher.client.ready(CHANNEL, 1);
    await publishNumbers(publisher, 1_101, 2_000);
    const [begin = 0] = late.seen;
    await seenAll(late, 900);
    await cluster.clock.advanceAsync(0);
    const [firstSeen = begin] = late.seen;
    expect(firstSeen).toBeGreaterThan(1_000);
    expect(firstSeen).toBeLessThanOrEqual(1_101);
    expect(late.seen).toEqual(range(firstSeen, 2_000));
    expect(statusOf(late)).toMatchObject([{ firstEvent: firstSeen, missedEvents: 0 }]);
    await Promise.all([late.host.close(), publisher.close()]);
  }
});

/** What [C08] asks for, by hosts as applications make them: no pause anywhere, and nothing lost after `ready`. */
import type { Host } from '@zlink/framework';
import { jest } from '@jest/globals';
import { loopTurns } from '@zlink/testing';
import { freePort } from '../ports.ts';
import { NEWS, publish, range, startPublisher, startSubscriber } from './fanout-hosts.ts';

jest.setTimeout(240_000);

const RUNS = 50;
/** They share the machine; each has a publisher and three subscribers. */
const AT_ONCE = 5;

const EVENTS_PER_TURN = 10;

/** Over a hundred turns and messages: far below what may wait for a subscriber, however long the machine lets it wait. */
async function publishSpread(publisher: Host): Promise<void> {
  for (let seq = 1_001; seq <= 2_000; seq += EVENTS_PER_TURN) {
    await publish(publisher, seq, seq + EVENTS_PER_TURN - 1);
    await loopTurns(1);
  }
}

/** @returns number of the first event that the late subscriber got */
async function run(): Promise<number> {
  const port = await freePort();
  const endpoint = `tcp://127.0.0.1:${port}`;
  const early = [await startSubscriber([endpoint]), await startSubscriber([endpoint])];
  const publisher = await startPublisher({ port });
  await publisher.fanoutClient.ready(NEWS, early.length);
  await publish(publisher, 1, 1_000);
  for (const subscriber of early) await subscriber.reaches(1_000);

  const starting = startSubscriber([endpoint]);
  await publishSpread(publisher);
  const late = await starting;
  const all = [...early, late];
  await publisher.fanoutClient.ready(NEWS, all.length);
  await publish(publisher, 2_001, 2_001);
  for (const subscriber of all) await subscriber.reaches(2_001);
  const [first = 0] = late.numbers;
  expect(first).toBeGreaterThan(1_000);
  expect(late.publishers).toEqual([{ endpoint, state: 'ready', missedEvents: 0, firstEvent: first }]);
  await publisher.shutdown();

  const restarted = await startPublisher({ port });
  await restarted.fanoutClient.ready(NEWS, all.length);
  await publish(restarted, 3_001, 4_000);
  for (const subscriber of all) await subscriber.reaches(4_000);
  const again = range(3_001, 4_000);
  for (const subscriber of early) expect(subscriber.numbers).toEqual([...range(1, 2_001), ...again]);
  expect(late.numbers).toEqual([...range(first, 2_001), ...again]);
  for (const { publishers } of all) {
    expect(publishers).toEqual([{ endpoint, state: 'ready', missedEvents: 0, firstEvent: 1 }]);
  }
  await Promise.all([restarted, ...all.map(({ host }) => host)].map((host) => host.shutdown()));
  return first;
}

test(`[C08] after ready nothing is lost, to early and late subscribers and behind a restart, in ${RUNS} runs`, async () => {
  const firsts: number[] = [];
  while (firsts.length < RUNS) firsts.push(...(await Promise.all(Array.from({ length: AT_ONCE }, run))));
  expect(firsts.filter((first) => first > 1_001 && first < 2_001).length).toBeGreaterThan(0); // some came in the midst of it
});

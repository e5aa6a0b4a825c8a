/** What [C08] asks for, by hosts as applications make them: no pause anywhere, and nothing lost after `ready`. */
import type { Host } from '@zlink/framework';
import { jest } from '@jest/globals';
import { loopTurns, until } from '@zlink/testing';
import { quietPort } from '@zlink/testing/internal';
import { NEWS, publish, range, startPublisher, startSubscriber, type Subscriber } from './fanout-hosts.ts';

jest.setTimeout(240_000);

const RUNS = 50;
/** They share the machine; each has a publisher and three subscribers. */
const AT_ONCE = 5;

const EVENTS_PER_TURN = 10;

/**
 * Over a hundred turns and messages: far below what may wait for a subscriber, however long the machine lets it wait.
 *
 * @param hasHeard - goes on until then, at the pace of `pace`
 * @returns number of the last event
 */
async function publishSpread(publisher: Host, pace: Subscriber, hasHeard = (): boolean => true): Promise<number> {
  let last = 1_000;
  while (last < 2_000 || !hasHeard()) {
    await publish(publisher, last + 1, last + EVENTS_PER_TURN);
    last += EVENTS_PER_TURN;
    await loopTurns(1);
    if (last > 2_000) await until(() => (pace.numbers.at(-1) ?? 0) > last - 1_000, 'those before are seen');
  }
  return last;
}

/**
 * @param isHeard - whether the spread goes on until the late subscriber hears of it, however long it takes to come
 * @returns whether it came in the midst of the spread
 */
async function run(isHeard: boolean): Promise<boolean> {
  const port = await quietPort();
  const endpoint = `tcp://127.0.0.1:${port}`;
  const early = [await startSubscriber([endpoint]), await startSubscriber([endpoint])];
  const publisher = await startPublisher({ port });
  await publisher.fanoutClient.ready(NEWS, early.length);
  await publish(publisher, 1, 1_000);
  for (const subscriber of early) await subscriber.reaches(1_000);

  const starting = startSubscriber([endpoint]);
  let comer: Subscriber | undefined;
  void starting.then((started) => (comer = started));
  const hasHeard = (): boolean => (comer?.seen.length ?? 0) > 0;
  const spread = await publishSpread(publisher, early[0]!, isHeard ? hasHeard : undefined);
  const late = await starting;
  const all = [...early, late];
  await publisher.fanoutClient.ready(NEWS, all.length);
  const last = spread + 1;
  await publish(publisher, last, last);
  for (const subscriber of all) await subscriber.reaches(last);
  const [first = 0] = late.numbers;
  expect(first).toBeGreaterThan(1_000);
  expect(late.publishers).toEqual([{ endpoint, state: 'ready', missedEvents: 0, firstEvent: first }]);
  await publisher.shutdown();

  const restarted = await startPublisher({ port });
  await restarted.fanoutClient.ready(NEWS, all.length);
  await publish(restarted, last + 1_000, last + 2_000);
  for (const subscriber of all) await subscriber.reaches(last + 2_000);
  const again = range(last + 1_000, last + 2_000);
  for (const subscriber of early) expect(subscriber.numbers).toEqual([...range(1, last), ...again]);
  expect(late.numbers).toEqual([...range(first, last), ...again]);
  for (const { publishers } of all) {
    expect(publishers).toEqual([{ endpoint, state: 'ready', missedEvents: 0, firstEvent: 1 }]);
  }
  await Promise.all([restarted, ...all.map(({ host }) => host)].map((host) => host.shutdown()));
  return first > 1_001 && first < last;
}

test(`[C08] after ready nothing is lost, to early and late subscribers and behind a restart, in ${RUNS} runs`, async () => {
  const inMidst: boolean[] = [];
  const start = (_: unknown, at: number): Promise<boolean> => run(at === 0);
  while (inMidst.length < RUNS) inMidst.push(...(await Promise.all(Array.from({ length: AT_ONCE }, start))));
  expect(inMidst).toContain(true); // some came in the midst of it
});

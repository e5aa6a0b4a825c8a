import fc from 'fast-check';
import { loopTurns, until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { EventSequence } from '../src/subscriber/event-sequence.ts';
import {
  CHANNEL,
  endpointOf,
  publishNumbers,
  range,
  seenAll,
  startPublisher,
  startSubscriber,
  statusOf,
  type Subscriber,
} from './arrange.ts';
import { arrangeCluster } from './cluster.ts';
import { News } from './packets.ts';
import { frameOf, RawPublisher } from './raw-publisher.ts';

function missedBy(subscriber: Subscriber): number {
  return statusOf(subscriber)[0]?.missedEvents ?? NaN;
}

test('[FAN-004] a subscriber that does not read loses, and counts what it lost; publisher and others notice nothing', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher', { host: { markCount: 10 } });
  const slow = await startSubscriber(cluster, 'slow', [publisher], { host: { permits: { max: 5 } } });
  const fast = await startSubscriber(cluster, 'fast', [publisher]);
  await publisher.client.ready(CHANNEL, 2);
  const { permits } = slow.host.parts;
  for (let taken = 0; taken < 5; taken++) expect(permits.tryAcquire()).toBe(true);
  for (let turn = 1; turn <= 200; turn++) {
    await publishNumbers(publisher, turn, turn);
    await cluster.clock.advanceAsync(2); // one message each
  }
  expect(fast.seen).toEqual(range(1, 200));
  expect(missedBy(fast)).toBe(0);
  expect(slow.seen).toEqual([]);
  for (let taken = 0; taken < 5; taken++) permits.release();
  await until(() => slow.seen.length > 0, 'it reads again');
  await loopTurns(16);
  await publishNumbers(publisher, 201, 201);
  await until(() => slow.seen.at(-1) === 201, 'the last one comes');
  expect(slow.seen.length).toBeLessThan(20);
  expect(missedBy(slow)).toBe(201 - slow.seen.length);
  expect(slow.seen).toEqual([...new Set(slow.seen)].sort((a = 0, b = 0) => a - b));
});

/** So few permits that every event has to wait, and a flow that pauses only when none is left. */
const TWO_PERMITS = { max: 2, pauseThresholdPercent: 100, resumeThresholdPercent: 0 };

test('[JOBQ-005] waiting for permits loses nothing: an event under way keeps its place, also between two handlers', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const others: (number | undefined)[] = [];
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher], {
    host: { permits: TWO_PERMITS },
    with: (host) => host.channel(CHANNEL).addHandler(News, ({ seq }) => void others.push(seq)),
  });
  const { permits } = subscriber.host.parts;
  await publisher.client.ready(CHANNEL, 1);
  for (let taken = 0; taken < 2; taken++) expect(permits.tryAcquire()).toBe(true);
  await publishNumbers(publisher, 1, 100);
  await loopTurns(8);
  expect([subscriber.seen, others]).toEqual([[], []]);
  permits.release();
  permits.release();
  await until(() => others.length === 100, 'all are handled');
  expect([subscriber.seen, others]).toEqual([range(1, 100), range(1, 100)]);
});

test('[JOBQ-004] no event becomes a job without a permit, however many handlers it has', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const gate = new Gate();
  const seen: string[] = [];
  const { host } = await startSubscriber(cluster, 'subscriber', [publisher], {
    host: { permits: { max: 3 } },
    handler: () => gate.opened,
    with: (described) => {
      for (const name of ['a', 'b', 'c']) described.channel(CHANNEL).addHandler(News, () => void seen.push(name));
    },
  });
  await publisher.client.ready(CHANNEL, 1);
  // 256 handlers of the first rank wait at the gate; the events behind them are queued, each with a permit.
  await publishNumbers(publisher, 1, 300);
  await loopTurns(16);
  expect(host.counters(CHANNEL)).toMatchObject({ running: 256, queued: 3 });
  expect(host.parts.permits.inUse).toBe(3);
  gate.open();
  await until(() => host.counters(CHANNEL).handled === 1_200, 'all are handled');
  expect(host.parts.permits.inUse).toBe(0);
});

test('[CORE-016] while the flow is PAUSED no subscription reads; it goes on with RUNNING', async () => {
  const cluster = arrangeCluster();
  const publishers = [await startPublisher(cluster, 'a'), await startPublisher(cluster, 'b')];
  const subscriber = await startSubscriber(cluster, 'subscriber', publishers, { host: { permits: { max: 10 } } });
  const { permits } = subscriber.host.parts;
  for (const publisher of publishers) await publisher.client.ready(CHANNEL, 1);
  for (let taken = 0; taken < 8; taken++) expect(permits.tryAcquire()).toBe(true); // PAUSED, two are left
  for (const publisher of publishers) await publishNumbers(publisher, 1, 5);
  await loopTurns(8);
  expect(subscriber.seen).toEqual([]);
  for (let taken = 0; taken < 8; taken++) permits.release();
  await seenAll(subscriber, 10);
});

test('[FAN-004] what came before the first event is no loss, and nothing is lost between two runs of a publisher', async () => {
  const cluster = arrangeCluster();
  const raw = await RawPublisher.bind(cluster);
  const subscriber = await startSubscriber(cluster, 'subscriber', [raw.endpoint]);
  await raw.subscribed();
  raw.send(frameOf(1_000, ['{"seq":1}', '{"seq":2}']));
  raw.send(frameOf(1_005, ['{"seq":3}']));
  await loopTurns(4);
  expect(statusOf(subscriber)).toMatchObject([{ missedEvents: 3, firstEvent: 1_000 }]);
  raw.send(frameOf(7, ['{"seq":4}'], { generation: 8n }));
  await loopTurns(4);
  expect(statusOf(subscriber)).toMatchObject([{ missedEvents: 3, firstEvent: 7 }]);
  expect(subscriber.seen).toEqual([1, 2, 3, 4]);
});

test('[FAN-004] a cut connection costs the events of that time, and they are counted', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const subscriber = await startSubscriber(cluster, 'subscriber', [publisher]);
  await publisher.client.ready(CHANNEL, 1);
  await publishNumbers(publisher, 1, 10);
  await seenAll(subscriber, 10);
  cluster.network.cut(endpointOf(publisher));
  await loopTurns(4);
  await publishNumbers(publisher, 11, 15);
  await cluster.passing(publisher.client.ready(CHANNEL, 1));
  await publishNumbers(publisher, 16, 20);
  await seenAll(subscriber, 15);
  expect(subscriber.seen).toEqual([...range(1, 10), ...range(16, 20)]);
  expect(missedBy(subscriber)).toBe(5);
});

test('[FAN-004] for any part of the events that comes, seen and missed are all since the first one', () => {
  const published = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 60 }), { maxLength: 4 });
  fc.assert(
    fc.property(published, (runs) => {
      const sequence = new EventSequence();
      let expectedMissed = 0;
      for (const [run, arrivals] of runs.entries()) {
        const came = arrivals.flatMap((comes, at) => (comes ? [at + 1] : []));
        for (const number of came) expect(sequence.take(BigInt(run + 1), number)).toBe(true);
        const [first, last] = [came[0], came.at(-1)];
        if (first === undefined || last === undefined) continue;
        expectedMissed += last - first + 1 - came.length;
        expect(sequence.firstEvent).toBe(first);
      }
      expect(sequence.missedEvents).toBe(expectedMissed);
    }),
  );
});

test('[FAN-004] a number that does not rise is none, and any claim of a publisher leaves a count that can be read', () => {
  fc.assert(
    fc.property(fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 50 }), (numbers) => {
      const sequence = new EventSequence();
      let last = -1;
      for (const number of numbers) {
        expect(sequence.take(1n, number)).toBe(number > last);
        last = Math.max(last, number);
        expect(Number.isSafeInteger(sequence.missedEvents)).toBe(true);
      }
      for (let run = 2n; run < 5n; run++) {
        sequence.take(run, 1);
        sequence.take(run, Number.MAX_SAFE_INTEGER);
      }
      expect(sequence.missedEvents).toBe(Number.MAX_SAFE_INTEGER);
    }),
  );
});

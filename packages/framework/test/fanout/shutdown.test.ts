import { loopTurns, until } from '@zlink/testing';
import { Gate, isFree, quietPort } from '@zlink/testing/internal';
import { makeHost } from '../hosts.ts';
import { rejection, watch } from '../outcome.ts';
import {
  endpointOf,
  Item,
  NEWS,
  publish,
  range,
  startPair,
  startPublisher,
  startSubscriber,
  Subscriber,
} from './fanout-hosts.ts';

const stopped = { outcome: 'stopped', reason: 'none' };

test('[DRAIN-002] a subscriber that ends lets accepted events end, and takes no new ones', async () => {
  const gate = new Gate();
  const { publisher, subscriber } = await startPair({ handle: () => gate.opened });
  await publish(publisher, 1, 10);
  await until(() => subscriber.counters.running === 10, 'they are being handled');
  const down = watch(subscriber.host.shutdown());
  await publish(publisher, 11, 20);
  const replacement = await startSubscriber([publisher]);
  await replacement.ready(1); // the number of subscribers may still be that of before
  await publish(publisher, 21, 21);
  await replacement.reaches(21);
  await loopTurns(10);
  expect([down.state, subscriber.counters.accepted]).toEqual(['pending', 10]);
  gate.open();
  await until(() => down.state === 'resolved', 'it has ended');
  expect([down.value, subscriber.numbers]).toEqual([stopped, range(1, 10)]);
});

test('[DRAIN-002] what was published before the end still reaches subscribers, and the port is free', async () => {
  const port = await quietPort();
  const publisher = await startPublisher({ port });
  const subscriber = await startSubscriber([publisher]);
  await publisher.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 1_000);
  expect(await publisher.shutdown()).toEqual(stopped);
  await subscriber.sees(1_000);
  expect(subscriber.numbers).toEqual(range(1, 1_000));
  expect([await isFree(port), publisher.query.listeners()]).toEqual([true, []]);
});

test('[DRAIN-002] while a host drains its handlers may publish with their signal, and nothing else may', async () => {
  const gate = new Gate();
  const publisher = await startPublisher();
  const relay = await startSubscriber([publisher], {
    with: (channel) => void channel.enablePublisher(),
    handle: async ({ seq }, { signal }) => {
      await gate.opened;
      await relay.host.fanoutClient.publish(NEWS, Item({ seq: seq + 100 })).submit(signal);
    },
  });
  await publisher.fanoutClient.ready(NEWS, 1);
  const last = await startSubscriber([relay.host]);
  await relay.host.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 2);
  await until(() => relay.counters.running === 2, 'they are being handled');
  const down = relay.host.shutdown();
  const own = relay.host.fanoutClient.publish(NEWS, Item({ seq: 0 }));
  expect((await rejection(own.submit())).kind).toBe('ShuttingDown');
  gate.open();
  expect(await down).toEqual(stopped);
  await last.sees(2);
  expect(last.numbers).toEqual([101, 102]);
});

test('[CALL-005] waiting for subscribers ends with the host', async () => {
  const publisher = await startPublisher();
  const waiting = rejection(publisher.fanoutClient.ready(NEWS, 1));
  await publisher.shutdown();
  expect((await waiting).kind).toBe('ShuttingDown');
});

test('[DRAIN-006] a handler that never ends is told at the deadline, and its host ends', async () => {
  const { publisher, subscriber } = await startPair({
    handle: (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('told')), { once: true })),
  });
  await publish(publisher, 1, 1);
  await until(() => subscriber.counters.running === 1, 'it runs');
  expect(await subscriber.host.shutdown({ deadlineMs: 50 })).toEqual({
    outcome: 'forceStopped',
    reason: 'deadlineExceeded',
  });
  expect(subscriber.counters).toMatchObject({ accepted: 1, running: 0 });
});

test('[HOST-004] services publish before the host serves, and its subscriber hears nothing before', async () => {
  const publisher = await startPublisher();
  const subscriber = new Subscriber(makeHost(), [publisher], {});
  const gate = new Gate();
  const published: unknown[] = [];
  subscriber.host.addHostedService({ start: () => gate.opened, stop: () => Promise.resolve() });
  const starting = subscriber.host.start();
  const own = makeHost();
  own.addFanoutChannel(NEWS).enablePublisher();
  own.addHostedService({
    start: async () => void published.push(await own.fanoutClient.publish(NEWS, Item({ seq: 1 })).submit()),
    stop: () => Promise.resolve(),
  });
  await own.start();
  expect(published).toEqual([undefined]);
  expect(subscriber.publishers).toEqual([{ endpoint: endpointOf(publisher), state: 'closed', missedEvents: 0 }]);
  gate.open();
  await starting;
  await publisher.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 1);
  await subscriber.sees(1);
});

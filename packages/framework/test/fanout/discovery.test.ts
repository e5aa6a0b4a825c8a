import type { Host, HostOptions, LocationStore } from '@zlink/framework';
import { until } from '@zlink/testing';
import { Gate } from '@zlink/testing/internal';
import { Space, watchedStore } from '../location/stores.ts';
import { problems } from '../outcome.ts';
import { endpointOf, Item, NEWS, publish, range, Subscriber, type SubscriberSetup } from './fanout-hosts.ts';

/** A publisher that others of the space find; not started. */
function makePublisher(space: Space, options: HostOptions = {}, store?: LocationStore): Host {
  const host = space.host(options, store);
  host.addFanoutChannel(NEWS).enablePublisher();
  return host;
}

async function startPublisher(space: Space): Promise<Host> {
  const host = makePublisher(space);
  await host.start();
  return host;
}

async function startFinding(space: Space, setup: SubscriberSetup = {}): Promise<Subscriber> {
  const subscriber = new Subscriber(space.host(setup.options), undefined, setup);
  await subscriber.host.start();
  return subscriber;
}

test('[FAN-005] a subscriber finds publishers that start before it and after it, each over a connection of its own', async () => {
  const space = new Space();
  const first = await startPublisher(space);
  const subscriber = await startFinding(space);
  await first.fanoutClient.ready(NEWS, 1);
  const second = await startPublisher(space);
  await second.fanoutClient.ready(NEWS, 1);
  await publish(first, 1, 2);
  await publish(second, 3, 4);
  await subscriber.sees(4);
  expect([...subscriber.numbers].sort()).toEqual(range(1, 4));
  for (const { routingId, ...row } of subscriber.publishers) {
    expect(routingId).toMatch(/^publisher-[0-9a-f-]{36}$/);
    expect(row).toEqual({ endpoint: row.endpoint, state: 'ready', missedEvents: 0, firstEvent: 1 });
  }
  const endpoints = subscriber.publishers.map(({ endpoint }) => endpoint);
  expect(endpoints.sort()).toEqual([endpointOf(first), endpointOf(second)].sort());
});

test('[FAN-001] the prefix and the fixed RID of a publisher are what others see of it', async () => {
  const space = new Space();
  const [prefixed, fixed] = [space.host(), space.host()];
  prefixed.addFanoutChannel(NEWS).enablePublisher().setRoutingIdPrefix('desk');
  fixed.addFanoutChannel(NEWS).enablePublisher().routingId('bureau-1');
  await Promise.all([prefixed.start(), fixed.start()]);
  const subscriber = await startFinding(space);
  await subscriber.ready(2);
  const rids = subscriber.publishers.map(({ routingId }) => routingId).sort();
  expect(rids).toEqual(['bureau-1', expect.stringMatching(/^desk-[0-9a-f]{8}-/)]);
});

test('[FAN-005] a subscriber follows a publisher that restarts under its RID, at another address', async () => {
  const space = new Space();
  const start = async (): Promise<Host> => {
    const host = space.host();
    host.addFanoutChannel(NEWS).enablePublisher().routingId('desk-1');
    await host.start();
    return host;
  };
  const before = await start();
  const subscriber = await startFinding(space);
  await before.fanoutClient.ready(NEWS, 1);
  await publish(before, 1, 10);
  await subscriber.reaches(10);
  await before.shutdown();
  const after = await start();
  await after.fanoutClient.ready(NEWS, 1);
  await publish(after, 11, 20);
  await subscriber.reaches(20);
  expect(subscriber.numbers).toEqual(range(1, 20));
  expect(subscriber.publishers).toMatchObject([
    { endpoint: endpointOf(after), routingId: 'desk-1', state: 'ready', missedEvents: 0, firstEvent: 1 },
  ]);
});

test('[FAN-005] a publisher that drains is not found any more, and what its handlers still publish is heard', async () => {
  const space = new Space();
  const gate = new Gate();
  const feed = await startPublisher(space);
  const relay = space.host();
  relay.addFanoutChannel('relayed').enablePublisher().setRoutingIdPrefix('relay');
  relay
    .addFanoutChannel(NEWS)
    .enableSubscriber()
    .addHandler(Item, async ({ seq }, { signal }) => {
      await gate.opened;
      await relay.fanoutClient.publish('relayed', Item({ seq: seq + 100 })).submit(signal);
    });
  await relay.start();
  await feed.fanoutClient.ready(NEWS, 1);
  const heard: number[] = [];
  const listenTo = async (): Promise<Host> => {
    const host = space.host();
    host
      .addFanoutChannel('relayed')
      .enableSubscriber()
      .addHandler(Item, ({ seq }) => void heard.push(seq));
    await host.start();
    return host;
  };
  const other = space.host();
  other.addFanoutChannel('relayed').enablePublisher();
  await other.start();
  const ready = (host: Host): unknown[] =>
    host
      .fanoutChannel('relayed')
      .publishers()
      .filter(({ state }) => state === 'ready')
      .map(({ endpoint }) => endpoint);
  const early = await listenTo();
  await until(() => ready(early).length === 2, 'both are heard');
  const relayed = relay.fanoutChannel('relayed').endpoint;
  const row = () =>
    early
      .fanoutChannel('relayed')
      .publishers()
      .find(({ endpoint }) => endpoint === relayed);
  await publish(feed, 1, 1);
  await until(() => relay.query.counters()[0]?.running === 1, 'it is being handled');
  const down = relay.shutdown();
  await until(() => row()?.reason === 'draining', 'the drain is seen');
  expect(row()?.state).toBe('ready');
  const late = await listenTo();
  await until(() => ready(late).length > 0, 'the other one is heard');
  expect(ready(late)).toEqual([other.fanoutChannel('relayed').endpoint]);
  gate.open();
  expect(await down).toEqual({ outcome: 'stopped', reason: 'none' });
  await until(() => heard.length === 1, 'the relayed event is heard');
  expect(heard).toEqual([101]);
  await until(() => row() === undefined, 'it is gone');
});

test('[FAN-005] a store that is away keeps subscriptions, and costs no event', async () => {
  const space = new Space();
  const publisher = await startPublisher(space);
  const store = space.store();
  const subscriber = new Subscriber(space.host({}, store), undefined, {});
  await subscriber.host.start();
  await publisher.fanoutClient.ready(NEWS, 1);
  await publish(publisher, 1, 10);
  await subscriber.reaches(10);
  store.inject({ kind: 'fail' });
  await publish(publisher, 11, 20);
  await subscriber.reaches(20);
  const newcomer = await startPublisher(space);
  const { read } = store.calls;
  await until(() => store.calls.read > read + 2, 'it is asked in vain');
  expect(subscriber.publishers).toMatchObject([{ endpoint: endpointOf(publisher), state: 'ready', missedEvents: 0 }]);
  store.heal();
  await newcomer.fanoutClient.ready(NEWS, 1);
  await publish(newcomer, 21, 21);
  await subscriber.reaches(21);
  expect(subscriber.numbers).toEqual(range(1, 21));
});

test('[FAN-005] a channel of another name, and a server or node of that name, are no publishers', async () => {
  const space = new Space();
  const other = space.host();
  other.addFanoutChannel('other').enablePublisher();
  const server = space.host();
  server
    .addClientServerChannel(NEWS)
    .server()
    .addSendHandler(Item, () => undefined);
  const node = space.host();
  node.addRouteMesh(NEWS);
  await Promise.all([other, server, node].map((host) => host.start()));
  const subscriber = await startFinding(space);
  const publisher = await startPublisher(space);
  await publisher.fanoutClient.ready(NEWS, 1);
  expect(subscriber.publishers.map(({ endpoint }) => endpoint)).toEqual([endpointOf(publisher)]);
});

test('[DRAIN-002] [HOST-002] a publisher is published before it serves, told to drain first and removed last', async () => {
  const space = new Space();
  const events: string[] = [];
  const publisher = makePublisher(
    space,
    {},
    watchedStore(space.store(), (event) => void events.push(event)),
  );
  publisher.addHostedService({
    start: async () => void events.push('service starts'),
    stop: async () => void events.push('service stops'),
  });
  await publisher.start();
  await publisher.shutdown();
  expect(events.filter((event) => event !== 'renew')).toEqual([
    'open',
    'lease',
    'publish starting',
    'service starts',
    'publish serving',
    'publish draining',
    'service stops',
    'remove',
    'release',
    'dispose',
  ]);
  expect(await space.traces()).toEqual([]);
});

test('[FAN-001] a subscriber with endpoints of its own finds nobody, though there is a store; both at once is a mistake', async () => {
  const space = new Space();
  const given = await startPublisher(space);
  await startPublisher(space);
  const subscriber = new Subscriber(space.host(), [given], {});
  await subscriber.host.start();
  await subscriber.ready(1);
  await (await startFinding(space)).ready(2);
  expect(subscriber.publishers.map(({ endpoint }) => endpoint)).toEqual([endpointOf(given)]);
  const both = new Subscriber(space.host(), [given], { with: (channel) => void channel.enableSubscriber() });
  expect(await problems(both.host.start())).toEqual([expect.stringMatching(/exclude each other/)]);
});

test('[HOSTREG-004] what is found by itself is not steered by hand', async () => {
  const { host } = await startFinding(new Space());
  const { connections } = host.fanoutChannel(NEWS);
  expect(() => connections.connect('tcp://127.0.0.1:1')).toThrow('[InvalidOperation]');
  expect(() => connections.disconnect('tcp://127.0.0.1:1')).toThrow('[InvalidOperation]');
  expect(connections.list()).toEqual([]);
});

import { builderOf, FanoutChannel } from '@zlink/fanout';
import { ConfigurationError, Problems } from '@zlink/kernel/errors';
import { loopTurns } from '@zlink/testing';
import { Board, rejection } from '@zlink/testing/internal';
import { CHANNEL, endpointOf, startPublisher, startSubscriber } from './arrange.ts';
import { arrangeCluster, type Cluster } from './cluster.ts';
import { Alert, Ask, News } from './packets.ts';
import type { TestHost } from './test-host.ts';

type Channel = ReturnType<TestHost['channel']>;

/** The mistakes that a start reports, none of which may have bound anything. */
async function mistakes(describe: (channel: Channel) => unknown, hasStore = false): Promise<readonly string[]> {
  const cluster = arrangeCluster();
  const host = cluster.host('host', hasStore ? { discovery: new Board<'fanout'>().discovery(cluster.clock) } : {});
  describe(host.channel(CHANNEL));
  return mistakesOf(cluster, host);
}

async function mistakesOf(cluster: Cluster, host: TestHost): Promise<readonly string[]> {
  const problems = await host.start().then(
    () => [],
    (error: unknown) => (error instanceof ConfigurationError ? error.problems : [String(error)]),
  );
  expect(cluster.network.openConnections).toBe(0);
  expect(host.listeners()).toEqual([]);
  return problems;
}

const handler = (): void => undefined;
const WHERE = 'fanout channel "news"';

test('[FAN-001] discovery and endpoints given by hand exclude each other', async () => {
  const both = (channel: Channel): unknown =>
    channel.enableSubscriber().connect('tcp://127.0.0.1:7100').addHandler(News, handler);
  expect(await mistakes(both, true)).toEqual([
    `${WHERE} subscriber: enableSubscriber() and connect(endpoint) exclude each other: publishers are found or given`,
  ]);
});

test('[LOC-002] an automatic subscriber, and an allocated RID, need a Location Store', async () => {
  expect(await mistakes((channel) => channel.enableSubscriber().addHandler(News, handler))).toEqual([
    expect.stringContaining('enableSubscriber() needs a location store'),
  ]);
  expect(await mistakes((channel) => channel.enablePublisher().setRoutingIdPrefix('p'))).toEqual([
    expect.stringContaining('routingIdPrefix needs a location store'),
  ]);
});

test('[HOSTREG-006] a subscriber without handlers, handlers without subscriber, and a handler of a request', async () => {
  const endpoint = 'tcp://127.0.0.1:7100';
  expect(await mistakes((channel) => channel.connect(endpoint))).toEqual([
    `${WHERE} subscriber: no handler is registered, call addHandler`,
  ]);
  expect(await mistakes((channel) => channel.enablePublisher().addHandler(News, handler))).toEqual([
    `${WHERE}: there is no subscriber for its handlers, call enableSubscriber() or connect(endpoint)`,
  ]);
  expect(await mistakes((channel) => channel.connect(endpoint).addHandler(Ask as never, handler))).toEqual([
    `${WHERE}: handler of packet "news.ask": the packet is a request, and nobody answers an event`,
  ]);
});

test('[DISP-002] the same handler twice is a mistake, another one is not', async () => {
  const other = (): void => undefined;
  const twice = (channel: Channel): unknown =>
    channel
      .connect('tcp://127.0.0.1:7100')
      .addHandler(News, handler)
      .addHandler(News, other)
      .addHandler(Alert, handler)
      .addHandler(News, handler);
  expect(await mistakes(twice)).toEqual([`${WHERE}: the same handler of packet "news.item" is registered twice`]);
});

test('[DISP-002] what is no packet, and what is no handler, is reported with everything else', async () => {
  const wrong = (channel: Channel): unknown =>
    channel
      .connect('tcp://127.0.0.1:7100')
      .addHandler('news.item' as never, handler)
      .addHandler(News, 7 as never)
      .addHandler(undefined as never, handler);
  expect(await mistakes(wrong)).toEqual([
    expect.stringContaining('"news.item" is a name, declare it'),
    expect.stringContaining('7 is neither a function nor a class'),
    expect.stringContaining('undefined is neither a declaration'),
  ]);
});

test('[HOSTREG-002] a role asked for twice, and a channel without any', async () => {
  expect(await mistakes((channel) => channel.enablePublisher().enablePublisher(7_100))).toEqual([
    `${WHERE}: the publisher role is registered twice`,
  ]);
  const subscriber = (channel: Channel): unknown =>
    channel.enableSubscriber().enableSubscriber().addHandler(News, handler);
  expect(await mistakes(subscriber, true)).toEqual([`${WHERE}: the subscriber role is registered twice`]);
  expect(await mistakes(() => undefined)).toEqual([expect.stringContaining('it neither publishes nor subscribes')]);
});

test.each<[string, (channel: Channel) => unknown, string]>([
  ['port below 0', (c) => c.enablePublisher(-1), 'publisher port'],
  ['port above 65,535', (c) => c.enablePublisher(65_536), 'publisher port'],
  ['malformed endpoint', (c) => c.enablePublisher('localhost:7100'), 'publisher endpoint'],
  ['two hosts', (c) => c.enablePublisher('tcp://127.0.0.1:0').setBindHost('127.0.0.1'), 'both name a host'],
  ['malformed bind host', (c) => c.enablePublisher().setBindHost('a b'), 'bindHost'],
  ['malformed advertise host', (c) => c.enablePublisher().setAdvertiseHost('*'), 'advertiseHost'],
  ['wildcard without advertise host', (c) => c.enablePublisher('tcp://*:7100'), 'needs an advertiseHost'],
  ['empty RID', (c) => c.enablePublisher().routingId(''), 'routingId'],
  ['long RID', (c) => c.enablePublisher().routingId('x'.repeat(256)), 'routingId'],
  ['malformed prefix', (c) => c.enablePublisher().setRoutingIdPrefix('a b'), 'routingIdPrefix'],
  ['RID and prefix', (c) => c.enablePublisher().routingId('a').setRoutingIdPrefix('a'), 'are both set'],
  [
    'RID without publisher',
    (c) => c.routingId('a').enableSubscriber().addHandler(News, handler),
    'there is no publisher',
  ],
])('[HOSTREG-003] %s', async (_, describe, problem) => {
  const problems = await mistakes(describe, true);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(problem);
});

test.each(['tcp://*:7100', 'tcp://127.0.0.1:0', '127.0.0.1:7100', 'tcp://a b:1', ''])(
  '[HOSTREG-003] connect(%j)',
  async (endpoint) => {
    const problems = await mistakes((channel) => channel.connect(endpoint).addHandler(News, handler));
    expect(problems).toEqual([expect.stringContaining('subscriber connect')]);
  },
);

test('[HOSTREG-003] a host that cannot dial cannot subscribe', () => {
  const problems = new Problems();
  const channel = new FanoutChannel(CHANNEL, () => undefined);
  builderOf(channel).connect('tcp://127.0.0.1:7100').addHandler(News, handler);
  const defaults = { bindHost: '127.0.0.1', advertiseHost: undefined, services: undefined, hasLocationStore: false };
  channel.validate({ ...defaults, problems, dialProblem: 'security has no serverPublicKey' });
  expect(() => problems.throwIfAny()).toThrow(`${WHERE} subscriber: security has no serverPublicKey`);
});

test('[HOSTREG-003] a channel needs a name', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('host');
  host.channel('').enablePublisher();
  expect(await mistakesOf(cluster, host)).toEqual([expect.stringContaining('channel name')]);
});

test('[DISP-009] a class with dependencies needs services, and two mistakes come together', async () => {
  class Dependency {}
  class Reader {
    static readonly inject = [Dependency];
    handle(): void {}
  }
  const problems = await mistakes((channel) =>
    channel.enablePublisher(-1).connect('tcp://127.0.0.1:7100').addHandler(News, Reader),
  );
  expect(problems).toHaveLength(2);
  expect(problems.join()).toContain('the host has no services');
});

test('[HOSTREG-004] a started channel is described no further', async () => {
  const cluster = arrangeCluster();
  const host = await startPublisher(cluster, 'publisher');
  const channel = host.channel(CHANNEL);
  const late: (() => unknown)[] = [
    () => channel.enablePublisher(),
    () => channel.setBindHost('a'),
    () => channel.setAdvertiseHost('a'),
    () => channel.routingId('a'),
    () => channel.setRoutingIdPrefix('a'),
    () => channel.enableSubscriber(),
    () => channel.connect('tcp://127.0.0.1:7100'),
    () => channel.addHandler(News, handler),
  ];
  for (const attempt of late) expect(attempt).toThrow('[InvalidOperation]');
});

test('[HOSTREG-005] applications reach nothing of a channel but what it shows', async () => {
  const host = await startPublisher(arrangeCluster(), 'publisher');
  const [builder, runtime] = [host.channel(CHANNEL), host.runtime(CHANNEL)];
  expect(Object.isFrozen(builder)).toBe(true);
  expect(Object.keys(builder)).toEqual([]);
  expect(Object.keys(runtime).sort()).toEqual(['channelName', 'connections', 'endpoint', 'publishers']);
  expect(Object.isFrozen(runtime) && Object.isFrozen(runtime.connections)).toBe(true);
});

test('[FAN-001] one process publishes and subscribes; its own publisher is connected to like any other', async () => {
  const cluster = arrangeCluster();
  const host = cluster.host('both');
  const seen: unknown[] = [];
  host.channel(CHANNEL).enablePublisher(7_100).connect('tcp://127.0.0.1:7100');
  host.channel(CHANNEL).addHandler(News, ({ seq }) => void seen.push(seq));
  await host.start();
  await host.client.ready(CHANNEL, 1);
  await host.client.publish(CHANNEL, News({ seq: 1 })).submit();
  await loopTurns(8);
  expect(seen).toEqual([1]);
  expect(cluster.network.openConnections).toBe(1);
});

test('[NET-002] the publisher is a listener with its real port; a host may be named for others', async () => {
  const cluster = arrangeCluster();
  const publisher = cluster.host('publisher');
  publisher.channel(CHANNEL).enablePublisher('tcp://*:0').setAdvertiseHost('news-1');
  expect(publisher.runtime(CHANNEL).endpoint).toBeUndefined();
  await publisher.start();
  const endpoint = endpointOf(publisher);
  expect(endpoint).toMatch(/^tcp:\/\/news-1:[1-9]\d+$/);
  const [listener, ...others] = publisher.listeners();
  expect(listener).toMatchObject({ kind: 'FANOUT', name: CHANNEL, endpoint });
  expect(listener?.since).toBeInstanceOf(Date);
  expect(others).toEqual([]);
});

test('[FAN-001] an address that is taken fails the start by name', async () => {
  const cluster = arrangeCluster();
  await startPublisher(cluster, 'first', { port: 7_100 });
  const error = await rejection(startPublisher(cluster, 'second', { port: 7_100 }));
  expect(error.message).toContain(`${WHERE} publisher: `);
});

test('[FAN-001] a subscriber alone listens nowhere, a publisher alone counts nothing', async () => {
  const cluster = arrangeCluster();
  const publisher = await startPublisher(cluster, 'publisher');
  const { host } = await startSubscriber(cluster, 'subscriber', [publisher]);
  expect(host.listeners()).toEqual([]);
  expect(host.runtime(CHANNEL).endpoint).toBeUndefined();
  expect(() => publisher.counters(CHANNEL)).toThrow('counts no send'); // MON-007
  expect(publisher.runtime(CHANNEL).publishers()).toEqual([]);
});

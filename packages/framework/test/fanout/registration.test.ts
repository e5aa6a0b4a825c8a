import { createHost, type Host, message } from '@zlink/framework';
import { makeHost } from '../hosts.ts';
import { problems, rejection } from '../outcome.ts';
import { Ask, Charge, MESH, Notice } from '../packets.ts';
import { occupyPort, type OccupiedPort } from '../ports.ts';
import { endpointOf, Item, NEWS, startPublisher, startSubscriber } from './fanout-hosts.ts';

let taken: OccupiedPort;
beforeAll(async () => {
  taken = await occupyPort();
});
afterAll(() => taken.release());

/** The mistakes of a host that would fail to bind, should it ever try to. */
async function problemsOf(describe: (host: Host) => void): Promise<readonly string[]> {
  const host = makeHost();
  host.addFanoutChannel('doomed').enablePublisher(taken.port);
  describe(host);
  const found = await problems(host.start());
  expect([host.state, host.query.listeners()]).toEqual(['error', []]);
  return found;
}

test('[FAN-001] a fanout channel has a listener of its own beside mesh and servers, and no part of either', async () => {
  const host = makeHost();
  host.addRouteMesh(MESH);
  host
    .addClientServerChannel('billing')
    .server()
    .addRequestHandler(Charge, () => ({ receipt: '' }));
  host.addFanoutChannel(NEWS).enablePublisher();
  await host.start();
  const listeners = host.query.listeners().map(({ kind, name }) => `${kind} ${name}`);
  expect(listeners).toEqual([`ROUTE_MESH ${MESH}`, 'CLIENT_SERVER billing', `FANOUT ${NEWS}`]);
  expect(host.query.listeners()[2]?.endpoint).toBe(endpointOf(host));
  expect(endpointOf(host)).toMatch(/^tcp:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(host.routeMesh(MESH).peers.list()).toEqual([]);
  expect(host.query.counters().map(({ owner }) => owner)).not.toContain(NEWS); // publishing leaves no count
});

test('[FAN-001] one channel publishes and subscribes, also to itself', async () => {
  const publisher = await startPublisher();
  const both = await startSubscriber([publisher], { with: (channel) => void channel.enablePublisher() });
  await publisher.fanoutClient.ready(NEWS, 1);
  both.host.fanoutChannel(NEWS).connections.connect(endpointOf(both.host));
  await both.host.fanoutClient.ready(NEWS, 1);
  await publisher.fanoutClient.publish(NEWS, Item({ seq: 1 })).submit();
  await both.host.fanoutClient.publish(NEWS, Item({ seq: 2 })).submit();
  await both.sees(2);
  expect([...both.numbers].sort()).toEqual([1, 2]);
});

test('[HOSTREG-002] one ChannelName leads to one path, whatever its roles: fanout excludes servers and meshes', async () => {
  const found = await problemsOf((host) => {
    host.addClientServerChannel('served').client().connect('tcp://127.0.0.1:1');
    host.addFanoutChannel('served').enablePublisher();
    host.addRouteMesh(MESH).channel('meshed').client();
    host
      .addFanoutChannel('meshed')
      .connect('tcp://127.0.0.1:1')
      .addHandler(Item, () => undefined);
  });
  expect(found).toEqual([
    'channel "served": it is registered as a ClientServer channel and as a fanout channel; a ChannelName leads to one path',
    `channel "meshed": it is registered as a fanout channel and in mesh "${MESH}"; a ChannelName leads to one path`,
  ]);
});

test('[HOSTREG-002] a channel that is registered twice is one, and a role of it that is asked for twice a mistake', async () => {
  const found = await problemsOf((host) => {
    host.addFanoutChannel(NEWS).enablePublisher();
    host.addFanoutChannel(NEWS).enablePublisher();
  });
  expect(found).toEqual([`fanout channel "${NEWS}": the publisher role is registered twice`]);
});

test('[FAN-001] found and given publishers exclude each other, and finding needs a store', async () => {
  const found = await problemsOf((host) => {
    host
      .addFanoutChannel(NEWS)
      .enableSubscriber()
      .connect('tcp://127.0.0.1:1')
      .addHandler(Item, () => undefined);
  });
  expect(found).toEqual([
    expect.stringMatching(/enableSubscriber\(\) and connect\(endpoint\) exclude each other/),
    expect.stringMatching(/enableSubscriber\(\) needs a location store/),
  ]);
});

test('[HOSTREG-006] a subscriber has a handler, and none for a request', async () => {
  const found = await problemsOf((host) => {
    host.addFanoutChannel('silent').connect('tcp://127.0.0.1:1');
    host
      .addFanoutChannel('asked')
      .connect('tcp://127.0.0.1:1')
      .addHandler(Ask, () => undefined);
  });
  expect(found).toEqual([
    'fanout channel "silent" subscriber: no handler is registered, call addHandler',
    expect.stringMatching(/^fanout channel "asked": .*the packet is a request, and nobody answers an event$/),
  ]);
});

test('[NET-001] a publisher binds and advertises as any listener does', async () => {
  const found = await problemsOf((host) => {
    host.addFanoutChannel('wild').enablePublisher('tcp://0.0.0.0:0');
  });
  expect(found).toEqual([expect.stringMatching(/fanout channel "wild" publisher.*advertise/)]);
  const host = makeHost();
  host.addFanoutChannel(NEWS).enablePublisher().setBindHost('0.0.0.0').setAdvertiseHost('localhost');
  await host.start();
  const subscriber = await startSubscriber([host]);
  await host.fanoutClient.ready(NEWS, 1);
  expect(subscriber.publishers[0]?.endpoint).toMatch(/^tcp:\/\/localhost:\d+$/);
});

test('[HOSTREG-003] a port that is taken is named with its owner, and nothing stays bound', async () => {
  const host = makeHost();
  host.addFanoutChannel(NEWS).enablePublisher(taken.port);
  const error = await rejection(host.start());
  expect(error.kind).toBe('AlreadyExists');
  expect(error.message).toMatch(/fanout channel "news" publisher.*in use/);
  expect([host.state, host.query.listeners()]).toEqual(['error', []]);
});

test('[CHAN-001] each client knows the names of its own kind, and says so of the others', async () => {
  const host = await startPublisher();
  const call = host.routeClient.sendToChannel(NEWS, Notice(1)).submit();
  expect((await rejection(call)).message).toMatch(/^\[NotFound\] .* is a fanout channel, which has publishers/);
  const publish = (name: string) => rejection(host.fanoutClient.publish(name, Item({ seq: 1 })).submit());
  const misspelt = await publish('newz');
  expect(misspelt.kind).toBe('NotFound');
  expect(misspelt.message).toMatch(
    /fanout channel "newz" is not registered .* did you mean "news"\?; registered: "news"/,
  );
  expect(await rejection(host.fanoutClient.ready('newz', 1))).toMatchObject({ kind: 'NotFound' });
  expect(() => host.fanoutChannel('newz')).toThrow(/fanout channel "newz" is not registered/);
});

test('[FAN-001] who only subscribes cannot publish, and who only publishes has no connections to change', async () => {
  const publisher = await startPublisher();
  const { host } = await startSubscriber([publisher]);
  const published = host.fanoutClient.publish(NEWS, Item({ seq: 1 })).submit();
  expect((await rejection(published)).kind).toBe('NotConfigured');
  const { connections } = publisher.fanoutChannel(NEWS);
  expect(() => connections.connect('tcp://127.0.0.1:1')).toThrow('[NotConfigured]');
  expect(publisher.fanoutChannel(NEWS).publishers()).toEqual([]);
});

test('[HOSTREG-004] a channel is described before the start, and published to between start and shutdown', async () => {
  const host = makeHost();
  const channel = host.addFanoutChannel(NEWS).enablePublisher();
  const publish = (): Promise<void> => host.fanoutClient.publish(NEWS, Item({ seq: 1 })).submit();
  expect((await rejection(publish())).kind).toBe('InvalidOperation');
  expect((await rejection(host.fanoutClient.ready(NEWS, 0))).kind).toBe('InvalidOperation');
  expect(host.fanoutChannel(NEWS).endpoint).toBeUndefined();
  await host.start();
  await publish();
  expect(() => channel.enableSubscriber()).toThrow('[InvalidOperation]');
  expect(() => host.addFanoutChannel('more')).toThrow('[InvalidOperation]');
  await host.shutdown();
  expect((await rejection(publish())).kind).toBe('ShuttingDown');
  expect((await rejection(host.fanoutClient.ready(NEWS, 0))).kind).toBe('ShuttingDown');
});

test('[HOSTREG-005] what an application holds of a channel has no stages, before and after the start', async () => {
  const described = createHost().addFanoutChannel(NEWS);
  expect([Reflect.ownKeys(described), Object.isFrozen(described)]).toEqual([[], true]);
  const host = await startPublisher();
  const running = host.fanoutChannel(NEWS);
  expect(Object.keys(running).sort()).toEqual(['channelName', 'connections', 'endpoint', 'publishers']);
  expect(Object.keys(running.connections).sort()).toEqual(['connect', 'disconnect', 'list']);
  expect(Object.keys(host.fanoutClient).sort()).toEqual(['publish', 'ready']);
  const call = host.fanoutClient.publish(NEWS, Item({ seq: 1 }));
  expect(['submit' in call, 'timeoutMs' in call, 'metadata' in call]).toEqual([true, false, false]);
  expect([running, running.connections, host.fanoutClient].map((part) => Object.isFrozen(part))).toEqual(
    Array(3).fill(true),
  );
});

test('[HOSTREG-003] every mistake of every channel is reported at once', async () => {
  const nameless = message<string>('m');
  const found = await problemsOf((host) => {
    host.addFanoutChannel('').enablePublisher();
    host.addFanoutChannel('idle');
    host.addFanoutChannel('ports').enablePublisher(70_000);
    host
      .addFanoutChannel('dials')
      .connect('tcp://*:0')
      .addHandler(nameless, () => undefined);
    host.addFanoutChannel('rids').enablePublisher().setRoutingIdPrefix('has space');
  });
  expect(found.map((text) => /"(idle|ports|dials|rids)"|channel name/.exec(text)?.[0])).toEqual([
    'channel name',
    '"idle"',
    '"ports"',
    '"dials"',
    '"rids"',
    '"rids"',
  ]);
});

import { createHost, type Host, request } from '@zlink/framework';
import { ask, makeHost, startPair } from './hosts.ts';
import { CHANNEL, MESH } from './packets.ts';

test('[HOSTREG-005] what an application holds of a channel has no stages, before and after the start', async () => {
  const described = createHost().addClientServerChannel(CHANNEL);
  expect(Object.keys(described).sort()).toEqual(['client', 'server']);
  const { server } = await startPair({});
  const running = server.clientServerChannel(CHANNEL);
  expect(Object.keys(running).sort()).toEqual(['channelName', 'endpoint', 'servers', 'setWeight', 'whenReady']);
  expect([Object.isFrozen(described), Object.isFrozen(running), running.endpoint]).toEqual([
    true,
    true,
    server.query.listeners()[0]?.endpoint,
  ]);
});

test('[HOSTREG-005] the builders of the roles show nothing of what they collect', () => {
  const channel = createHost().addClientServerChannel(CHANNEL);
  for (const builder of [channel.client(), channel.server()]) {
    expect(Reflect.ownKeys(builder)).toEqual([]);
    expect(Object.isFrozen(builder)).toBe(true);
  }
});

test('[HOSTREG-005] what an application holds of a mesh has no stages and no routes, before and after the start', async () => {
  const host = makeHost();
  const described = host.addRouteMesh(MESH);
  const roles = described.channel(CHANNEL);
  const server = roles.server();
  expect(Object.keys(described).sort()).toEqual(
    [
      ...['listen', 'setBindHost', 'setAdvertiseHost', 'routingId', 'setRoutingIdPrefix', 'channel', 'connect'],
      ...['addRouteSendHandler', 'addRouteRequestHandler', 'setSendTimeoutMs', 'setRequestTimeoutMs', 'concurrency'],
      'setMailboxLimits',
    ].sort(),
  );
  expect(Object.keys(roles).sort()).toEqual(['client', 'server']);
  expect(Object.keys(server).sort()).toEqual(['addRequestHandler', 'addSendHandler', 'concurrency', 'setWeight']);
  await host.start();
  const running = host.routeMesh(MESH);
  const channel = running.channel(CHANNEL);
  expect(Object.keys(running).sort()).toEqual(['channel', 'endpoint', 'meshName', 'peers', 'routingId', 'whenReady']);
  expect(Object.keys(running.peers).sort()).toEqual(['connect', 'disconnect', 'list']);
  expect(Object.keys(channel).sort()).toEqual(['setWeight', 'weight']);
  const parts = [described, roles, server, running, running.peers, channel, running.peers.list()];
  expect(parts.map((part) => [Object.isFrozen(part), Object.getOwnPropertySymbols(part)])).toEqual(
    parts.map(() => [true, []]),
  );
  const shown = parts.map((part) => Object.getPrototypeOf(part) as unknown);
  expect(shown).toEqual([...shown.slice(0, -1).map(() => Object.prototype), Array.prototype]);
});

test('[CODEC-001] codecs can be registered one after the other, and the registry itself is not shown', () => {
  const codecs = createHost().codecs();
  const extension = { register: () => undefined };
  expect(codecs.use(extension).use(extension)).toBe(codecs);
  expect(Object.keys(codecs)).toEqual(['use']);
});

test('[CALL-006] a call has only the methods of its operation', () => {
  const host = createHost();
  const Ask = request<number, number>('ask');
  expect('timeoutMs' in host.routeClient.sendToChannel(CHANNEL, Ask(1))).toBe(false);
  expect(Object.keys(host.routeClient).sort()).toEqual([
    'requestToChannel',
    'requestToNode',
    'sendToChannel',
    'sendToNode',
  ]);
  expect('timeoutMs' in host.routeClient.sendToNode(MESH, 'n', Ask(1))).toBe(false);
});

test('[CS-006] the counters of a host name what its handlers got and, apart, what its clients had not asked for', async () => {
  const { server, client } = await startPair({});
  expect(await ask(client, 1)).toBe(1);
  const rows = (host: Host) => host.query.counters().map(({ owner, verb, accepted }) => [owner, verb, accepted]);
  expect(rows(server)).toEqual([
    [CHANNEL, 'send', 0],
    [CHANNEL, 'request', 1],
  ]);
  expect(rows(client)).toEqual([[CHANNEL, 'stray', 0]]);
});

/** A host that is told to stop, while others find it through Redis. */
import { jest } from '@jest/globals';
import { request } from '@zlink/framework';
import { createRedisLocationStore } from '@zlink/location-redis';
import { type RedisServer, startRedisServer, until } from '@zlink/testing';
import { startChild } from '../child.ts';
import { makeHost } from '../hosts.ts';
import { StoreView } from './store-view.ts';

const Slow = request<number, string>('orders.slow');
jest.setTimeout(120_000);

const POLL_MS = 200;
/** A busy machine is late; without the removal it would be known for 15 s, the life of its lease. */
const SLACK_MS = 9_000;
/** On a busy machine. What holds a process holds it for good, or as long as silence: 15 s. */
const EXIT_WITHIN_MS = 10_000;

let redis: RedisServer;
let view: StoreView;

beforeEach(async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
});

afterEach(async () => {
  await view.close();
  await redis.close();
});

test('[HOST-008] [LOC-055] at SIGTERM a host ends its work, takes its records away, is known to nobody a poll later, and its process is over', async () => {
  const server = startChild('discovered-server.mjs', redis.url, 'game');
  await server.event('ready');
  expect(await view.traces()).toHaveLength(3); // lease, node, server
  const client = makeHost({ location: { pollingIntervalMs: POLL_MS } });
  client.addLocationStore(createRedisLocationStore({ connection: { url: redis.url }, keyPrefix: 'game' }));
  client.addRouteMesh('game');
  client.addClientServerChannel('orders').client();
  await client.start();
  await Promise.all([client.clientServerChannel('orders').whenReady(1), client.routeMesh('game').whenReady(1)]);
  const slow = client.routeClient.requestToChannel('orders', Slow(500)).submit();
  await server.event('asked');

  server.signal('SIGTERM');
  expect(await slow).toBe('finished');
  const down = await server.event('down');
  expect(down).toMatchObject({ result: { outcome: 'stopped', reason: 'none' }, resources: [] });
  expect(await view.traces()).toHaveLength(2); // of the client
  const known = (): number =>
    client.clientServerChannel('orders').servers().length + client.routeMesh('game').peers.list().length;
  await until(() => known() === 0, 'nobody knows it', POLL_MS + SLACK_MS);
  const end = await server.ended;
  expect([end.code, end.signal]).toEqual([0, null]);
  expect(end.atMs - down.atMs).toBeLessThan(EXIT_WITHIN_MS);
  await client.shutdown();
  expect(await view.traces()).toEqual([]);
});

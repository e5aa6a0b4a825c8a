/** What people are told of where a client leads. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { addressOfCluster, addressOfServer } from '../src/server-address.ts';

const tls = {};
const password = 'secret';

test.each<[Omit<RedisOptions, 'replyMapping'>, string]>([
  [{}, 'redis://localhost:6379'],
  [{ host: 'redis.internal', port: 7000, username: 'secret', password }, 'redis://redis.internal:7000'],
  [{ host: 'fd00::7', tls, password }, 'rediss://[fd00::7]:6379'],
  [{ path: '/run/redis.sock', password }, '/run/redis.sock'],
  [
    { sentinels: [{ host: 'one', port: 26379 }, { host: 'two' }], name: 'game', sentinelPassword: password },
    'the primary "game" of the Sentinels one:26379, two',
  ],
])('[REDIS-004] the address of one server names no secret: %j', (options, address) => {
  expect(addressOfServer(new Redis({ ...options, lazyConnect: true }))).toBe(address);
});

test('[REDIS-004] the address in a url names no secret', () => {
  const client = new Redis('rediss://user:secret@redis.internal:7000/3', { lazyConnect: true });
  expect(addressOfServer(client)).toBe('rediss://redis.internal:7000');
});

test('[REDIS-004] the address of a Cluster is that of the nodes that were named, without secrets', () => {
  const nodes = [7_000, { host: 'one', port: 1 }, 'redis://:secret@two:2/0', 'three:3', 'redis://:se cret@'];
  const client = new Cluster(nodes, { lazyConnect: true });
  expect(addressOfCluster(client, nodes)).toBe('the Cluster 127.0.0.1:7000, one:1, two:2, three:3, unreadable');
  expect(addressOfCluster(client, undefined)).toBe('a Cluster'); // as long as the client knows no node
});

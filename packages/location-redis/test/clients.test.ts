/** Own clients, clients of the application, and what a user of Redis has to be allowed. */
import { type AddressInfo, createServer } from 'node:net';
import { inspect } from 'node:util';
import { jest } from '@jest/globals';
import type { LocationStore, RelocationStore } from '@zlink/kernel/location';
import { Cluster, Redis } from 'ioredis';
import { createRedisLocationStore, createRedisRelocationStore, type RedisStoreOptions } from '../src/index.ts';
import { batch, endOf, put } from './batches.ts';
import { type ClusterDeployment, startCluster } from './servers/cluster.ts';
import { eventually, PATIENT_MS } from './servers/eventually.ts';
import { type Standalone, startStandalone } from './servers/standalone.ts';

jest.setTimeout(300_000);

/** As README.md says. */
const permissions =
  '+evalsha +eval +script|load +time +get +set +del +unlink +hmget +hset +hdel +zadd +zrem +zrangebylex +pexpireat +persist +info +ping +wait +cluster|slots +asking';

/** Long enough to learn from a server what is in the way, on a busy machine. */
const TIMEOUT_MS = 4_000;

let redis: Standalone;
let cluster: ClusterDeployment;

beforeAll(async () => {
  [redis, cluster] = await Promise.all([startStandalone(), startCluster()]);
});

afterAll(() => Promise.all([redis.close(), cluster.close()]));

/** Whoever is connected beside the test itself. */
async function clientCount(): Promise<number> {
  return (
    String(await redis.server.admin.client('LIST'))
      .trim()
      .split('\n').length - 1
  );
}

/** A server hears of the end of a connection after the store that has closed it. */
const nobodyIsLeft = () => eventually(async () => (await clientCount()) === 0, 'those of other tests are closed');

const stores = (options: RedisStoreOptions): readonly [LocationStore, RelocationStore] => [
  createRedisLocationStore({ operationTimeoutMs: PATIENT_MS, ...options }),
  createRedisRelocationStore({ operationTimeoutMs: PATIENT_MS, ...options }),
];

/** Every command that the stores ever send. */
async function useEverything(options: RedisStoreOptions): Promise<void> {
  const [location, relocation] = stores(options);
  try {
    await location.open();
    await relocation.open();
    await location.commit(batch([put('a', 'x', 60_000), put('b'), { kind: 'add', counter: 'n', delta: 2 }]));
    await location.commit(batch([put('a'), { kind: 'touch', key: 'b', ttlMs: 60_000 }]));
    await location.commit(
      batch([{ kind: 'delete', key: 'b' }, put('gone', 'x', 1), { kind: 'add', counter: 'n', delta: -2 }]),
    );
    await eventually(async () => (await location.read({ records: ['gone'] })).records[0] === undefined, 'expires');
    expect((await location.scan({ prefix: '', limit: 10 })).items.map(({ key }) => key)).toEqual(['a']);
    expect(await relocation.put('r', Buffer.from('x'), 60_000)).toMatchObject({ kind: 'stored' });
    expect(await relocation.renew('r', 90_000)).toMatchObject({ kind: 'renewed' });
    expect((await relocation.read('r')).bytes).toHaveLength(1);
    await relocation.delete('r');
  } finally {
    await location.dispose();
    await relocation.dispose();
  }
}

test('[REDIS-004] nothing is dialled before open, and one client per store afterwards, until dispose', async () => {
  await nobodyIsLeft();
  const [location, relocation] = stores({ keyPrefix: 'own', connection: redis.connection() });
  expect(await clientCount()).toBe(0);
  await location.open();
  await relocation.open();
  expect(await clientCount()).toBe(2);
  await location.dispose();
  await location.dispose();
  await relocation.dispose();
  await eventually(async () => (await clientCount()) === 0, 'both connections are closed');
  expect(await endOf(location.open())).toBe('unavailable/notApplied');
});

test('[REDIS-004] a store that was never opened, or could not be, can be disposed', async () => {
  const [location, relocation] = stores({
    keyPrefix: 'own',
    connection: { url: 'redis://127.0.0.1:1' },
    operationTimeoutMs: 100,
  });
  expect(await endOf(location.commit(batch([put('a')])))).toBe('unavailable/notApplied');
  expect(await endOf(location.open())).toBe('unavailable/notApplied');
  await location.dispose();
  await relocation.dispose();
});

test('[REDIS-004] two stores on one client of the application: it outlives both', async () => {
  const client = new Redis({ port: redis.server.port, lazyConnect: true });
  const [location, relocation] = stores({ keyPrefix: 'shared', connection: { client } });
  await location.open();
  await relocation.open();
  await location.commit(batch([put('a')]));
  await location.dispose();
  await relocation.dispose();
  expect(await client.ping()).toBe('PONG');
  await client.quit();
});

test('[REDIS-009] blobs use a connection of their own, also beside a client of the application', async () => {
  const client = new Redis({ port: redis.server.port, lazyConnect: true });
  await nobodyIsLeft();
  const [location, relocation] = stores({ keyPrefix: 'lanes', connection: { client } });
  await location.open();
  expect(await clientCount()).toBe(1);
  await relocation.open();
  expect(await clientCount()).toBe(2);
  await relocation.dispose();
  await eventually(async () => (await clientCount()) === 1, 'the connection for blobs is closed');
  await location.dispose();
  await client.quit();
});

test('[REDIS-004] a client that queues and sends again is as good, and its key prefix is kept', async () => {
  const client = new Redis({
    port: redis.server.port,
    keyPrefix: 'tenant:',
    enableAutoPipelining: true,
    stringNumbers: true,
  });
  await useEverything({ keyPrefix: 'odd', connection: { client } });
  expect(await redis.server.admin.exists('tenant:{odd}:L:meta')).toBe(1);
  await client.quit();
});

test('[REDIS-006] a Cluster client of the application serves both stores and outlives them', async () => {
  const nodes = cluster.primaries.map(({ port }) => ({ host: '127.0.0.1', port }));
  const client = new Cluster(nodes, { scaleReads: 'slave' });
  await useEverything({ keyPrefix: 'shared', connection: { client } });
  expect(await client.get('none')).toBeNull();
  await client.quit();
});

test('[REDIS-004] a client that the application has ended makes the store unavailable', async () => {
  const client = new Redis({ port: redis.server.port, lazyConnect: true });
  const store = createRedisLocationStore({ keyPrefix: 'over', connection: { client }, operationTimeoutMs: TIMEOUT_MS });
  await store.open();
  const ended = new Promise((resolve) => client.once('end', resolve));
  await client.quit();
  await ended;
  expect(await endOf(store.read({}))).toBe('unavailable/notApplied');
  await store.dispose();
});

test('[REDIS-011] a user with the documented permissions can do everything, on one server and on a Cluster', async () => {
  for (const { admin } of [redis.server, ...cluster.primaries])
    await admin.call('ACL', ['SETUSER', 'zlink', 'on', '>secret', '~*', ...permissions.split(' ')]);
  const user = { username: 'zlink', password: 'secret' };
  await useEverything({ keyPrefix: 'acl', connection: { port: redis.server.port, ...user } });
  const nodes = cluster.primaries.map(({ port }) => ({ host: '127.0.0.1', port }));
  await useEverything({ keyPrefix: 'acl', connection: { nodes, options: { redisOptions: user } } });

  const [location] = stores({ keyPrefix: 'acl', connection: { port: redis.server.port, ...user }, replicaAcks: 1 });
  await location.open();
  const error: unknown = await location.commit(batch([put('a')])).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: '0 of 1 replicas confirmed the write' }); // WAIT is permitted
  await location.dispose();
});

test('[REDIS-011] in a database other than 0 the permission to select it is enough on top', async () => {
  const { admin, port } = redis.server;
  await admin.call('ACL', ['SETUSER', 'third', 'on', '>secret', '~*', ...permissions.split(' '), '+select']);
  const connection = { url: `redis://third:secret@127.0.0.1:${port}/3` };
  await useEverything({ keyPrefix: 'third', connection });
  const others = new Redis({ port, db: 3 });
  expect(await others.exists('{third}:L:meta')).toBe(1);
  expect(await admin.exists('{third}:L:meta')).toBe(0);
  await others.quit();
});

test.each([
  ['that the server does not have', { db: 99 }, 'incompatible', /^this Redis has no database 99$/],
  [
    'that the user may not select',
    { db: 3, username: 'zero', password: 'secret' },
    'unavailable',
    /cannot be used: NOPERM .* no permissions to run the 'select' command/,
  ],
])(
  '[REDIS-004] a database %s keeps both stores closed, and database 0 as it is',
  async (_what, options, code, text) => {
    const { admin, port } = redis.server;
    await admin.call('ACL', ['SETUSER', 'zero', 'on', '>secret', '~*', ...permissions.split(' ')]);
    const connection = { port, ...options };
    for (const store of stores({ keyPrefix: 'absent', connection, operationTimeoutMs: TIMEOUT_MS })) {
      await expect(store.open()).rejects.toMatchObject({
        code,
        outcome: 'notApplied',
        message: expect.stringMatching(text) as string,
      });
      await store.dispose();
    }
    expect(await admin.exists('{absent}:L:meta')).toBe(0);
  },
);

test('[REDIS-002] the commands that are sent are the documented ones and no others', async () => {
  await redis.server.admin.call('CONFIG', ['RESETSTAT']);
  await useEverything({ keyPrefix: 'stats', connection: redis.connection() });
  const stats = await redis.server.admin.info('commandstats');
  const used = [...stats.matchAll(/cmdstat_([a-z|]+):/g)].map(([, name]) => name ?? '');
  const documented = permissions.replaceAll('+', '').split(' ');
  const byClient = ['hello', 'config|resetstat', 'config', 'info'];
  expect(used.filter((name) => !documented.includes(name) && !byClient.includes(name))).toEqual([]);
});

test('[REDIS-004] a wrong password, or a missing permission, is unavailable with its reason', async () => {
  const port = redis.server.port;
  const wrong = createRedisLocationStore({
    keyPrefix: 'acl',
    connection: { port, username: 'nobody', password: 'wrong' },
    operationTimeoutMs: TIMEOUT_MS,
  });
  const error: unknown = await wrong.open().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'unavailable', outcome: 'notApplied' });
  expect((error as Error).message).toMatch(
    new RegExp(`^Redis at redis://localhost:${port} cannot be used: WRONGPASS invalid username-password pair`),
  );
  expect(String((error as { cause?: unknown }).cause)).toContain('WRONGPASS');
  expect(inspect(error, { depth: 9 })).not.toContain("'wrong'");
  await wrong.dispose();

  await redis.server.admin.call('ACL', ['SETUSER', 'reader', 'on', '>secret', '~*', '+ping', '+info']);
  const poor = createRedisLocationStore({
    keyPrefix: 'acl',
    connection: { port, username: 'reader', password: 'secret' },
    operationTimeoutMs: TIMEOUT_MS,
  });
  await expect(poor.open()).rejects.toMatchObject({
    code: 'unavailable',
    outcome: 'notApplied',
    message: expect.stringMatching(/cannot be used: NOPERM .* no permissions to run the '.+' command/) as string,
  });
  await poor.dispose();
});

async function whyNotOpened(connection: RedisStoreOptions['connection']): Promise<string> {
  const store = createRedisLocationStore({ keyPrefix: 'why', connection, operationTimeoutMs: TIMEOUT_MS });
  const error: unknown = await store.open().catch((reason: unknown) => reason);
  await store.dispose();
  expect(error).toMatchObject({ code: 'unavailable', outcome: 'notApplied' });
  return (error as Error).message;
}

test('[REDIS-004] what keeps a store from its server is said with the address, and without the password', async () => {
  expect(await whyNotOpened({ url: 'redis://user:secret@127.0.0.1:1' })).toBe(
    'Redis at redis://127.0.0.1:1 cannot be used: connect ECONNREFUSED 127.0.0.1:1',
  );
  expect(await whyNotOpened({ nodes: ['redis://:secret@127.0.0.1:1'] })).toBe(
    'Redis at the Cluster 127.0.0.1:1 cannot be used: it cannot be reached',
  );
  expect(await whyNotOpened({ nodes: [redis.server.port] })).toBe(
    `Redis at the Cluster 127.0.0.1:${redis.server.port} cannot be used: ERR This instance has cluster support disabled`,
  );
  expect(await whyNotOpened({ sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'game' })).toMatch(
    /^Redis at the primary "game" of the Sentinels 127\.0\.0\.1:1 cannot be used: failed to connect to sentinel/,
  );
});

test('[REDIS-004] a server that asks for a password says so', async () => {
  const closed = await startStandalone();
  await closed.server.admin.config('SET', 'requirepass', 'secret');
  expect(await whyNotOpened(closed.connection())).toMatch(/cannot be used: NOAUTH Authentication required$/);
  await closed.close();
});

test('[REDIS-004] TLS to a server without, and a server that is no Redis, are told apart from one that is away', async () => {
  expect(await whyNotOpened({ url: `rediss://127.0.0.1:${redis.server.port}` })).toMatch(/^Redis at rediss:/);
  const web = createServer((socket) => socket.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  const { port } = web.address() as AddressInfo; // it listens
  expect(await whyNotOpened({ host: '127.0.0.1', port })).toMatch(/: what answers there is no Redis, or wants TLS$/);
  await new Promise((resolve) => web.close(resolve));
});

test('[REDIS-004] what was in the way is forgotten once a connection was there', async () => {
  const late = await startStandalone();
  const connection = late.connection();
  await late.server.stop();
  const store = createRedisLocationStore({ keyPrefix: 'late', connection, operationTimeoutMs: TIMEOUT_MS });
  const whyNot = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => '',
      (error: Error) => error.message,
    );
  expect(await whyNot(store.open())).toContain('ECONNREFUSED');
  await late.server.start();
  await eventually(async () => (await whyNot(store.open())) === '', 'opens');
  late.server.pause();
  expect(await whyNot(store.read({}))).toContain('gave no answer'); // and the connection is dropped
  expect(await whyNot(store.read({}))).toMatch(/: (still connecting|no answer to the greeting)$/);
  late.server.resume();
  await store.dispose();
  await late.close();
});

/** Options are checked before anything is dialled. */
import { createRedisLocationStore, createRedisRelocationStore, type RedisStoreOptions } from '../src/index.ts';
import { resolveRedisStoreOptions } from '../src/options.ts';

const connection = { url: 'redis://127.0.0.1:1' };

function problemsOf(options: unknown): readonly string[] {
  for (const create of [createRedisLocationStore, createRedisRelocationStore]) {
    try {
      create(options as RedisStoreOptions); // plain JavaScript may pass anything
    } catch (error) {
      expect((error as Error).name).toBe('ConfigurationError');
      return (error as { problems: readonly string[] }).problems;
    }
  }
  return [];
}

test('[REDIS-004] defaults are 2,000 ms for an operation, no replicas, 500 ms for them', () => {
  expect(resolveRedisStoreOptions({ keyPrefix: 'game', connection })).toEqual({
    keyPrefix: 'game',
    connection,
    operationTimeoutMs: 2_000,
    replicaAcks: 0,
    replicaAckTimeoutMs: 500,
  });
});

test('[REDIS-004] the ends of all ranges are allowed', () => {
  const longest = '€'.repeat(42) + 'ab';
  for (const some of [
    { keyPrefix: 'g', operationTimeoutMs: 1 },
    { keyPrefix: longest, operationTimeoutMs: 60_000, replicaAcks: 100, replicaAckTimeoutMs: 59_999 },
  ])
    expect(resolveRedisStoreOptions({ connection, ...some })).toMatchObject(some);
});

test('[REDIS-004] every mistake is reported, and no secret of the connection with it', () => {
  const problems = problemsOf({
    keyPrefix: 'a{b}',
    connection: { url: 'http://user:secret@host' },
    operationTimeoutMs: 0,
    replicaAcks: -1,
    replicaAckTimeoutMs: 1.5,
    keyprefix: 'x',
  });
  expect(problems).toHaveLength(6);
  expect(problems.join()).not.toContain('secret');
});

test.each([
  [undefined],
  [{ connection }],
  [{ keyPrefix: '', connection }],
  [{ keyPrefix: '€'.repeat(43), connection }],
  [{ keyPrefix: 'game' }],
  [{ keyPrefix: 'game', connection: 'redis://host' }],
  [{ keyPrefix: 'game', connection: { nodes: [] } }],
  [{ keyPrefix: 'game', connection: { client: {} } }],
  [{ keyPrefix: 'game', connection, operationTimeoutMs: 60_001 }],
  [{ keyPrefix: 'game', connection, replicaAcks: 1, operationTimeoutMs: 500 }],
])('[REDIS-004] %j is refused with one mistake', (options) => {
  expect(problemsOf(options)).toHaveLength(1);
});

test.each([
  ['in the address', { url: 'redis://user:secret@host/shop' }],
  ['below 0', { host: 'host', db: -1 }],
  ['between two', { host: 'host', db: 1.5 }],
])('[REDIS-004] a database %s is refused', (_what, connection) => {
  expect(problemsOf({ keyPrefix: 'game', connection })).toEqual(['connection: the database is not a number from 0']);
});

test.each([
  ['undefined', undefined, 'connection.url is undefined, not a redis:// or rediss:// address'],
  ['another address', 'http://user:secret@host', 'connection.url is not a redis:// or rediss:// address'],
])('[REDIS-004] a url that is %s is refused by name', (_what, url, problem) => {
  expect(problemsOf({ keyPrefix: 'game', connection: { url } })).toEqual([problem]);
});

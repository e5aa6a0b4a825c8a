/**
 * What an application says about its Redis.
 *
 * Owns the option names, defaults and ranges. Leaves to connection.ts how a client is made of them.
 */
import { ConfigurationError, Problems } from '@zlink/kernel/errors';
import { checkInteger, checkOptionNames, hasMethods, isObject } from '@zlink/kernel/internal/options';
import type { Cluster, ClusterNode, ClusterOptions, Redis, RedisOptions } from 'ioredis';

/** Where Redis is: one server or Sentinels, the nodes of a Cluster, or a client that the application made. */
export type RedisConnectionOptions =
  | RedisOptions
  | { readonly url: string }
  | { readonly nodes: ClusterNode[]; readonly options?: ClusterOptions }
  | { readonly client: Redis | Cluster };

export interface RedisStoreOptions {
  /** Begins every key; 1..128 bytes without `{` and `}`. Hosts with the same prefix share one namespace. */
  readonly keyPrefix: string;
  readonly connection: RedisConnectionOptions;
  /** Connecting, waiting for a connection and the command together; 1..60,000; default 2,000. */
  readonly operationTimeoutMs?: number;
  /** How many replicas have to confirm a write before it counts; 0..100; default 0. */
  readonly replicaAcks?: number;
  /** How long a write waits for them; 1..60,000 and, with `replicaAcks`, below `operationTimeoutMs`; default 500. */
  readonly replicaAckTimeoutMs?: number;
}

export interface ResolvedRedisStoreOptions {
  readonly keyPrefix: string;
  readonly connection: RedisConnectionOptions;
  readonly operationTimeoutMs: number;
  readonly replicaAcks: number;
  readonly replicaAckTimeoutMs: number;
}

const MAX_PREFIX_BYTES = 128;
const MAX_TIMEOUT_MS = 60_000;
const MAX_REPLICAS = 100;
const KNOWN = ['keyPrefix', 'connection', 'operationTimeoutMs', 'replicaAcks', 'replicaAckTimeoutMs'];

/** @throws ConfigurationError with every mistake */
export function resolveRedisStoreOptions(options: RedisStoreOptions): ResolvedRedisStoreOptions {
  if (!isObject(options)) throw new ConfigurationError(['options of a Redis store: an object is missing']);
  const { keyPrefix, connection, operationTimeoutMs = 2_000, replicaAcks = 0, replicaAckTimeoutMs = 500 } = options;
  const problems = new Problems();
  checkOptionNames('options of a Redis store', options, KNOWN, problems);
  if (!isPrefix(keyPrefix)) problems.add('keyPrefix', keyPrefix, `1..${MAX_PREFIX_BYTES} bytes without { and }`);
  checkConnection(connection, problems);
  checkInteger('operationTimeoutMs', operationTimeoutMs, 1, MAX_TIMEOUT_MS, problems);
  checkInteger('replicaAcks', replicaAcks, 0, MAX_REPLICAS, problems);
  checkInteger('replicaAckTimeoutMs', replicaAckTimeoutMs, 1, MAX_TIMEOUT_MS, problems);
  if (replicaAcks > 0 && replicaAckTimeoutMs >= operationTimeoutMs)
    problems.add('replicaAckTimeoutMs', replicaAckTimeoutMs, `below operationTimeoutMs (${operationTimeoutMs})`);
  problems.throwIfAny();
  return Object.freeze({ keyPrefix, connection, operationTimeoutMs, replicaAcks, replicaAckTimeoutMs });
}

function isPrefix(value: unknown): boolean {
  if (typeof value !== 'string' || /[{}]/.test(value)) return false;
  const bytes = Buffer.byteLength(value);
  return bytes >= 1 && bytes <= MAX_PREFIX_BYTES;
}

/** What a client would refuse later or, worse, answer with a connection to localhost. Values may be secret: none is shown. */
function checkConnection(connection: unknown, problems: Problems): void {
  if (!isObject(connection) || Array.isArray(connection)) {
    problems.note('connection: { url }, { nodes }, { client } or options of ioredis are missing');
    return;
  }
  if ('url' in connection && !(typeof connection.url === 'string' && /^rediss?:\/\//.test(connection.url))) {
    const what = connection.url === undefined ? 'is undefined, ' : 'is ';
    problems.note(`connection.url ${what}not a redis:// or rediss:// address`);
  }
  if ('nodes' in connection && !(Array.isArray(connection.nodes) && connection.nodes.length > 0))
    problems.note('connection.nodes: at least one node is missing');
  if ('client' in connection && !isClient(connection.client))
    problems.note('connection.client: neither a Redis nor a Cluster of ioredis');
}

/** By what is used of it: another installed copy of ioredis is as good. */
function isClient(client: unknown): boolean {
  return hasMethods(client, ['sendCommand', 'disconnect']);
}

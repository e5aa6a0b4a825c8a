/**
 * The client that a store talks through.
 *
 * Owns making it, and closing it once if it is the store's own. Leaves which of its connections serves a key to
 * primary-route.ts.
 *
 * 1. An own client queues nothing and repeats nothing: a command is written now or not at all (REDIS-004).
 * 2. A client that the application passed in is never closed and never configured.
 * 3. An own client goes on in database 0 if it could not select its own, so whoever looks at a connection selects it again.
 */
import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { ConfigurationError } from '@zlink/kernel/errors';
import type { Clock } from '@zlink/kernel/internal/time';
import type { ResolvedRedisStoreOptions } from './options.ts';
import { isVague } from './redis-errors.ts';
import { addressOfCluster, addressOfServer } from './server-address.ts';

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 2_000;
const CLOSE_LIMIT_MS = 1_000;

export interface RedisConnection {
  readonly client: Redis | Cluster;
  /** Made here: may be reset and has to be closed. */
  readonly isOwn: boolean;
  /** Where it leads, for people. */
  readonly address: string;
  /** That has to be selected (3). */
  readonly database: number | undefined;
  /** What the client reported last, since it was connected; of a passed-in client nobody listens to it. */
  readonly lastError: unknown;
  close(): Promise<void>;
}

type OwnRedisOptions = ReturnType<typeof ownRedisOptions>;
type Terms = Pick<ResolvedRedisStoreOptions, 'connection' | 'operationTimeoutMs'>;

/** @param share - whether a passed-in client is used itself, or a second one like it */
export function openConnection(terms: Terms, share: 'client' | 'configuration', clock: Clock): RedisConnection {
  const { connection } = terms;
  if ('client' in connection && share === 'client') return new BorrowedConnection(connection.client);
  const nodes = 'nodes' in connection ? connection.nodes : undefined;
  return new OwnConnection(createClient(terms), nodes, clock);
}

class BorrowedConnection implements RedisConnection {
  readonly client: Redis | Cluster;
  readonly isOwn = false;
  readonly database = undefined;
  readonly lastError = undefined;

  constructor(client: Redis | Cluster) {
    this.client = client;
  }

  get address(): string {
    return addressOf(this.client);
  }

  async close(): Promise<void> {} // 2
}

class OwnConnection implements RedisConnection {
  readonly client: Redis | Cluster;
  readonly isOwn = true;
  readonly database: number | undefined;
  readonly #nodes: readonly ClusterNode[] | undefined;
  readonly #clock: Clock;
  #lastError: unknown;
  #closed: Promise<void> | undefined;

  constructor(client: Redis | Cluster, nodes: readonly ClusterNode[] | undefined, clock: Clock) {
    this.client = client;
    this.database = isCluster(client) ? undefined : databaseOf(client.options);
    this.#nodes = nodes;
    this.#clock = clock;
    // Without a listener for 'error' the client writes to the console; the other two say what is behind it.
    for (const event of ['error', 'node error', 'sentinelError']) client.on(event, (error) => this.#note(error));
    client.on('ready', () => (this.#lastError = undefined));
  }

  get address(): string {
    return addressOf(this.client, this.#nodes);
  }

  get lastError(): unknown {
    return this.#lastError;
  }

  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  #note(error: unknown): void {
    if (this.#lastError === undefined || !isVague(error)) this.#lastError = error;
  }

  /** A client between two attempts has nothing to end and says nothing, hence the limit. */
  async #end(): Promise<void> {
    const { client } = this;
    if (client.status === 'end') return;
    await new Promise<void>((resolve) => {
      const timer = this.#clock.setBackgroundTimer(resolve, CLOSE_LIMIT_MS);
      client.once('end', () => {
        this.#clock.clearTimer(timer);
        resolve();
      });
      const waits = client.status === 'reconnecting';
      client.disconnect();
      if (waits) {
        this.#clock.clearTimer(timer);
        resolve();
      }
    });
  }
}

/** By property: a client may come from another installed copy of ioredis. */
export function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}

/** As the client has read it, in an address or among options; no number would be database 0. */
function databaseOf({ db = 0 }: RedisOptions): number | undefined {
  if (!(Number.isInteger(db) && db >= 0))
    throw new ConfigurationError(['connection: the database is not a number from 0']);
  return db === 0 ? undefined : db;
}

function addressOf(client: Redis | Cluster, nodes?: readonly ClusterNode[]): string {
  return isCluster(client) ? addressOfCluster(client, nodes) : addressOfServer(client);
}

function createClient({ connection, operationTimeoutMs }: Terms): Redis | Cluster {
  const redis = ownRedisOptions(operationTimeoutMs);
  if ('client' in connection) {
    const { client } = connection;
    return isCluster(client) ? client.duplicate([], ownClusterOptions(client.options, redis)) : client.duplicate(redis);
  }
  if ('nodes' in connection) return new Cluster(connection.nodes, ownClusterOptions(connection.options, redis));
  if ('url' in connection) return new Redis(connection.url, redis);
  return new Redis({ ...connection, ...redis });
}

function ownRedisOptions(operationTimeoutMs: number) {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    enableAutoPipelining: false,
    disableClientInfo: true,
    readOnly: false,
    role: 'master',
    keyPrefix: '',
    replyMapping: 'legacy',
    connectTimeout: operationTimeoutMs,
    disconnectTimeout: 100,
    retryStrategy: retryDelayMs,
  } as const satisfies RedisOptions;
}

function ownClusterOptions(options: ClusterOptions | undefined, redis: OwnRedisOptions) {
  const { retryStrategy: _, enableOfflineQueue: __, readOnly: ___, ...nodeOptions } = redis;
  return {
    ...options,
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false, // it asks CLUSTER INFO; the slot's own node is asked instead (REDIS-011)
    enableAutoPipelining: false,
    scaleReads: 'master',
    keyPrefix: '',
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: retryDelayMs,
    redisOptions: { ...options?.redisOptions, ...nodeOptions },
  } as const satisfies ClusterOptions;
}

function retryDelayMs(attempt: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** (attempt - 1), LAST_RETRY_MS);
}

/**
 * Which connection leads to the primary of a key, right now.
 *
 * Owns the look-up and the wake-up of connections that are not there yet. Leaves waiting to redis-calls.ts.
 *
 * 1. A connection that is returned takes a command in this very step: it is ready and writable.
 * 2. The client's own routing is not used: it would send a command again after the connection that carried it was lost.
 */
import { type Cluster, Command, type NatMap, type Redis } from 'ioredis';
import { isCluster, type RedisConnection } from './connection.ts';

export interface PrimaryRoute {
  /** The connection; if there is none, one is on its way. */
  find(key: string): Redis | undefined;
  /** The connection to the node that a redirection names. */
  findNamed(address: string): Redis | undefined;
  /** Something showed that the map of slots is old. */
  refresh(): void;
}

export function createPrimaryRoute({ client, isOwn }: RedisConnection): PrimaryRoute {
  return isCluster(client) ? new ClusterRoute(client, isOwn) : new SingleRoute(client, isOwn);
}

class SingleRoute implements PrimaryRoute {
  readonly #client: Redis;
  readonly #isOwn: boolean;

  constructor(client: Redis, isOwn: boolean) {
    this.#client = client;
    this.#isOwn = isOwn;
  }

  find(): Redis | undefined {
    const client = this.#client;
    if (isWritable(client)) return client;
    wake(client, this.#isOwn);
    return undefined;
  }

  findNamed(): undefined {
    return undefined;
  }

  refresh(): void {} // Sentinels are asked whenever the client connects
}

class ClusterRoute implements PrimaryRoute {
  readonly #client: Cluster;
  readonly #isOwn: boolean;

  constructor(client: Cluster, isOwn: boolean) {
    this.#client = client;
    this.#isOwn = isOwn;
  }

  find(key: string): Redis | undefined {
    const client = this.#client;
    if (client.status !== 'ready') {
      wake(client, this.#isOwn);
      return undefined;
    }
    const prefix = client.options.redisOptions?.keyPrefix ?? ''; // of a passed-in client: its nodes put it before each key
    const address = client.slots[slotOf(prefix + key)]?.[0];
    const node = address === undefined ? undefined : this.#findNode(address);
    if (node === undefined) this.refresh(); // a node that was lost has left the pool
    return node;
  }

  findNamed(address: string): Redis | undefined {
    const node = this.#findNode(mapped(address, this.#client.options.natMap));
    if (node === undefined) this.refresh();
    return node;
  }

  refresh(): void {
    this.#client.refreshSlotsCache(); // one at a time, the client sees to it
  }

  #findNode(address: string): Redis | undefined {
    const node = this.#client.nodes('all').find(({ options }) => `${options.host}:${options.port}` === address);
    if (node === undefined || isWritable(node)) return node;
    wake(node, false);
    return undefined;
  }
}

function isWritable({ status, stream }: Redis): boolean {
  return status === 'ready' && stream.writable;
}

/** A client that its application has ended stays ended. */
function wake(client: Redis | Cluster, isOwn: boolean): void {
  if (client.status !== 'wait' && !(isOwn && client.status === 'end')) return;
  client.connect().catch(() => undefined); // its events and the next look-up tell
}

/** Servers name addresses as they know them; the client may have to dial others. */
function mapped(address: string, natMap: NatMap | undefined): string {
  const found = typeof natMap === 'function' ? natMap(address) : natMap?.[address];
  return found === null || found === undefined ? address : `${found.host}:${found.port}`;
}

function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

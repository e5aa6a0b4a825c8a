/**
 * Where a client of ioredis leads, for people.
 *
 * Owns the text. Leaves to redis-errors.ts which messages show it.
 *
 * 1. Neither user nor password is in it, wherever the application has put them.
 */
import type { Cluster, ClusterNode, Redis, RedisOptions } from 'ioredis';

export function addressOfServer({ options }: Redis): string {
  const { sentinels, name, path, host = 'localhost', port = 6379 } = options;
  if (sentinels) return `the primary "${name}" of the Sentinels ${sentinels.map(addressOfNode).join(', ')}`;
  if (path) return path;
  return `${isEncrypted(options) ? 'rediss' : 'redis'}://${hostAndPort(host, port)}`;
}

/** @param nodes - those that were named at first; `undefined`: those that the client knows */
export function addressOfCluster(client: Cluster, nodes: readonly ClusterNode[] | undefined): string {
  const known = nodes ?? client.nodes('all').map(({ options: { host, port } }) => ({ host, port }));
  return known.length === 0 ? 'a Cluster' : `the Cluster ${known.map(addressOfNode).join(', ')}`;
}

function isEncrypted({ tls }: RedisOptions): boolean {
  return tls !== undefined && tls !== null;
}

type Node = ClusterNode | { readonly host?: string | undefined; readonly port?: number | string | undefined };

function addressOfNode(node: Node): string {
  if (typeof node === 'number') return hostAndPort('127.0.0.1', node);
  if (typeof node !== 'string') return hostAndPort(node.host ?? '127.0.0.1', node.port);
  const url = node.includes('://') ? node : `redis://${node}`;
  return URL.canParse(url) ? new URL(url).host : 'unreadable'; // 1: what cannot be read may hold a password
}

function hostAndPort(host: string, port: number | string | undefined): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? name : `${name}:${port}`;
}

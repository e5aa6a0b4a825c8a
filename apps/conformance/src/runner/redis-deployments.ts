/**
 * Redis as more than one server: a primary with a replica, with Sentinel, and a Cluster.
 *
 * Owns forming them. Leaves each server to @zlink/testing, and what happens to them to the scenario.
 */
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { eventually } from './eventually.ts';

const NAME = 'conformance';
const slots = [
  [0, 5_460],
  [5_461, 10_922],
  [10_923, 16_383],
] as const;

type Start = (...options: Parameters<typeof startRedisServer>) => Promise<RedisServer>;

const says = (server: RedisServer, command: string, pattern: RegExp, what: string): Promise<void> =>
  eventually(async () => pattern.test(await server.command(command)), what);

export async function startReplica(start: Start, primary: RedisServer): Promise<RedisServer> {
  const replica = await start({ args: ['--replicaof', `127.0.0.1 ${primary.port}`] });
  await says(replica, 'INFO replication', /master_link_status:up/, 'the replica is in step');
  return replica;
}

export interface SentinelDeployment {
  readonly connection: {
    readonly sentinels: { readonly host: string; readonly port: number }[];
    readonly name: string;
  };
  readonly replica: RedisServer;
  /** From here on the replica gets nothing. */
  cutReplication(): Promise<unknown>;
  /** The primary dies; resolves when the replica has taken its place. */
  failOver(): Promise<void>;
}

export async function startSentinel(start: Start): Promise<SentinelDeployment> {
  const primary = await start({ args: ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'] });
  const replica = await startReplica(start, primary);
  const config = [
    `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 1`,
    `sentinel down-after-milliseconds ${NAME} 3000`,
    `sentinel failover-timeout ${NAME} 2000`,
  ].join('\n');
  const sentinel = await start({ args: ['--sentinel'], config });
  await says(sentinel, 'INFO sentinel', /slaves=1,/, 'Sentinel knows the replica');
  return {
    connection: { sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: NAME },
    replica,
    cutReplication: () => replica.command('REPLICAOF 127.0.0.1 1'), // nobody listens there
    failOver: async () => {
      await primary.stop();
      const port = new RegExp(`\\b${replica.port}\\b`);
      await says(sentinel, `SENTINEL GET-MASTER-ADDR-BY-NAME ${NAME}`, port, 'Sentinel names the replica');
      await says(replica, 'INFO replication', /role:master/, 'the replica is the primary');
    },
  };
}

export interface ClusterDeployment {
  readonly connection: { readonly nodes: { readonly host: string; readonly port: number }[] };
  readonly servers: readonly RedisServer[];
}

/** Three primaries. */
export async function startCluster(start: Start): Promise<ClusterDeployment> {
  const servers = await Promise.all(slots.map(() => start({ args: ['--cluster-enabled', 'yes'] })));
  for (const [at, server] of servers.entries()) {
    const [first, last] = slots[at]!; // one for each server
    const own = Array.from({ length: last - first + 1 }, (_, number) => first + number);
    await server.command(`CLUSTER ADDSLOTS ${own.join(' ')}`);
    await server.command(`CLUSTER SET-CONFIG-EPOCH ${at + 1}`);
  }
  const [first, ...others] = servers;
  for (const { port } of others) await first?.command(`CLUSTER MEET 127.0.0.1 ${port}`);
  for (const server of servers) {
    await says(server, 'CLUSTER INFO', /cluster_state:ok[^]*cluster_known_nodes:3/, 'the cluster is complete');
  }
  return { connection: { nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })) }, servers };
}

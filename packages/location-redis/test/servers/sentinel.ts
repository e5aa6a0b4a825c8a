import { type Deployment, natMapOf } from './deployment.ts';
import { eventually } from './eventually.ts';
import { RedisProcess } from './redis-process.ts';

const NAME = 'zlink';

export interface SentinelDeployment extends Deployment {
  readonly primary: RedisProcess;
  readonly replica: RedisProcess;
  /** Sentinels have made the replica the primary, and say so. */
  promoted(): Promise<void>;
}

/** A primary, its replica, and two Sentinels of which one vote is enough; where it `failsOver`, they are quick about it. */
export async function startSentinel(failsOver = false): Promise<SentinelDeployment> {
  const downAfterMs = failsOver ? 6_000 : 60_000; // the primary is not down only because the machine is busy
  const servers: RedisProcess[] = [];
  const start = async (...args: Parameters<typeof RedisProcess.start>): Promise<RedisProcess> => {
    const server = await RedisProcess.start(...args);
    servers.push(server);
    return server;
  };
  try {
    const primary = await start(['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0']);
    const replica = await start(['--replicaof', `127.0.0.1 ${primary.port}`]);
    const config = [
      `sentinel monitor ${NAME} 127.0.0.1 ${primary.port} 1`,
      `sentinel down-after-milliseconds ${NAME} ${downAfterMs}`,
      `sentinel failover-timeout ${NAME} 2000`,
    ].join('\n');
    const sentinels = await Promise.all([start(['--sentinel'], config), start(['--sentinel'], config)]);
    await eventually(
      async () => (await replica.admin.info('replication')).includes('master_link_status:up'),
      'is in step',
    );
    for (const { admin } of sentinels) {
      await eventually(
        async () => /slaves=1,sentinels=2/.test(await admin.info('sentinel')),
        'Sentinels know everyone',
      );
    }
    return describe(primary, replica, sentinels, servers);
  } catch (error) {
    await Promise.all(servers.map((server) => server.close()));
    throw error;
  }
}

function describe(
  primary: RedisProcess,
  replica: RedisProcess,
  sentinels: readonly RedisProcess[],
  servers: readonly RedisProcess[],
): SentinelDeployment {
  return {
    primary,
    replica,
    promoted: async () => {
      for (const { admin } of sentinels) {
        await eventually(async () => {
          const address = await admin.call('SENTINEL', ['GET-MASTER-ADDR-BY-NAME', NAME]);
          return (address as string[])[1] === String(replica.port); // host and port
        }, 'Sentinel names the replica');
      }
      await eventually(async () => (await replica.admin.info('replication')).includes('role:master'), 'is the primary');
    },
    connection: (detours) => ({
      sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
      name: NAME,
      ...(detours === undefined ? {} : { natMap: natMapOf(detours) }),
    }),
    primaries: [primary],
    admin: () => primary.admin,
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}

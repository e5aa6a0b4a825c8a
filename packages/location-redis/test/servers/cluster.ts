import { Command } from 'ioredis';
import { locationKeys } from '../../src/keys.ts';
import { type Deployment, natMapOf } from './deployment.ts';
import { eventually } from './eventually.ts';
import { RedisProcess } from './redis-process.ts';

const SLOTS = 16_384;

export interface ClusterDeployment extends Deployment {
  /** Of the primary with the same index. */
  readonly replicas: readonly RedisProcess[];
  ownerOf(slot: number): RedisProcess;
}

/** Three primaries, and a replica for each if wanted. */
export async function startCluster(withReplicas = false): Promise<ClusterDeployment> {
  // No node is taken for failed only because the machine is busy; where one does fail, the others have to notice it.
  const timeoutMs = withReplicas ? '6000' : '60000';
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', timeoutMs];
  if (withReplicas) args.push('--cluster-replica-validity-factor', '0');
  const count = withReplicas ? 6 : 3;
  const nodes = await Promise.all(Array.from({ length: count }, () => RedisProcess.start([...args, ...quickReplicas])));
  const deployment = describe(nodes);
  try {
    await form(deployment);
  } catch (error) {
    await deployment.close();
    throw error;
  }
  return deployment;
}

const quickReplicas = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0'];

function describe(nodes: readonly RedisProcess[]): ClusterDeployment {
  const primaries = nodes.slice(0, 3);
  const ownerOf = (slot: number): RedisProcess => primaries[primaryOf(slot)] as RedisProcess; // one of three
  const ownerFor = (keyPrefix: string): RedisProcess => ownerOf(slotOf(locationKeys(keyPrefix).meta));
  return {
    primaries,
    replicas: nodes.slice(3),
    ownerOf,
    connection: (detours) => ({
      nodes: nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      ...(detours === undefined ? {} : { options: { natMap: natMapOf(detours) } }),
    }),
    admin: (keyPrefix) => ownerFor(keyPrefix).admin,
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  };
}

function primaryOf(slot: number): number {
  return Math.floor((slot * 3) / SLOTS);
}

async function form({ primaries, replicas }: ClusterDeployment): Promise<void> {
  const all = [...primaries, ...replicas];
  const [first] = all;
  for (const [index, { admin }] of primaries.entries()) {
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => primaryOf(slot) === index);
    await admin.call('CLUSTER', ['ADDSLOTS', ...slots]);
  }
  for (const node of all.slice(1)) await node.admin.call('CLUSTER', ['MEET', '127.0.0.1', first?.port ?? 0]);
  await eventually(
    async () => (await Promise.all(all.map(knownNodes))).every((known) => known === all.length),
    'all nodes meet',
  );
  for (const [index, replica] of replicas.entries()) {
    const primaryId = String(await primaries[index]?.admin.call('CLUSTER', ['MYID']));
    await eventually(
      async () => (await replica.admin.call('CLUSTER', ['REPLICATE', primaryId])) === 'OK',
      'replicates',
    );
  }
  for (const replica of replicas)
    await eventually(
      async () => (await replica.admin.info('replication')).includes('master_link_status:up'),
      'is in step',
    );
  await eventually(async () => (await Promise.all(all.map(isOk))).every(Boolean), 'the cluster is complete');
}

async function knownNodes({ admin }: RedisProcess): Promise<number> {
  return Number(/cluster_known_nodes:(\d+)/.exec(String(await admin.cluster('INFO')))?.[1]);
}

async function isOk({ admin }: RedisProcess): Promise<boolean> {
  const info = String(await admin.cluster('INFO'));
  return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`);
}

export function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

/**
 * What hosts without traffic cost: commands at the store, and processor time there and in the hosts.
 *
 * Owns the lull. Leaves hosts to the processes that hold them.
 *
 * 1. Every third host serves a channel, the others are its clients: each publishes or watches, as in a deployment.
 * 2. Counting begins once all clients are connected and what a start does is over.
 */
import type { RedisServer } from '@zlink/testing';
import { shares } from '../full-mesh/plan.ts';
import { machineNowMs } from '../machine-clock.ts';
import type { HostRole } from './host-commands.ts';
import { type HostPeer, pause, startHostPeer } from './host-peer.ts';
import { type CommandCount, commandCounts, processorMs } from './server-counts.ts';

export interface IdleOrder {
  readonly hostCount: number;
  readonly processCount: number;
  readonly restMs: number;
}

export interface IdleReport extends IdleOrder {
  readonly serverCount: number;
  readonly elapsedMs: number;
  /** All hosts together. */
  readonly commands: readonly CommandCount[];
  /** Of one processor. */
  readonly redisShare: number;
  /** Of one processor, all hosts together. */
  readonly hostShare: number;
}

const settleMs = 5_000;
const hostsPerServer = 3;

export async function measureIdle(redis: RedisServer, order: IdleOrder): Promise<IdleReport> {
  const plan = rolesByProcess(order.hostCount, order.processCount);
  const serverCount = plan.flat().filter((role) => role === 'server').length;
  const peers = plan.map((_, index) => startHostPeer(`process ${index}`));
  try {
    await Promise.all(peers.map((peer, index) => peer.ask('start', { url: redis.url, roles: plan[index]! })));
    await Promise.all(peers.map((peer) => peer.ask('ready', { serverCount })));
    await pause(settleMs); // 2
    return { ...order, serverCount, ...(await look(redis, peers, order.restMs)) };
  } finally {
    await Promise.all(peers.map((peer) => peer.end()));
  }
}

async function look(redis: RedisServer, peers: readonly HostPeer[], restMs: number) {
  const hostsBeforeMs = await usedBy(peers);
  const redisBeforeMs = processorMs(await redis.command('INFO cpu'));
  await redis.command('CONFIG RESETSTAT');
  const fromMs = machineNowMs();
  await pause(restMs);
  const info = await redis.command('INFO commandstats');
  const elapsedMs = machineNowMs() - fromMs;
  const redisMs = processorMs(await redis.command('INFO cpu')) - redisBeforeMs;
  const hostsMs = (await usedBy(peers)) - hostsBeforeMs;
  return {
    elapsedMs,
    commands: commandCounts(info).filter(({ name }) => !name.startsWith('config')), // that one was ours
    redisShare: redisMs / elapsedMs,
    hostShare: hostsMs / elapsedMs,
  };
}

/** Processor time of all processes so far. */
async function usedBy(peers: readonly HostPeer[]): Promise<number> {
  const times = await Promise.all(peers.map((peer) => peer.ask('processorTime', undefined)));
  return times.reduce((sum, { usedMs }) => sum + usedMs, 0);
}

/** 1 */
export function rolesByProcess(hostCount: number, processCount: number): readonly (readonly HostRole[])[] {
  const roles = Array.from({ length: hostCount }, (_, index) => (index % hostsPerServer === 0 ? 'server' : 'client'));
  let from = 0;
  return shares(hostCount, processCount).map((count) => roles.slice(from, (from += count)));
}

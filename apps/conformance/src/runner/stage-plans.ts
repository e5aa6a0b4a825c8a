/** What hosts of a stage are described with, as far as it follows from the settings of the stage. */
import type { CurveKeys } from '@zlink/framework';
import type { RedisServer } from '@zlink/testing';
import type { NodePlan, PlainHostOptions, StorePlan } from '../roles/plan.ts';
import type { HostHandle } from './host-handle.ts';
import type { Stage } from './stage.ts';

/** Discovery at a pace that a scenario can wait for, with leases that outlast a host that gets no time for seconds. */
export const quickLocation = {
  pollingIntervalMs: 100,
  ownerLeaseTtlMs: 30_000,
  ownerLeaseRenewIntervalMs: 500,
  ownerLeaseRenewTimeoutMs: 3_000,
  ownerLeaseFencingMarginMs: 5_000,
} as const;

/** Of scenarios that wait for the end of a lease. */
export const shortLease = { ...quickLocation, ownerLeaseTtlMs: 8_000, ownerLeaseFencingMarginMs: 2_000 } as const;

/** A node under that name, which is its RID where RIDs are chosen, that dials those peers unless it finds them. */
export function nodePlan(
  { isDiscovering }: Pick<Stage, 'isDiscovering'>,
  name: string,
  peers: readonly HostHandle[] = [],
  plan: Partial<NodePlan> = {},
): NodePlan {
  return {
    role: 'node',
    channels: [{ weight: 100 }],
    ...(isDiscovering ? { prefix: name } : { rid: name, connect: peers.map((peer) => peer.meshEndpoint) }),
    ...plan,
  };
}

/** Keys with which hosts that share them talk to each other. */
export function keyed(keys: CurveKeys): NonNullable<PlainHostOptions['security']> {
  return { ...keys, serverPublicKey: keys.publicKey, allowedClientKeys: [keys.publicKey] };
}

/** Of the hosts of that stage, in a Redis of its own. */
export function redisStore({ namespace }: Pick<Stage, 'namespace'>, server: RedisServer): StorePlan {
  return { kind: 'redis', connection: { url: server.url }, keyPrefix: namespace };
}

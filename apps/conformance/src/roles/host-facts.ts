/** What a host is and where it is reached, as plain data. */
import type { Host, ListenerStatus } from '@zlink/framework';
import { CHANNEL, FEED, MESH } from '../contracts.ts';
import type { PartPlan } from './plan.ts';

export interface HostFacts {
  readonly listeners: readonly ListenerStatus[];
  readonly maxJobs: number;
  /** Of the conformance channel, mesh and feed, where the host has them. */
  readonly endpoint?: string;
  readonly meshEndpoint?: string;
  readonly meshRid?: string;
  readonly feedEndpoint?: string;
}

export function hostFacts(host: Host, parts: readonly PartPlan[]): HostFacts {
  const has = (role: string, name: string): boolean =>
    parts.some((part) => part.role === role && (!('channel' in part) || (part.channel ?? name) === name));
  const isServer = has('server', CHANNEL) || has('classServer', CHANNEL);
  const endpoint = isServer ? host.clientServerChannel(CHANNEL).endpoint : undefined;
  const mesh = has('node', MESH) ? attempt(() => host.routeMesh(MESH)) : undefined;
  const feedEndpoint = has('publisher', FEED) ? host.fanoutChannel(FEED).endpoint : undefined;
  return {
    listeners: [...host.query.listeners()],
    maxJobs: host.effectiveMaxQueuedApplicationJobs,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(mesh === undefined ? {} : { meshEndpoint: mesh.endpoint, meshRid: mesh.routingId }),
    ...(feedEndpoint === undefined ? {} : { feedEndpoint }),
  };
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

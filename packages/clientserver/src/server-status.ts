/** What a client shows of one server. */
import type { LinkState, LinkTraffic, ServerSnapshot } from '@zlink/kernel/observe';
import type { Intent } from '@zlink/kernel/internal/transport';
import type { Target } from './client/target.ts';

/** One address that a channel's client dials, or that discovery has found, and what is there. */
export interface ServerStatus {
  /** Address of the server. */
  readonly endpoint: string;
  /** RID of the server that answered there last, or that is published with this address. */
  readonly routingId?: string;
  /** `closed` also while another address of the same server has the link, and for a discovered one that is not dialled. */
  readonly state: LinkState;
  /** Why it is not ready, or why it is not chosen although it is, for people. */
  readonly reason?: string;
  /** 0..10_000 as the server says; 0 while not connected. */
  readonly weight: number;
  /** Connected, ends what it accepted, takes nothing new. */
  readonly draining: boolean;
  /** Whether the server lives in this process. */
  readonly local: boolean;
  /** Of the connection to a server of another process, while there is one; nobody is told that it has changed. */
  readonly traffic?: LinkTraffic;
}

/** What is known of one server, in the order in which servers are shown. */
export interface ServerRow {
  readonly endpoint: string;
  /** Undefined: it is not dialled. */
  readonly intent: Intent | undefined;
  readonly rid: string | undefined;
  readonly target: Target | undefined;
  /** Of the one that is published with this address; the connected one says its own. */
  readonly generation?: bigint | undefined;
  /** What the store says; counts more than the intent's. */
  readonly reason?: string | undefined;
  readonly local: boolean;
  /** Differs from that of every other row. */
  readonly key: string;
}

export function serverStatus(row: ServerRow): ServerStatus {
  return { ...describe(row), ...trafficOf(row) };
}

export function serverSnapshot(row: ServerRow): ServerSnapshot {
  return { ...toldServer(row), ...trafficOf(row) };
}

/** As events tell it. */
export function toldServer(row: ServerRow): ServerSnapshot {
  const { routingId, ...status } = describe(row);
  const lifecycleGeneration = row.target?.link.peer.generation ?? row.generation;
  return {
    ...status,
    ...(routingId === undefined ? {} : { serverRid: routingId }),
    ...(lifecycleGeneration === undefined ? {} : { lifecycleGeneration }),
  };
}

function describe(row: ServerRow): ServerStatus {
  const { endpoint, intent, rid, target, local } = row;
  const reason = row.reason ?? intent?.reason;
  return {
    endpoint,
    ...(rid === undefined ? {} : { routingId: rid }),
    state: linkState(intent, target),
    ...(reason === undefined ? {} : { reason }),
    weight: target?.weight ?? 0,
    draining: target?.draining ?? false,
    local,
  };
}

function trafficOf({ target, local }: ServerRow): { readonly traffic?: LinkTraffic } {
  return target === undefined || local ? {} : { traffic: target.link.traffic };
}

function linkState(intent: Intent | undefined, target: Target | undefined): LinkState {
  const state = intent?.state ?? 'closed';
  if (state === 'resting') return 'closed';
  if (state !== 'admitted' || target === undefined) return state;
  return target.ready || target.draining ? 'ready' : 'admitted';
}

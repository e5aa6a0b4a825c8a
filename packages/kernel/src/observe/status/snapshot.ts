/**
 * What a host shows of itself at one moment.
 *
 * Owns the shapes. Whoever has the facts fills them in; `RuntimeQuery.snapshot` puts the sections together.
 *
 * 1. A snapshot is deeply frozen and belongs to whoever asked for it; nothing in it lives on (MON-001).
 * 2. No payload, metadata, buffer, and no count of what a publish reached (MON-007).
 */
import type { HostState, ShutdownResult } from '../../lifecycle/index.ts';
import type { LinkState } from '../link-state.ts';
import type { ChannelRole, EndpointSource, TopologyReason, TopologyState } from './closed-sets.ts';
import type { DiagnosticsLevel } from '../flow/level.ts';
import type { LinkTraffic, TrafficTotals } from './link-traffic.ts';

export interface RuntimeSnapshot {
  /** Grows by at least one from snapshot to snapshot of a host. */
  readonly sequence: bigint;
  readonly observedAt: Date;
  readonly host: HostSnapshot;
  readonly routeMeshes: readonly RouteMeshSnapshot[];
  readonly clientServerChannels: readonly ClientServerSnapshot[];
  /** Of channels with a subscriber. */
  readonly fanoutChannels: readonly FanoutSnapshot[];
  readonly location: LocationSnapshot;
}

export interface HostSnapshot {
  readonly state: HostState;
  readonly isReady: boolean;
  /** Of this start; 0 before it. */
  readonly lifecycleGeneration: bigint;
  /** When a shutdown that runs will end at the latest. */
  readonly deadline?: Date;
  readonly shutdownResult?: ShutdownResult;
  readonly diagnosticsLevel: DiagnosticsLevel;
  readonly jobs: {
    readonly permitsInUse: number;
    readonly max: number;
    readonly reserved: number;
    readonly queued: number;
    readonly pauseAt: number;
    readonly resumeAt: number;
    readonly flow: 'RUNNING' | 'PAUSED';
  };
  /** Of links: what they may hold, and what they hold. A view, never an input. */
  readonly core: { readonly budgetBytes: number; readonly queuedBytes: number };
  /**
   * The connections to peers, servers and clients: how many are open, and what has gone over all there were, those that have ended
   * included. The totals never go back. That they grow is no change, as with the `traffic` of one. Sockets of fanout are no links:
   * events are not in it.
   */
  readonly links: TrafficTotals & { readonly open: number };
  readonly backlog: {
    readonly runningHandlers: number;
    readonly pendingRequests: number;
    readonly openSessions: number;
    readonly unitsLeft: number;
  };
}

/** What all topologies have. */
export interface TopologyStatus {
  readonly state: TopologyState;
  /** Empty while `ready`. */
  readonly reasons: readonly TopologyReason[];
}

export interface PeerSnapshot {
  readonly endpoint: string;
  readonly routingId?: string;
  readonly state: LinkState;
  readonly reason?: string;
  readonly channels: readonly { readonly name: string; readonly weight: number }[];
  readonly draining: boolean;
  /** Of the node that is connected, or published. */
  readonly lifecycleGeneration?: bigint;
  readonly source: EndpointSource;
  /** Of the connection, if there is one. Events have none. */
  readonly traffic?: LinkTraffic;
}

export interface MeshChannelSnapshot {
  readonly channelName: string;
  readonly role: ChannelRole;
  /** Of this node as a server. */
  readonly weight?: number;
  readonly readyMembers: number;
  readonly members: readonly { readonly nodeRid: string; readonly weight: number; readonly state: LinkState }[];
}

export interface Capacity {
  readonly active: number;
  readonly pending: number;
  readonly limit: number;
}

export interface PlacementSnapshot {
  readonly isAvailable: boolean;
  readonly weight: number;
  readonly actors: Capacity;
  readonly spots: Capacity;
  readonly types: readonly (Capacity & { readonly stableType: string })[];
  readonly activations: Capacity;
  readonly reason?: TopologyReason;
}

export interface RouteMeshSnapshot extends TopologyStatus {
  readonly meshName: string;
  readonly nodeRid: string;
  readonly lifecycleGeneration: bigint;
  readonly objectRole: 'none' | 'client' | 'server';
  readonly peers: readonly PeerSnapshot[];
  readonly channels: readonly MeshChannelSnapshot[];
  readonly placement: PlacementSnapshot;
}

export interface ServerSnapshot {
  readonly endpoint: string;
  readonly serverRid?: string;
  readonly state: LinkState;
  readonly reason?: string;
  readonly weight: number;
  readonly draining: boolean;
  readonly local: boolean;
  readonly lifecycleGeneration?: bigint;
  /** Of the connection to a server of another process, if there is one. Events have none. */
  readonly traffic?: LinkTraffic;
}

export interface ClientServerSnapshot extends TopologyStatus {
  readonly channelName: string;
  readonly role: ChannelRole;
  readonly servers: readonly ServerSnapshot[];
}

export interface PublisherSnapshot {
  readonly publisherRid?: string;
  readonly endpoint: string;
  /** Whether it is wanted: `closed` once it is given up. */
  readonly intent: 'open' | 'closed';
  readonly state: LinkState;
  readonly missedEvents: number;
  readonly reason?: string;
}

export interface FanoutSnapshot extends TopologyStatus {
  readonly channelName: string;
  readonly publishers: readonly PublisherSnapshot[];
}

export interface LocationSnapshot {
  readonly store: 'not_configured' | 'ready' | 'degraded';
  readonly leaseValidUntil?: Date;
  readonly lastCompleteRead?: Date;
}

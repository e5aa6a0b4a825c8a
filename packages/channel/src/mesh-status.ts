/**
 * What one node shows of its mesh, and what it tells of changes (MON-020, MON-021).
 *
 * Owns how peers and channels are put into words, which of them were told, and what the mesh misses. Leaves when something
 * has changed to the node.
 *
 * 1. A change is looked at where it is: rows about one peer or endpoint, not all of them.
 * 2. A channel is told when who can be chosen, or the membership of a connected peer, has changed; its members are listed only
 *    if somebody observes.
 * 3. A peer is required if it was configured, or is published and takes a link to this node: with none of these ready the mesh
 *    is degraded, and so it is while a channel that is called from here has no server (MON-004). Nobody is missed where
 *    nobody is known.
 * 4. A conflict is told once a minute at most: who has the same RID tries again and again.
 */
import { ZLinkError } from '@zlink/kernel/errors';
import type { NodeIdentity } from '@zlink/kernel/identity';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import type { Clock } from '@zlink/kernel/internal/time';
import type { Descriptor } from '@zlink/kernel/internal/wire';
import {
  type MeshChannelSnapshot,
  type Monitor,
  type PeerSnapshot,
  refusalError,
  ToldRows,
  type TopologyHealth,
  type TopologyReason,
} from '@zlink/kernel/observe';
import type { MeshOptions } from './mesh-options.ts';
import type { KnownPeers } from './peer/known-peers.ts';
import type { PeerTable } from './peer/peer-table.ts';
import { peerRows, peerRowsAbout, type PeerRow, peerSnapshot, type PeerSubject, toldPeer } from './peer-status.ts';
import type { ChannelRoute } from './route/channel-route.ts';

export interface MeshStatusParts {
  readonly meshName: string;
  readonly where: string;
  readonly own: { readonly identity: NodeIdentity; weightOf(channelName: string): number | undefined };
  readonly peers: PeerTable;
  readonly known: KnownPeers;
  readonly channels: ReadonlyMap<string, ChannelRoute>;
  readonly discovery: Discovery | undefined;
  readonly health: Pick<TopologyHealth, 'refresh'>;
  readonly monitor: Monitor;
  readonly clock: Clock;
}

interface ToldPeer extends Pick<PeerRow, 'isKnown' | 'refusal'> {
  readonly peer: PeerSnapshot;
}

const CONFLICT_INTERVAL_MS = 60_000;

export class MeshStatus {
  readonly #parts: MeshStatusParts;
  readonly #told: ToldRows<ToldPeer>;
  /** Of connected peers, by RID, as their channels were told last (2). */
  readonly #descriptors = new Map<string, Descriptor>();
  #conflictAtMs = -Infinity;

  constructor(parts: MeshStatusParts) {
    const { meshName, monitor } = parts;
    this.#parts = parts;
    this.#told = new ToldRows<ToldPeer>({
      isEqual: (a, b) => areEqual(a.peer, b.peer),
      isSamePeer: (a, b) => isSamePeer(a.peer, b.peer),
      asGone: ({ peer, isKnown }) => ({ peer: { ...peer, state: 'closed', channels: [], draining: false }, isKnown }),
      subjectsOf: ({ peer }) => subjectsOf({ rid: peer.routingId, endpoint: peer.endpoint }),
      tell: ({ peer, isKnown, refusal }, key) =>
        monitor.tell(
          { type: 'zlink.runtime.mesh_node.peer_changed', meshName, peer },
          { subject: isKnown ? key : undefined, error: refusalError(peer, refusal) },
        ),
    });
  }

  peers(): readonly PeerSnapshot[] {
    return this.#rows().map(peerSnapshot);
  }

  channels(): readonly MeshChannelSnapshot[] {
    const rows = this.#rows();
    return [...this.#parts.channels.values()].map((route) => this.#channel(route, () => rows));
  }

  /** Why the mesh is degraded, if so (3). */
  missing(): readonly TopologyReason[] {
    const { discovery, known, channels } = this.#parts;
    const reasons: TopologyReason[] = [];
    if ((discovery?.problem ?? known.storeProblem) !== undefined) reasons.push('location_unavailable');
    if (this.#lacksPeer()) reasons.push('no_ready_peer');
    for (const { channelName, candidateCount } of channels.values()) {
      if (candidateCount > 0 || this.#parts.own.weightOf(channelName) !== undefined) continue;
      reasons.push('no_ready_target');
      break;
    }
    return reasons;
  }

  /** Something about this node, or this endpoint, has changed. @param rerouted - channels that it can be chosen for, or not */
  peerChanged(subject: PeerSubject, rerouted: readonly ChannelRoute[] = []): void {
    const { known, peers, health } = this.#parts;
    const rows = peerRowsAbout(subject, known, peers); // 1
    this.#told.update(
      new Map(rows.map((row) => [keyOf(row), { peer: toldPeer(row), isKnown: row.isKnown, refusal: row.refusal }])),
      subjectsOf(subject),
    );
    const changed = subject.rid === undefined ? [] : this.#changedMemberships(subject.rid);
    for (const route of new Set([...rerouted, ...changed])) this.channelChanged(route);
    health.refresh();
  }

  channelChanged(route: ChannelRoute): void {
    const { meshName, monitor } = this.#parts;
    const { channelName } = route;
    const channel = this.#channel(route, () => this.#rows());
    monitor.tell(
      { type: 'zlink.runtime.mesh_node.channel_changed', meshName, channelName, channel },
      { subject: channelName },
    );
  }

  /** Somebody else has the RID of this node (NET-003). */
  conflict(): void {
    const { meshName, where, own, monitor, clock } = this.#parts;
    const nowMs = clock.nowMs();
    if (nowMs - this.#conflictAtMs < CONFLICT_INTERVAL_MS) return; // 4
    this.#conflictAtMs = nowMs;
    const { rid: nodeRid } = own.identity;
    const error = new ZLinkError('AlreadyExists', `another node of ${where} has the routing id "${nodeRid}", too`);
    monitor.tell({ type: 'zlink.runtime.mesh_node.routing_id_conflict', meshName, nodeRid }, { error });
  }

  #rows(): readonly PeerRow[] {
    return peerRows(this.#parts.known, this.#parts.peers);
  }

  #channel({ channelName, candidateCount }: ChannelRoute, rows: () => readonly PeerRow[]): MeshChannelSnapshot {
    const weight = this.#parts.own.weightOf(channelName);
    return {
      channelName,
      ...(weight === undefined ? { role: 'client' } : { role: 'server', weight }),
      readyMembers: candidateCount,
      get members() {
        return rows().flatMap(({ peer, state }) => {
          if (peer === undefined || !peer.isMemberOf(channelName)) return [];
          return [{ nodeRid: peer.rid, weight: peer.weightIn(channelName), state }];
        });
      },
    };
  }

  /** Channels of this node in which the membership of a peer is another one than before (2). */
  #changedMemberships(rid: string): ChannelRoute[] {
    const before = this.#descriptors.get(rid);
    const now = this.#parts.peers.current(rid)?.link.descriptor;
    if (now === before) return [];
    if (now === undefined) this.#descriptors.delete(rid);
    else this.#descriptors.set(rid, now);
    const [old, current] = [membershipsOf(before), membershipsOf(now)];
    const names = [...new Set([...old.keys(), ...current.keys()])].filter(
      (name) => old.get(name) !== current.get(name),
    );
    return names.flatMap((name) => this.#parts.channels.get(name) ?? []);
  }

  #lacksPeer(): boolean {
    const { peers, known } = this.#parts;
    return !peers.hasReady && known.expectsPeer();
  }
}

/** The channels of a mesh that is not bound. */
export function describedChannels({ channels }: MeshOptions): readonly MeshChannelSnapshot[] {
  return [...channels].map(([channelName, { server }]) => ({
    channelName,
    ...(server === undefined ? { role: 'client' } : { role: 'server', weight: server.weight }),
    readyMembers: 0,
    members: [],
  }));
}

function keyOf({ endpoint, routingId, source }: PeerRow): string {
  return source === 'automatic' ? `node ${routingId}` : `endpoint ${endpoint}`;
}

/** By channel name. */
function membershipsOf(descriptor: Descriptor | undefined): ReadonlyMap<string, string> {
  return new Map(descriptor?.channels.map(({ name, weight }) => [name, `${descriptor.state} ${weight}`]));
}

function subjectsOf({ rid, endpoint }: PeerSubject): string[] {
  return [rid, endpoint].filter((subject) => subject !== undefined);
}

function isSamePeer(a: PeerSnapshot, b: PeerSnapshot): boolean {
  if (a.endpoint === b.endpoint) return true;
  return a.routingId !== undefined && a.routingId === b.routingId;
}

function areEqual({ channels, ...a }: PeerSnapshot, { channels: others, ...b }: PeerSnapshot): boolean {
  if (a.state !== b.state || a.reason !== b.reason || a.draining !== b.draining || a.source !== b.source) return false;
  if (a.endpoint !== b.endpoint || a.routingId !== b.routingId) return false;
  if (a.lifecycleGeneration !== b.lifecycleGeneration || channels.length !== others.length) return false;
  return channels.every(({ name, weight }, at) => name === others[at]?.name && weight === others[at].weight);
}

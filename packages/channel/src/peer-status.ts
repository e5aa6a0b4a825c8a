/** What a node shows of its peers. */
import type { Intent } from '@zlink/kernel/internal/transport';
import { DescriptorState } from '@zlink/kernel/internal/wire';
import type { LinkState } from '@zlink/kernel/observe';
import type { ManualPeer } from './peer/manual-peers.ts';
import type { Peer } from './peer/peer.ts';
import type { PeerTable } from './peer/peer-table.ts';

/** An endpoint that this node was told to connect to, or a node that has connected to it. */
export interface PeerStatus {
  /** Endpoint that is dialled; of a node that dialled this one, the endpoint that it advertises. */
  readonly endpoint: string;
  /** RID of the node that answered there last, or the expected one. */
  readonly routingId?: string;
  /** Of the connection that is kept, whoever dialled it. */
  readonly state: LinkState;
  /** Why it is not ready, for people. */
  readonly reason?: string;
  /** Channels that the peer serves, and their weights 0..10_000; none while not connected. */
  readonly channels: readonly { readonly name: string; readonly weight: number }[];
  /** Connected, ends what it accepted, takes nothing new of channels. */
  readonly draining: boolean;
}

/** One row per manual peer, then one per node that is connected without one. */
export function listPeers(manual: readonly ManualPeer[], peers: PeerTable): readonly PeerStatus[] {
  const shown = new Set<Peer>();
  const rows = manual.map((entry) => {
    const peer = keptPeer(entry, peers);
    if (peer !== undefined) shown.add(peer);
    return manualRow(entry, peer);
  });
  for (const peer of peers.all()) {
    if (!shown.has(peer)) rows.push(row(peer.link.peer.endpoint, peer.rid, stateOf(peer), undefined, peer));
  }
  return Object.freeze(rows);
}

/** The peer that stands behind an intent: its own link, or the one that it rests for. */
function keptPeer({ intent, admittedRid }: ManualPeer, peers: PeerTable): Peer | undefined {
  const isSatisfied = intent.state === 'admitted' || intent.state === 'resting';
  return isSatisfied && admittedRid !== undefined ? peers.current(admittedRid) : undefined;
}

function manualRow({ endpoint, expectedRid, intent }: ManualPeer, peer: Peer | undefined): PeerStatus {
  const state = peer === undefined ? stateOfIntent(intent) : stateOf(peer);
  return row(endpoint, peer?.rid ?? intent.rid ?? expectedRid, state, intent.reason, peer);
}

function row(
  endpoint: string,
  routingId: string | undefined,
  state: LinkState,
  reason: string | undefined,
  peer: Peer | undefined,
): PeerStatus {
  return Object.freeze({
    endpoint,
    ...(routingId === undefined ? {} : { routingId }),
    state,
    ...(reason === undefined ? {} : { reason }),
    channels: Object.freeze((peer?.channels ?? []).map(({ name, weight }) => Object.freeze({ name, weight }))),
    draining: peer?.isDraining ?? false,
  });
}

/** `peer` takes work. */
function stateOf(peer: Peer): LinkState {
  return peer.link.descriptor.state === DescriptorState.starting ? 'admitted' : 'ready';
}

/** Of an intent without a peer that takes work. */
function stateOfIntent({ state }: Intent): LinkState {
  return state === 'resting' || state === 'admitted' ? 'closed' : state;
}

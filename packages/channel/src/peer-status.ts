/** What a node shows of its peers. */
import { DescriptorState } from '@zlink/kernel/internal/wire';
import type { LinkState } from '@zlink/kernel/observe';
import { unlinkedState } from './peer/dial-state.ts';
import type { DiscoveredPeer } from './peer/discovered-peers.ts';
import type { KnownPeers } from './peer/known-peers.ts';
import type { ManualPeer } from './peer/manual-peers.ts';
import type { Peer } from './peer/peer.ts';
import type { PeerTable } from './peer/peer-table.ts';

/** An endpoint that this node was told to connect to, a node that was discovered, or one that has connected to this one. */
export interface PeerStatus {
  /** Endpoint that is dialled; of a node that dials this one, the endpoint that it advertises. */
  readonly endpoint: string;
  /** RID of the node that answered there last, or the expected one. */
  readonly routingId?: string;
  /** Of the connection that is kept, whoever dialled it. */
  readonly state: LinkState;
  /** Why it is not ready, or not chosen for channels, for people. */
  readonly reason?: string;
  /** Channels that the peer serves, and their weights 0..10_000; none while not connected. */
  readonly channels: readonly { readonly name: string; readonly weight: number }[];
  /** Connected, ends what it accepted, takes nothing new of channels. */
  readonly draining: boolean;
}

/** One row per manual peer, then one per other node that was discovered, then one per other node that is connected. */
export function listPeers(known: KnownPeers, peers: PeerTable): readonly PeerStatus[] {
  const shown = new Set<Peer>();
  const show = (peer: Peer | undefined): Peer | undefined => {
    if (peer !== undefined) shown.add(peer);
    return peer;
  };
  const byEndpoint = new Map([...peers.all()].map((peer) => [peer.link.peer.endpoint, peer]));
  const rows = known.manual().map((entry) => manualRow(entry, show(keptPeer(entry, peers, byEndpoint))));
  for (const entry of known.discovered()) {
    const peer = show(peers.current(entry.rid));
    rows.push(peer === undefined ? discoveredRow(entry) : connectedRow(peer, known));
  }
  for (const peer of peers.all()) if (!shown.has(peer)) rows.push(connectedRow(peer, known));
  return Object.freeze(rows);
}

/** The peer that stands behind an intent: its own link, or the one that it rests for, or will rest for once it dials. */
function keptPeer(
  { endpoint, expectedRid, admittedRid, intent }: ManualPeer,
  peers: PeerTable,
  byEndpoint: ReadonlyMap<string, Peer>,
): Peer | undefined {
  switch (intent.state) {
    case 'admitted':
    case 'resting':
      return admittedRid === undefined ? undefined : peers.current(admittedRid);
    case 'connecting':
    case 'reconnecting': {
      const peer = byEndpoint.get(endpoint);
      return expectedRid === undefined || expectedRid === peer?.rid ? peer : undefined;
    }
    default:
      return undefined;
  }
}

function manualRow({ endpoint, expectedRid, intent }: ManualPeer, peer: Peer | undefined): PeerStatus {
  const state = peer === undefined ? unlinkedState(intent) : stateOf(peer);
  return row(endpoint, peer?.rid ?? intent.rid ?? expectedRid, state, intent.reason, peer);
}

function discoveredRow(entry: DiscoveredPeer): PeerStatus {
  return row(entry.endpoint, entry.rid, unlinkedState(entry), entry.reason, undefined);
}

function connectedRow(peer: Peer, known: KnownPeers): PeerStatus {
  return row(peer.link.peer.endpoint, peer.rid, stateOf(peer), known.whyLeftOut(peer), peer);
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

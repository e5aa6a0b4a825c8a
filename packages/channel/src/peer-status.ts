/** What a node shows of its peers. */
import type { ErrorKindName } from '@zlink/kernel/errors';
import { DescriptorState } from '@zlink/kernel/internal/wire';
import type { EndpointSource, LinkState, LinkTraffic, PeerSnapshot } from '@zlink/kernel/observe';
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
  /** Of the connection, while there is one; nobody is told that it has changed. */
  readonly traffic?: LinkTraffic;
}

/** The row of one peer; `peer` is the connected one. */
export interface PeerRow {
  readonly endpoint: string;
  readonly routingId: string | undefined;
  readonly state: LinkState;
  readonly reason: string | undefined;
  /** Of one that is rejected. */
  readonly refusal?: ErrorKindName | undefined;
  readonly peer: Peer | undefined;
  readonly lifecycleGeneration: bigint | undefined;
  readonly source: EndpointSource;
  /** Whether this node knows of it otherwise than by its link. */
  readonly isKnown: boolean;
}

/** What is asked for: one node, one endpoint, or both. */
export interface PeerSubject {
  readonly rid?: string | undefined;
  readonly endpoint?: string;
}

/** One row per manual peer, then one per other node that was discovered, then one per other node that is connected. */
export function peerRows(known: KnownPeers, peers: PeerTable): readonly PeerRow[] {
  const shown = new Set<Peer>();
  const byEndpoint = new Map([...peers.all()].map((peer) => [peer.link.peer.endpoint, peer]));
  const rows = known.manual().map((entry) => {
    const peer = keptPeer(entry, peers, (endpoint) => byEndpoint.get(endpoint));
    if (peer !== undefined) shown.add(peer);
    return manualRow(entry, peer, known);
  });
  for (const entry of known.discovered()) {
    const peer = peers.current(entry.rid);
    if (peer !== undefined) shown.add(peer);
    rows.push(foundRow(entry, peer, known));
  }
  for (const peer of peers.all()) if (!shown.has(peer)) rows.push(connectedRow(peer, known));
  return rows;
}

/** The same rows, but only those that show the subject. */
export function peerRowsAbout({ rid, endpoint }: PeerSubject, known: KnownPeers, peers: PeerTable): readonly PeerRow[] {
  const connected = rid === undefined ? undefined : peers.current(rid);
  const isAbout = ({ intent, ...entry }: ManualPeer): boolean =>
    entry.endpoint === endpoint ||
    entry.endpoint === connected?.link.peer.endpoint ||
    (rid !== undefined && [entry.expectedRid, entry.admittedRid, intent.rid].includes(rid));
  const rows = known
    .manual()
    .filter(isAbout)
    .map((entry) =>
      manualRow(
        entry,
        keptPeer(entry, peers, (at) => peers.at(at)),
        known,
      ),
    );
  const isShown = connected !== undefined && rows.some(({ peer }) => peer === connected);
  const found = rid === undefined ? undefined : known.discoveredOf(rid);
  if (found !== undefined) rows.push(foundRow(found, connected, known));
  else if (connected !== undefined && !isShown) rows.push(connectedRow(connected, known));
  return rows;
}

export function peerStatus(row: PeerRow): PeerStatus {
  return Object.freeze({ ...describe(row), ...trafficOf(row) });
}

export function peerSnapshot(row: PeerRow): PeerSnapshot {
  return { ...toldPeer(row), ...trafficOf(row) };
}

/** As events tell it. */
export function toldPeer(row: PeerRow): PeerSnapshot {
  const { lifecycleGeneration, source } = row;
  return { ...describe(row), ...(lifecycleGeneration === undefined ? {} : { lifecycleGeneration }), source };
}

function describe({ endpoint, routingId, state, reason, peer }: PeerRow): PeerStatus {
  return {
    endpoint,
    ...(routingId === undefined ? {} : { routingId }),
    state,
    ...(reason === undefined ? {} : { reason }),
    channels: Object.freeze((peer?.channels ?? []).map(({ name, weight }) => Object.freeze({ name, weight }))),
    draining: peer?.isDraining ?? false,
  };
}

function trafficOf({ peer }: PeerRow): { readonly traffic?: LinkTraffic } {
  return peer === undefined ? {} : { traffic: peer.link.traffic };
}

/** The peer that stands behind an intent: its own link, or the one that it rests for, or will rest for once it dials. */
function keptPeer(
  { endpoint, expectedRid, admittedRid, intent }: ManualPeer,
  peers: PeerTable,
  at: (endpoint: string) => Peer | undefined,
): Peer | undefined {
  switch (intent.state) {
    case 'admitted':
    case 'resting':
      return admittedRid === undefined ? undefined : peers.current(admittedRid);
    case 'connecting':
    case 'reconnecting': {
      const peer = at(endpoint);
      return expectedRid === undefined || expectedRid === peer?.rid ? peer : undefined;
    }
    default:
      return undefined;
  }
}

function manualRow({ endpoint, expectedRid, intent }: ManualPeer, peer: Peer | undefined, known: KnownPeers): PeerRow {
  const routingId = peer?.rid ?? intent.rid ?? expectedRid;
  return {
    endpoint,
    routingId,
    state: peer === undefined ? unlinkedState(intent) : stateOf(peer),
    reason: intent.reason,
    refusal: intent.refusal,
    peer,
    lifecycleGeneration: peer?.link.peer.generation,
    source: routingId !== undefined && known.isDiscovered(routingId) ? 'both' : 'manual',
    isKnown: true,
  };
}

function foundRow(entry: DiscoveredPeer, peer: Peer | undefined, known: KnownPeers): PeerRow {
  if (peer !== undefined) return { ...connectedRow(peer, known), isKnown: true };
  return {
    endpoint: entry.endpoint,
    routingId: entry.rid,
    state: unlinkedState(entry),
    reason: entry.reason,
    refusal: entry.refusal,
    peer,
    lifecycleGeneration: entry.generation,
    source: 'automatic',
    isKnown: true,
  };
}

function connectedRow(peer: Peer, known: KnownPeers): PeerRow {
  const { endpoint, generation } = peer.link.peer;
  return {
    endpoint,
    routingId: peer.rid,
    state: stateOf(peer),
    reason: known.whyLeftOut(peer),
    peer,
    lifecycleGeneration: generation,
    source: 'automatic',
    isKnown: false,
  };
}

/** `peer` takes work. */
function stateOf(peer: Peer): LinkState {
  return peer.link.descriptor.state === DescriptorState.starting ? 'admitted' : 'ready';
}

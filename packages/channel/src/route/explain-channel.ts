/** Why none of the nodes can be chosen for a channel, for people. */
import { boundedList } from '@zlink/kernel/observe';
import type { ManualPeer } from '../peer/manual-peers.ts';
import type { Peer } from '../peer/peer.ts';
import type { PeerTable } from '../peer/peer-table.ts';

/** Members that cannot be chosen first, then endpoints that are not connected. */
export function explainChannel(channelName: string, peers: PeerTable, manual: readonly ManualPeer[]): string {
  const texts: string[] = [];
  for (const peer of peers.all()) {
    if (peer.isMemberOf(channelName)) texts.push(`node "${peer.rid}" ${obstacle(peer)}`);
  }
  for (const { endpoint, intent } of manual) {
    if (intent.state === 'admitted' || intent.state === 'resting') continue;
    texts.push(`${endpoint} ${intent.state}${intent.reason === undefined ? '' : ` (${intent.reason})`}`);
  }
  return texts.length === 0 ? 'no connected node serves it' : boundedList(texts);
}

function obstacle(peer: Peer): string {
  if (peer.isDraining) return 'drains';
  return peer.isReady ? 'has weight 0' : 'does not serve yet';
}

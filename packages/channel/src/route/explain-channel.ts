/** Why none of the nodes can be chosen for a channel: in one word for measurements, and for people. */
import { boundedList, type SelectionFailure } from '@zlink/kernel/observe';
import { dialText } from '../peer/dial-state.ts';
import type { KnownPeers } from '../peer/known-peers.ts';
import type { Peer } from '../peer/peer.ts';
import type { PeerTable } from '../peer/peer-table.ts';

export interface WhyNoNode {
  readonly failure: SelectionFailure;
  readonly text: string;
}

/**
 * Members that cannot be chosen first, then endpoints that are not connected, then the store. What stands behind a configured
 * endpoint is not known while it is not connected: it may well be a member, unless it has refused a link as needless.
 */
export function explainChannel(channelName: string, peers: PeerTable, known: KnownPeers): WhyNoNode {
  const texts: string[] = [];
  let [possible, draining] = [0, 0];
  for (const peer of peers.all()) {
    if (!peer.isMemberOf(channelName)) continue;
    possible++;
    if (peer.isDraining) draining++;
    texts.push(`node "${peer.rid}" ${obstacle(peer, known)}`);
  }
  for (const { endpoint, intent } of known.manual()) {
    if (intent.state === 'admitted' || intent.state === 'resting') continue;
    if (intent.state !== 'notRequired') possible++;
    texts.push(dialText({ endpoint, state: intent.state, reason: intent.reason }));
  }
  for (const peer of known.discovered()) {
    const isMember = peer.channelNames.includes(channelName);
    if (!isMember || peers.current(peer.rid) !== undefined) continue;
    possible++;
    texts.push(dialText(peer));
  }
  const why = texts.length === 0 ? 'no connected node serves it' : boundedList(texts);
  const failure = possible === 0 ? 'no_member' : draining === possible ? 'draining' : 'not_ready';
  return { failure, text: [why, ...known.explainStore()].join('; ') };
}

function obstacle(peer: Peer, known: KnownPeers): string {
  if (peer.isDraining) return 'drains';
  if (!peer.isReady) return 'does not serve yet';
  return known.whyLeftOut(peer) ?? 'has weight 0';
}

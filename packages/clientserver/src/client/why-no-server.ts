/** Why none of a client's servers can be chosen: in one word for measurements, and for people. */
import { boundedList, type SelectionFailure } from '@zlink/kernel/observe';
import type { ServerStatus } from '../server-status.ts';

export function selectionFailure(servers: readonly ServerStatus[]): SelectionFailure {
  if (servers.length === 0) return 'no_member';
  return servers.every(({ draining }) => draining) ? 'draining' : 'not_ready';
}

/** @param discovery - undefined: only configured servers are dialled */
export function whyNoServer(
  channelName: string,
  servers: readonly ServerStatus[],
  discovery: { readonly problem: string | undefined } | undefined,
): string {
  const elsewhere = new Set(servers.flatMap(({ state, routingId }) => (state === 'closed' ? [] : [routingId])));
  // An address that is closed may lead to a server that another one has connected, and which is shown there.
  const telling = servers.filter(({ state, routingId }) => state !== 'closed' || !elsewhere.has(routingId));
  const texts = telling.length > 0 ? [boundedList(telling.map(describe))] : [];
  if (discovery?.problem !== undefined) texts.push(`location store: ${discovery.problem}`);
  return texts.length > 0 ? texts.join('; ') : noneIsPublished(channelName);
}

function noneIsPublished(channelName: string): string {
  const sought = `no server of channel "${channelName}" is published in the location store`;
  return `${sought}; servers need the same store, key prefix and channel name`;
}

function describe({ endpoint, state, reason, weight, draining }: ServerStatus): string {
  if (draining) return `${endpoint} draining`;
  if (state === 'ready' && weight === 0) return `${endpoint} ready (weight 0)`;
  return `${endpoint} ${state}${reason === undefined ? '' : ` (${reason})`}`;
}

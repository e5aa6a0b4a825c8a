/** Why none of a client's servers can be chosen, for people. */
import { boundedList } from '@zlink/kernel/observe';
import type { ServerStatus } from '../server-status.ts';

/** @param discovery - undefined: only configured servers are dialled */
export function whyNoServer(
  servers: readonly ServerStatus[],
  discovery?: { readonly problem: string | undefined },
): string {
  const elsewhere = new Set(servers.flatMap(({ state, routingId }) => (state === 'closed' ? [] : [routingId])));
  // An address that is closed may lead to a server that another one has connected, and which is shown there.
  const telling = servers.filter(({ state, routingId }) => state !== 'closed' || !elsewhere.has(routingId));
  const texts = telling.length > 0 ? [boundedList(telling.map(describe))] : [];
  if (discovery?.problem !== undefined) texts.push(`location store: ${discovery.problem}`);
  return texts.length > 0 ? texts.join('; ') : 'no server is published';
}

function describe({ endpoint, state, reason, weight, draining }: ServerStatus): string {
  if (draining) return `${endpoint} draining`;
  if (state === 'ready' && weight === 0) return `${endpoint} ready (weight 0)`;
  return `${endpoint} ${state}${reason === undefined ? '' : ` (${reason})`}`;
}

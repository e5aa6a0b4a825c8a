/** Why none of a client's servers can be chosen, for people. */
import { boundedList } from '@zlink/kernel/observe';
import type { ServerStatus } from '../server-status.ts';

export function whyNoServer(servers: readonly ServerStatus[]): string {
  // An address that is closed leads to a server that another one has connected, and which is shown there.
  const open = servers.filter(({ state }) => state !== 'closed');
  return boundedList(open.map(describe));
}

function describe({ endpoint, state, reason, weight, draining }: ServerStatus): string {
  if (draining) return `${endpoint} draining`;
  if (state === 'ready' && weight === 0) return `${endpoint} ready (weight 0)`;
  return `${endpoint} ${state}${reason === undefined ? '' : ` (${reason})`}`;
}

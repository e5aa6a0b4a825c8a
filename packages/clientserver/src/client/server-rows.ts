/**
 * What a client shows of its servers: addresses that were configured, then what discovery has found besides.
 *
 * Owns which rows there are. Leaves what a row says to server-status.
 *
 * 1. A discovered server that a configured address leads to has no row of its own. Where discovery's intent holds the link
 *    and the configured one rests, the configured row shows that link.
 */
import type { DiscoveredEndpoint } from '@zlink/kernel/internal/discovery';
import type { Intent } from '@zlink/kernel/internal/transport';
import { type ServerStatus, serverStatus } from '../server-status.ts';
import type { DiscoveredServers } from './discovered-servers.ts';
import type { TargetSet } from './target-set.ts';

export function serverRows(
  configured: readonly Intent[],
  discovered: Pick<DiscoveredServers, 'all' | 'reason'> | undefined,
  targets: Pick<TargetSet, 'find'>,
  localAddress: string | undefined,
): readonly ServerStatus[] {
  const found = new Set(discovered?.all());
  const targetOf = ({ link }: Intent) => (link === undefined ? undefined : targets.find(link));
  const rows = configured.map((intent) => {
    const { address, rid } = intent;
    const standIn = intent.state === 'resting' ? takeLinked(found, rid)?.intent : undefined;
    const shown = standIn ?? intent;
    return serverStatus(address, shown, { rid, target: targetOf(shown), local: address === localAddress });
  });
  for (const server of found) {
    if (server.intent?.link === undefined && configured.some((intent) => leadsTo(intent, server))) continue;
    const target = server.intent === undefined ? undefined : targetOf(server.intent);
    const reason = discovered?.reason(server);
    rows.push(serverStatus(server.endpoint, server.intent, { rid: server.rid, target, reason, local: false }));
  }
  return rows;
}

function takeLinked(found: Set<DiscoveredEndpoint>, rid: string | undefined): DiscoveredEndpoint | undefined {
  for (const server of found) {
    if (server.rid !== rid || server.intent?.link === undefined) continue;
    found.delete(server);
    return server;
  }
  return undefined;
}

function leadsTo({ address, state, rid }: Intent, server: DiscoveredEndpoint): boolean {
  if (address === server.endpoint) return true;
  return rid === server.rid && state === 'admitted';
}

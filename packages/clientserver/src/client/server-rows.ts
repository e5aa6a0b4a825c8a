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
import type { ServerRow } from '../server-status.ts';
import type { DiscoveredServers } from './discovered-servers.ts';
import type { TargetSet } from './target-set.ts';

/** What is asked for: one server, one address, or both. */
export interface ServerSubject {
  readonly rid?: string | undefined;
  readonly address?: string;
}

export interface RowSources {
  /** By address. */
  readonly configured: ReadonlyMap<string, Intent>;
  readonly discovered: Pick<DiscoveredServers, 'all' | 'of' | 'reason'> | undefined;
  readonly targets: Pick<TargetSet, 'find'>;
  readonly localAddress: string | undefined;
}

export function serverRows(sources: RowSources): readonly ServerRow[] {
  return rowsOf([...sources.configured.values()], sources.discovered?.all() ?? [], sources);
}

/** The same rows, but only those that may show the subject, or have something to do with one that does. */
export function serverRowsAbout({ rid, address = '' }: ServerSubject, sources: RowSources): readonly ServerRow[] {
  const { configured, discovered } = sources;
  // Of thousands that were found those at an address are looked for only if it was configured, too.
  const isAt = ({ endpoint }: DiscoveredEndpoint): boolean => endpoint === address;
  const at = configured.has(address) ? discovered?.all().filter(isAt) : undefined;
  const found = new Set([...(at ?? []), ...((rid !== undefined && discovered?.of(rid)) || [])]);
  const addresses = new Set([address, ...[...found].map(({ endpoint }) => endpoint)]);
  const related = [...configured.values()].filter(
    (intent) => addresses.has(intent.address) || (rid !== undefined && intent.rid === rid),
  );
  return rowsOf(related, found, sources);
}

function rowsOf(
  configured: readonly Intent[],
  discoveredOnes: Iterable<DiscoveredEndpoint>,
  { discovered, targets, localAddress }: RowSources,
): readonly ServerRow[] {
  const found = new Set(discoveredOnes);
  const targetOf = ({ link }: Intent) => (link === undefined ? undefined : targets.find(link));
  const rows = configured.map((intent): ServerRow => {
    const { address: endpoint, rid } = intent;
    const standIn = intent.state === 'resting' ? takeLinked(found, rid)?.intent : undefined;
    const shown = standIn ?? intent;
    const local = endpoint === localAddress;
    return { endpoint, intent: shown, rid, target: targetOf(shown), local, key: endpoint };
  });
  for (const server of found) {
    if (server.intent?.link === undefined && configured.some((intent) => leadsTo(intent, server))) continue;
    const { endpoint, rid, generation, intent } = server;
    const target = intent === undefined ? undefined : targetOf(intent);
    const [reason, key] = [discovered?.reason(server), `${rid} ${generation}`];
    rows.push({ endpoint, intent, rid, target, generation, reason, local: false, key });
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

/**
 * What one process shows of a channel, and what it tells of changes (MON-020, MON-021).
 *
 * Owns which servers were told, and what the channel misses. Leaves rows to the client, and its own server to the server role.
 *
 * 1. A client misses a server if it could call none; both roles miss the store (MON-004).
 * 2. A process that only serves shows its own server as a client would see it (MON-006).
 */
import type { ErrorKindName } from '@zlink/kernel/errors';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import {
  type Monitor,
  refusalError,
  type ServerSnapshot,
  ToldRows,
  type TopologyHealth,
  type TopologyReason,
} from '@zlink/kernel/observe';
import type { ChannelClient } from './client/channel-client.ts';
import type { ServerSubject } from './client/server-rows.ts';
import { serverSnapshot, toldServer } from './server-status.ts';
import type { ChannelServer } from './server/channel-server.ts';

export interface ChannelStatusParts {
  readonly channelName: string;
  readonly monitor: Monitor;
  readonly discovery: Discovery | undefined;
  readonly health: Pick<TopologyHealth, 'refresh'>;
  readonly client: () => ChannelClient | undefined;
  readonly server: () => ChannelServer | undefined;
}

interface ToldServer {
  readonly server: ServerSnapshot;
  /** Of one that is rejected. */
  readonly refusal?: ErrorKindName | undefined;
}

const OWN_SERVER = 'own server';

export class ChannelStatus {
  readonly #parts: ChannelStatusParts;
  readonly #told: ToldRows<ToldServer>;

  constructor(parts: ChannelStatusParts) {
    const { channelName, monitor } = parts;
    this.#parts = parts;
    this.#told = new ToldRows<ToldServer>({
      isEqual: (a, b) => areEqual(a.server, b.server),
      isSamePeer: (a, b) => isSameServer(a.server, b.server),
      asGone: ({ server }) => ({ server: { ...server, state: 'closed', weight: 0, draining: false } }),
      subjectsOf: ({ server }) => subjectsOf({ rid: server.serverRid, address: server.endpoint }),
      tell: ({ server, refusal }, key) => {
        const serverRid = server.serverRid === undefined ? {} : { serverRid: server.serverRid };
        monitor.tell(
          { type: 'zlink.runtime.client_server.server_changed', channelName, server, ...serverRid },
          { subject: key, error: refusalError(server, refusal) },
        );
      },
    });
    parts.discovery?.onHealth(() => this.changed());
  }

  servers(): readonly ServerSnapshot[] {
    const { client, server } = this.#parts;
    return client()?.rows().map(serverSnapshot) ?? server()?.snapshot() ?? []; // 2
  }

  missing(): readonly TopologyReason[] {
    const { client, discovery } = this.#parts;
    const reasons: TopologyReason[] = [];
    if ((discovery?.problem ?? client()?.storeProblem) !== undefined) reasons.push('location_unavailable');
    if (client()?.candidateCount === 0) reasons.push('no_ready_target'); // 1
    return reasons;
  }

  /** Something about a server has changed; undefined: about any of them. */
  changed(subject?: ServerSubject): void {
    const { client, server, health } = this.#parts;
    const rows = client()?.rows(subject);
    if (rows !== undefined) {
      this.#told.update(
        new Map(rows.map((row) => [row.key, { server: toldServer(row), refusal: row.intent?.refusal }])),
        subject && subjectsOf(subject),
      );
    } else {
      this.#told.update(
        new Map(
          server()
            ?.snapshot()
            .map((server) => [OWN_SERVER, { server }]),
        ),
      );
    }
    health.refresh();
  }
}

function subjectsOf({ rid, address }: ServerSubject): string[] {
  return [rid, address].filter((subject) => subject !== undefined);
}

function isSameServer(a: ServerSnapshot, b: ServerSnapshot): boolean {
  if (a.lifecycleGeneration !== b.lifecycleGeneration) return false;
  return a.serverRid !== undefined && a.serverRid === b.serverRid;
}

function areEqual(a: ServerSnapshot, b: ServerSnapshot): boolean {
  if (a.endpoint !== b.endpoint || a.serverRid !== b.serverRid || a.local !== b.local) return false;
  if (a.state !== b.state || a.reason !== b.reason || a.draining !== b.draining) return false;
  return a.weight === b.weight && a.lifecycleGeneration === b.lifecycleGeneration;
}

/**
 * What the log says of monitoring events: each once, under its type (MON-021).
 *
 * Owns levels and what of an event a line shows. Leaves events themselves to the board.
 *
 * 1. Trouble is a warning, and so is the line that ends it: who saw the first one sees the other. A topology that was never
 *    ready so far is no trouble: at a start nobody is connected yet. Neither is a mesh that was ready as it knew nobody, and
 *    now gets to know its first peers; nor a start that fails, which is thrown already.
 * 2. What others can cause as often as they like is limited to one line per second, subject and state; all whom this side does
 *    not know share one.
 * 3. The events of the store are logged by its calls, which know more of them.
 * 4. A line is plain JSON, which has no bigint: a generation is its decimal text.
 */
import type { LinkState } from '../link-state.ts';
import type { RateLimitedLog } from '../rate-limited-log.ts';
import type { EventError } from './event-error.ts';
import type { MonitoringFact } from './monitoring-event.ts';
import type { TopologyStatus } from './snapshot.ts';

type Level = 'info' | 'warn';

interface Line {
  readonly level: Level;
  readonly record: object;
  /** 2 */
  readonly key: string;
  readonly state?: string;
}

export class EventLog {
  readonly #log: RateLimitedLog;
  /** Meshes that had a peer; topologies that were ready, and those that were warned of since (1). */
  readonly #hadPeer = new Set<string>();
  readonly #wereReady = new Set<string>();
  readonly #inTrouble = new Set<string>();

  constructor(log: RateLimitedLog) {
    this.#log = log;
  }

  /** @param subject - one that this side knows (2) */
  write(fact: MonitoringFact, error: EventError | undefined, subject: string | undefined): void {
    const line = this.#lineOf(fact);
    if (line === undefined) return;
    const { level, key, state = '' } = line;
    const record = error === undefined ? line.record : { ...line.record, error: error.message };
    this.#log[level](`${fact.type} ${key}${subject === undefined ? '' : ` ${subject} ${state}`}`, record);
  }

  #lineOf(fact: MonitoringFact): Line | undefined {
    switch (fact.type) {
      case 'zlink.runtime.host.state_changed': {
        const { state } = fact;
        const record = { eventId: 'zlink.runtime.host.state_changed', state };
        return { level: 'info', record, key: state };
      }
      case 'zlink.runtime.host.termination_changed': {
        const { outcome, reason } = fact;
        const record = { eventId: 'zlink.runtime.host.termination_changed', outcome, reason };
        return { level: outcome === 'stopped' ? 'info' : 'warn', record, key: outcome };
      }
      case 'zlink.runtime.mesh_node.state_changed': {
        const { meshName, state, reasons } = fact;
        const record = { eventId: 'zlink.runtime.mesh_node.state_changed', meshName, state, reasons };
        const level = this.#levelOf(`mesh ${meshName}`, fact, this.#hadPeer.has(meshName));
        return { level, record, key: `${meshName} ${state}` };
      }
      case 'zlink.runtime.mesh_node.peer_changed': {
        const { meshName, peer } = fact;
        if (peer.state === 'ready') this.#hadPeer.add(meshName);
        return rowLine(meshName, { eventId: 'zlink.runtime.mesh_node.peer_changed', meshName, ...peer });
      }
      case 'zlink.runtime.mesh_node.channel_changed': {
        const { meshName, channelName } = fact;
        const { role, weight, readyMembers } = fact.channel; // not the members: there may be thousands
        const channel = { meshName, channelName, role, weight, readyMembers };
        const record = { eventId: 'zlink.runtime.mesh_node.channel_changed', ...channel };
        return { level: 'info', record, key: channelName };
      }
      case 'zlink.runtime.mesh_node.routing_id_conflict': {
        const { meshName, nodeRid } = fact;
        const record = { eventId: 'zlink.runtime.mesh_node.routing_id_conflict', meshName, nodeRid };
        return { level: 'warn', record, key: meshName };
      }
      case 'zlink.runtime.client_server.state_changed': {
        const { channelName, state, reasons } = fact;
        const record = { eventId: 'zlink.runtime.client_server.state_changed', channelName, state, reasons };
        return { level: this.#levelOf(`channel ${channelName}`, fact), record, key: `${channelName} ${state}` };
      }
      case 'zlink.runtime.client_server.server_changed': {
        const { channelName, server } = fact;
        return rowLine(channelName, { eventId: 'zlink.runtime.client_server.server_changed', channelName, ...server });
      }
      case 'zlink.runtime.fanout.publisher_changed': {
        const { channelName, publisher } = fact;
        return rowLine(channelName, { eventId: 'zlink.runtime.fanout.publisher_changed', channelName, ...publisher });
      }
      case 'zlink.runtime.location.store_changed':
        return undefined; // 3
    }
  }

  /** 1. @param canLose - whether it ever had what it would miss now */
  #levelOf(topology: string, { state }: TopologyStatus, canLose = true): Level {
    const isTrouble = state === 'degraded' && canLose && this.#wereReady.has(topology);
    if (state === 'ready') this.#wereReady.add(topology);
    if (isTrouble) {
      this.#inTrouble.add(topology);
      return 'warn';
    }
    return this.#inTrouble.delete(topology) && state === 'ready' ? 'warn' : 'info';
  }
}

/** Of a peer, server or publisher. */
interface RowRecord {
  readonly state: LinkState;
  readonly draining?: boolean;
  readonly [field: string]: unknown;
}

function rowLine(key: string, row: RowRecord): Line {
  const { lifecycleGeneration } = row;
  const record =
    typeof lifecycleGeneration === 'bigint' ? { ...row, lifecycleGeneration: `${lifecycleGeneration}` } : row; // 4
  return { level: 'info', record, key, state: row.draining === true ? 'draining' : row.state };
}

/**
 * The values of one collection, from what the host shows of itself.
 *
 * Owns which number of a snapshot or a counter is which metric. Counts nothing by itself (METRIC-003).
 */
import type {
  ClientServerSnapshot,
  HostSnapshot,
  LinkState,
  MessageCounters,
  MessageFlow,
  RateLimitedLog,
  RouteMeshSnapshot,
  StatusBoard,
} from '@zlink/kernel/observe';
import type { READ_METRICS, TOTAL_METRICS } from './metric-list.ts';
import type { ReadMetric } from './read-metric.ts';
import type { TotalMetric } from './total-metric.ts';

/** What metrics are read from. */
export interface MeteredHost {
  readonly board: Pick<StatusBoard, 'snapshot' | 'lost'>;
  counters(): readonly MessageCounters[];
  readonly flow: Pick<MessageFlow, 'droppedRecords'>;
  readonly log: Pick<RateLimitedLog, 'dropped'>;
}

export type ReadMetrics = {
  readonly [N in keyof typeof READ_METRICS]: ReadMetric<(typeof READ_METRICS)[N]['attributes']>;
};

export type TotalMetrics = {
  readonly [N in keyof typeof TOTAL_METRICS]: TotalMetric<(typeof TOTAL_METRICS)[N]['attributes']>;
};

/** There is a connection, and both sides have agreed on it. */
const CONNECTED: ReadonlySet<LinkState> = new Set(['admitted', 'ready', 'notRequired']);

const SOURCES = ['manual', 'automatic', 'both'] as const;

/** What the counters call the reason, and what the metric calls it; others are no failure of a one-way message. */
const DROPPED_REASONS: Readonly<Record<string, string>> = {
  no_handler: 'no_handler',
  decode_error: 'decode_error',
  invalid_frame: 'decode_error',
  too_large: 'decode_error',
  backpressure: 'backpressure',
  not_serving: 'stale_target', // as its dispatch error says
  shutdown: 'shutdown',
};

/** Gauges, all but requests in flight, which only their meters know. */
export function readHost(host: MeteredHost, metrics: ReadMetrics): void {
  const { host: section, routeMeshes, clientServerChannels, fanoutChannels } = host.board.snapshot();
  readSection(section, metrics);
  for (const mesh of routeMeshes) readMesh(mesh, metrics);
  for (const channel of clientServerChannels) readChannel(channel, metrics);
  for (const { channelName, publishers } of fanoutChannels) {
    metrics.publishersReady.add(readyOf(publishers), channelName);
  }
}

export function readTotals(host: MeteredHost, totals: TotalMetrics): void {
  for (const counters of host.counters()) readDropped(counters, totals);
  const { status, event } = host.board.lost;
  totals.overflow.add(status, 'status');
  totals.overflow.add(event, 'event');
  totals.overflow.add(host.flow.droppedRecords, 'trace');
  totals.overflow.add(host.log.dropped, 'log');
}

function readSection({ state, jobs, core }: HostSnapshot, metrics: ReadMetrics): void {
  metrics.hostState.add(1, state);
  metrics.jobsLimit.add(jobs.max);
  metrics.jobsInUse.add(jobs.reserved, 'reserved');
  metrics.jobsInUse.add(jobs.queued, 'queued');
  metrics.receivePaused.add(jobs.flow === 'PAUSED' ? 1 : 0);
  metrics.coreBudget.add(core.budgetBytes);
  metrics.coreQueued.add(core.queuedBytes);
}

function readMesh({ meshName, peers, channels }: RouteMeshSnapshot, metrics: ReadMetrics): void {
  for (const source of SOURCES) {
    const wanted = peers.filter((peer) => peer.source === source && peer.state !== 'closed');
    metrics.meshPeersConfigured.add(wanted.length, meshName, source);
    metrics.meshPeersConnected.add(wanted.filter(({ state }) => CONNECTED.has(state)).length, meshName, source);
    metrics.meshPeersReady.add(readyOf(wanted), meshName, source);
  }
  for (const { channelName, readyMembers } of channels) {
    metrics.meshReadyMembers.add(readyMembers, meshName, channelName);
  }
}

function readChannel({ channelName, role, servers }: ClientServerSnapshot, metrics: ReadMetrics): void {
  if (role !== 'server') metrics.serversReady.add(readyOf(servers), channelName); // a server calls nobody
}

function readDropped(counters: MessageCounters, totals: TotalMetrics): void {
  const { verb, failed, dropped } = counters;
  if (verb !== 'send') return;
  if (failed > 0) addDropped(counters, 'handler_exception', failed, totals);
  for (const [dropReason, count] of Object.entries(dropped)) {
    const reason = DROPPED_REASONS[dropReason];
    if (reason !== undefined) addDropped(counters, reason, count, totals);
  }
}

function addDropped(counters: MessageCounters, reason: string, count: number, totals: TotalMetrics): void {
  const { owner, surface, meshName } = counters;
  if (meshName !== undefined) totals.meshDropped.add(count, meshName, surface, 'send', reason);
  else if (surface === 'channel') totals.serverDropped.add(count, owner, 'send', reason);
}

function readyOf(rows: readonly { readonly state: LinkState }[]): number {
  return rows.filter(({ state }) => state === 'ready').length;
}

/**
 * Every metric of a host: name, kind, unit and attributes (METRIC-001). `docs/metrics.md` shows the same list.
 *
 * Owns the list. Leaves values to who reads or is told them.
 *
 * 1. Values of attributes are closed sets, or names from the registration of the host; never what a peer, a user or a message
 *    brings (METRIC-002).
 */

export interface Metric<A extends readonly string[] = readonly string[]> {
  readonly name: string;
  readonly kind: 'counter' | 'upDownCounter' | 'gauge' | 'histogram';
  readonly unit: string;
  /** Their names, in the order in which values are given. */
  readonly attributes: A;
  readonly description: string;
}

/** Read from snapshots whenever metrics are collected. */
export const READ_METRICS = {
  hostState: gauge('host.state', '{runtime}', ['state'], '1 for the state that the host is in'),
  jobsLimit: gauge('host.jobs.limit', '{job}', [], 'job permits there are'),
  jobsInUse: gauge(
    'host.jobs.in_use',
    '{job}',
    ['state'],
    'job permits taken, by jobs that wait (queued) and the others',
  ),
  receivePaused: gauge('host.receive_paused', '{state}', [], '1 while receiving pauses as too many jobs wait'),
  coreBudget: gauge('host.core.budget', 'By', [], 'memory that links may hold'),
  coreQueued: gauge('host.core.queued', 'By', [], 'memory that links hold'),
  meshPeersConfigured: gauge('mesh_node.peers.configured', '{peer}', ['mesh_name', 'source'], 'peers that are known'),
  meshPeersConnected: gauge('mesh_node.peers.connected', '{peer}', ['mesh_name', 'source'], 'peers with a connection'),
  meshPeersReady: gauge('mesh_node.peers.ready', '{peer}', ['mesh_name', 'source'], 'peers that take messages'),
  meshReadyMembers: gauge(
    'mesh_node.channels.ready_members',
    '{member}',
    ['mesh_name', 'channel_name'],
    'servers of the channel that take messages',
  ),
  meshInFlight: upDownCounter(
    'mesh_node.requests.inflight',
    '{request}',
    ['mesh_name', 'surface'],
    'requests from here that have not ended',
  ),
  serversReady: gauge('client_server.servers.ready', '{server}', ['channel_name'], 'servers that take messages'),
  clientInFlight: upDownCounter(
    'client_server.requests.inflight',
    '{request}',
    ['channel_name'],
    'requests from here that have not ended',
  ),
  publishersReady: gauge(
    'fanout.publishers.ready',
    '{publisher}',
    ['channel_name'],
    'publishers of which something arrived within 15 s',
  ),
} as const;

/** What the host counts anyway: read as well, and told by how much it has grown. */
export const TOTAL_METRICS = {
  meshDropped: counter(
    'mesh_node.messages.dropped',
    '{message}',
    ['mesh_name', 'surface', 'message_kind', 'reason'],
    'one-way messages that arrived here and were not handled',
  ),
  serverDropped: counter(
    'client_server.messages.dropped',
    '{message}',
    ['channel_name', 'message_kind', 'reason'],
    'one-way messages that arrived here and were not handled',
  ),
  overflow: counter(
    'observability.events.overflow',
    '{event}',
    ['source'],
    'snapshots and events that observers did not get, records and log lines that were left out',
  ),
} as const;

/** Told when it happens. */
export const TOLD_METRICS = {
  shutdownDuration: histogram('host.shutdown.duration', ['outcome'], 'how long the shutdown took'),
  shutdownForced: counter(
    'host.shutdown.forced',
    '{operation}',
    ['reason'],
    'shutdowns that left something unfinished',
  ),
  meshSelectionFailures: counter(
    'mesh_node.channel.selection_failures',
    '{failure}',
    ['mesh_name', 'channel_name', 'reason'],
    'calls that ended as no server could be chosen',
  ),
  meshRequestDuration: histogram(
    'mesh_node.request.duration',
    ['mesh_name', 'surface', 'outcome'],
    'how long a request took, from its submission',
  ),
  meshRequestTimeouts: counter(
    'mesh_node.request.timeouts',
    '{request}',
    ['mesh_name', 'surface'],
    'requests whose time ran out',
  ),
  clientSelectionFailures: counter(
    'client_server.selection_failures',
    '{failure}',
    ['channel_name', 'reason'],
    'calls that ended as no server could be chosen',
  ),
  clientRequestDuration: histogram(
    'client_server.request.duration',
    ['channel_name', 'outcome'],
    'how long a request took, from its submission',
  ),
  clientRequestTimeouts: counter(
    'client_server.request.timeouts',
    '{request}',
    ['channel_name'],
    'requests whose time ran out',
  ),
  admissionWait: histogram(
    'send.admission.wait',
    ['surface', 'outcome'],
    'how long a message waited until its link took it, if it had to',
  ),
  storeErrors: counter('location.store.errors', '{error}', ['operation'], 'calls of the stores that failed'),
  renewFailures: counter(
    'location.owner_lease.renew.failures',
    '{failure}',
    [],
    'renewals of the owner lease that failed',
  ),
  renewLateness: histogram(
    'location.owner_lease.renew.lateness',
    [],
    'how much later than due a renewal of the owner lease succeeded',
  ),
} as const;

function counter<const A extends readonly string[]>(name: string, unit: string, attributes: A, description: string) {
  return metric('counter', name, unit, attributes, description);
}

function upDownCounter<const A extends readonly string[]>(
  name: string,
  unit: string,
  attributes: A,
  description: string,
) {
  return metric('upDownCounter', name, unit, attributes, description);
}

function gauge<const A extends readonly string[]>(name: string, unit: string, attributes: A, description: string) {
  return metric('gauge', name, unit, attributes, description);
}

/** Of seconds; the provider chooses the buckets. */
function histogram<const A extends readonly string[]>(name: string, attributes: A, description: string) {
  return metric('histogram', name, 's', attributes, description);
}

function metric<A extends readonly string[], K extends Metric['kind']>(
  kind: K,
  name: string,
  unit: string,
  attributes: A,
  description: string,
): Metric<A> & { readonly kind: K } {
  return Object.freeze({ name: `zlink.${name}`, kind, unit, attributes, description });
}

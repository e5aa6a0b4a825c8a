/** Words that snapshots and events use: closed sets, so that labels and dashboards can rely on them. */

/** How a mesh node, a channel or the store does. */
export type TopologyState = 'starting' | 'ready' | 'degraded' | 'stopping' | 'stopped' | 'failed';

/** Why a topology is not `ready`. */
export type TopologyReason =
  | 'runtime_not_ready'
  | 'no_ready_peer'
  | 'no_ready_target'
  | 'location_unavailable'
  | 'capacity_exceeded'
  | 'draining'
  | 'internal_failure';

/** How an endpoint became known. */
export type EndpointSource = 'manual' | 'automatic' | 'both';

export type ChannelRole = 'client' | 'server' | 'client_and_server';

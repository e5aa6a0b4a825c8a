/** Where messages pass: the end of a channel, of a node or of a publisher, made once and named by every record of it. */

/** Whose messages. */
export type FlowSurface =
  'node' | 'channel' | 'spot' | 'instance_spot' | 'actor' | 'stream' | 'actor_relocation' | 'classic_fanout';

export type ChannelRouteKind = 'route_mesh' | 'client_server';

/** The other end's RID, as records call it. */
type PeerField = 'source_rid' | 'target_rid' | 'server_rid';

/** What all records of one place have in common. */
export interface PlaceFields {
  readonly surface: FlowSurface;
  readonly channel_name?: string;
  readonly channel_route_kind?: ChannelRouteKind;
  readonly mesh_name?: string;
  readonly source_rid?: string;
  readonly target_rid?: string;
  readonly server_rid?: string;
}

export interface FlowPlace {
  readonly fields: PlaceFields;
  /** Undefined: who is at the other end is told to nobody (TRACE-005). */
  readonly peerField: PeerField | undefined;
}

/** Whether messages leave this end, or arrive there. */
export type PlaceSide = 'source' | 'target';

/** @param rid - of this node */
export function nodePlace(side: PlaceSide, meshName: string, rid: string): FlowPlace {
  return meshPlace(side, { surface: 'node', mesh_name: meshName }, rid);
}

/** Of a RouteMesh Channel. @param rid - of this node */
export function meshChannelPlace(side: PlaceSide, meshName: string, channelName: string, rid: string): FlowPlace {
  const channel = { channel_name: channelName, channel_route_kind: 'route_mesh' } as const;
  return meshPlace(side, { surface: 'channel', ...channel, mesh_name: meshName }, rid);
}

/** Of a ClientServer channel. @param rid - of this client or server */
export function clientServerPlace(side: PlaceSide, channelName: string, rid: string): FlowPlace {
  const channel = { channel_name: channelName, channel_route_kind: 'client_server' } as const;
  const own = side === 'source' ? { source_rid: rid } : { server_rid: rid };
  return freeze({ surface: 'channel', ...channel, ...own }, side === 'source' ? 'server_rid' : 'source_rid');
}

/** Of a fanout channel: no record names who publishes, or who receives (TRACE-005). */
export function fanoutPlace(channelName: string): FlowPlace {
  return freeze({ surface: 'classic_fanout', channel_name: channelName }, undefined);
}

function meshPlace(side: PlaceSide, fields: PlaceFields, rid: string): FlowPlace {
  const own = side === 'source' ? { source_rid: rid } : { target_rid: rid };
  return freeze({ ...fields, ...own }, side === 'source' ? 'target_rid' : 'source_rid');
}

function freeze(fields: PlaceFields, peerField: PeerField | undefined): FlowPlace {
  return Object.freeze({ fields: Object.freeze(fields), peerField });
}

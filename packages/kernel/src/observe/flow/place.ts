/**
 * Where messages pass: the end of a channel, of a node or of a publisher, made once and named by every record of it.
 *
 * Owns the fields that all records of one place have in common. Leaves what is known of a message to message-facts.ts.
 *
 * 1. A record of a phase begins as one literal with the fields of its place and those that nearly every message has: there
 *    are several records per message, and adding these one by one would be the half of its cost (measured).
 */
import type { FlowOrigin } from './flow.ts';
import type { Writable } from './message-facts.ts';
import type { FlowPhase, MessageFlowRecord, MessageKind } from './records.ts';

/** Whose messages. */
export type FlowSurface =
  'node' | 'channel' | 'spot' | 'instance_spot' | 'actor' | 'stream' | 'actor_relocation' | 'classic_fanout';

type ChannelRouteKind = 'route_mesh' | 'client_server';

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

/** Begins the record of a phase (1); `peer` is the other end's RID. What only some messages have is added. */
type Begin = (
  timestamp: string,
  phase: FlowPhase,
  message_kind: MessageKind,
  packet_name: string,
  peer: string,
  flow_id: string,
  flow_origin: FlowOrigin,
) => Writable<MessageFlowRecord>;

/** Whether messages leave this end, or arrive there. */
export type PlaceSide = 'source' | 'target';

export interface FlowPlace {
  /** Of a publisher and a subscriber, which have one place: `source`. */
  readonly side: PlaceSide;
  readonly fields: PlaceFields;
  /** Undefined: who is at the other end is told to nobody (TRACE-005). */
  readonly peerField: PeerField | undefined;
  readonly begin: Begin;
}

const eventId = 'zlink.message_flow';
const OF_A_MESSAGE = ['eventId', 'timestamp', 'phase', 'message_kind', 'packet_name', 'flow_id', 'flow_origin'];

/** @param rid - of this node */
export function nodePlace(side: PlaceSide, mesh_name: string, rid: string): FlowPlace {
  const surface = 'node';
  return side === 'source'
    ? place(side, 'target_rid', (timestamp, phase, message_kind, packet_name, target_rid, flow_id, flow_origin) => ({
        eventId,
        timestamp,
        phase,
        surface,
        mesh_name,
        source_rid: rid,
        message_kind,
        packet_name,
        target_rid,
        flow_id,
        flow_origin,
      }))
    : place(side, 'source_rid', (timestamp, phase, message_kind, packet_name, source_rid, flow_id, flow_origin) => ({
        eventId,
        timestamp,
        phase,
        surface,
        mesh_name,
        target_rid: rid,
        message_kind,
        packet_name,
        source_rid,
        flow_id,
        flow_origin,
      }));
}

/** Of a RouteMesh Channel. @param rid - of this node */
export function meshChannelPlace(side: PlaceSide, mesh_name: string, channel_name: string, rid: string): FlowPlace {
  const surface = 'channel';
  const channel_route_kind = 'route_mesh';
  return side === 'source'
    ? place(side, 'target_rid', (timestamp, phase, message_kind, packet_name, target_rid, flow_id, flow_origin) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        mesh_name,
        source_rid: rid,
        message_kind,
        packet_name,
        target_rid,
        flow_id,
        flow_origin,
      }))
    : place(side, 'source_rid', (timestamp, phase, message_kind, packet_name, source_rid, flow_id, flow_origin) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        mesh_name,
        target_rid: rid,
        message_kind,
        packet_name,
        source_rid,
        flow_id,
        flow_origin,
      }));
}

/** Of a ClientServer channel. @param rid - of this client or server */
export function clientServerPlace(side: PlaceSide, channel_name: string, rid: string): FlowPlace {
  const surface = 'channel';
  const channel_route_kind = 'client_server';
  return side === 'source'
    ? place(side, 'server_rid', (timestamp, phase, message_kind, packet_name, server_rid, flow_id, flow_origin) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        source_rid: rid,
        message_kind,
        packet_name,
        server_rid,
        flow_id,
        flow_origin,
      }))
    : place(side, 'source_rid', (timestamp, phase, message_kind, packet_name, source_rid, flow_id, flow_origin) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        server_rid: rid,
        message_kind,
        packet_name,
        source_rid,
        flow_id,
        flow_origin,
      }));
}

/** Of a fanout channel: no record names who publishes, or who receives (TRACE-005). */
export function fanoutPlace(channel_name: string): FlowPlace {
  const surface = 'classic_fanout';
  return place('source', undefined, (timestamp, phase, message_kind, packet_name, _peer, flow_id, flow_origin) => ({
    eventId,
    timestamp,
    phase,
    surface,
    channel_name,
    message_kind,
    packet_name,
    flow_id,
    flow_origin,
  }));
}

/** The fields are those of a record that are not particular to its message. */
function place(side: PlaceSide, peerField: PeerField | undefined, begin: Begin): FlowPlace {
  const entries = Object.entries(begin('', 'sent', 'send', '', '', '', 'inbound'));
  const common = entries.filter(([name]) => name !== peerField && !OF_A_MESSAGE.includes(name));
  const fields = Object.fromEntries(common) as unknown as PlaceFields; // what is left of the literals above
  return Object.freeze({ side, fields: Object.freeze(fields), peerField, begin });
}

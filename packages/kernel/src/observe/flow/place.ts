/**
 * Where messages pass: the end of a channel, of a node or of a publisher, made once and named by every record of it.
 *
 * Owns the fields that all records of one place have in common. Leaves what is known of a message to message-facts.ts.
 *
 * 1. A record of a phase begins as one literal with the fields of its place: there are several records per message, and
 *    spreading the fields into each would be the half of its cost (measured).
 */
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

/** Begins the record of a phase (1); what is known of the message is added. */
type Begin = (timestamp: string, phase: FlowPhase, message_kind: MessageKind) => Writable<MessageFlowRecord>;

export interface FlowPlace {
  readonly fields: PlaceFields;
  /** Undefined: who is at the other end is told to nobody (TRACE-005). */
  readonly peerField: PeerField | undefined;
  readonly begin: Begin;
}

/** Whether messages leave this end, or arrive there. */
export type PlaceSide = 'source' | 'target';

const eventId = 'zlink.message_flow';
const OF_A_PHASE = ['eventId', 'timestamp', 'phase', 'message_kind'];

/** @param rid - of this node */
export function nodePlace(side: PlaceSide, mesh_name: string, rid: string): FlowPlace {
  const surface = 'node';
  return side === 'source'
    ? place('target_rid', (timestamp, phase, message_kind) => {
        return { eventId, timestamp, phase, surface, mesh_name, source_rid: rid, message_kind };
      })
    : place('source_rid', (timestamp, phase, message_kind) => {
        return { eventId, timestamp, phase, surface, mesh_name, target_rid: rid, message_kind };
      });
}

/** Of a RouteMesh Channel. @param rid - of this node */
export function meshChannelPlace(side: PlaceSide, mesh_name: string, channel_name: string, rid: string): FlowPlace {
  const surface = 'channel';
  const channel_route_kind = 'route_mesh';
  return side === 'source'
    ? place('target_rid', (timestamp, phase, message_kind) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        mesh_name,
        source_rid: rid,
        message_kind,
      }))
    : place('source_rid', (timestamp, phase, message_kind) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        mesh_name,
        target_rid: rid,
        message_kind,
      }));
}

/** Of a ClientServer channel. @param rid - of this client or server */
export function clientServerPlace(side: PlaceSide, channel_name: string, rid: string): FlowPlace {
  const surface = 'channel';
  const channel_route_kind = 'client_server';
  return side === 'source'
    ? place('server_rid', (timestamp, phase, message_kind) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        source_rid: rid,
        message_kind,
      }))
    : place('source_rid', (timestamp, phase, message_kind) => ({
        eventId,
        timestamp,
        phase,
        surface,
        channel_name,
        channel_route_kind,
        server_rid: rid,
        message_kind,
      }));
}

/** Of a fanout channel: no record names who publishes, or who receives (TRACE-005). */
export function fanoutPlace(channel_name: string): FlowPlace {
  const surface = 'classic_fanout';
  return place(undefined, (timestamp, phase, message_kind) => {
    return { eventId, timestamp, phase, surface, channel_name, message_kind };
  });
}

/** The fields are those of a record that are not particular to it. */
function place(peerField: PeerField | undefined, begin: Begin): FlowPlace {
  const entries = Object.entries(begin('', 'sent', 'send')).filter(([name]) => !OF_A_PHASE.includes(name));
  const fields = Object.fromEntries(entries) as unknown as PlaceFields; // what is left of the literals above
  return Object.freeze({ fields: Object.freeze(fields), peerField, begin });
}

/**
 * What is known of one message at one point of its way, and how records and spans say it.
 *
 * Owns the step from facts to fields. Leaves when something is recorded to calls and dispatches, which are messages themselves.
 */
import type { CarriedFlow } from './flow.ts';
import type { FlowPlace, PlaceSide } from './place.ts';
import type { FlowOutcome, MessageFields, MessageKind } from './records.ts';

/** Of a link, what never changes. */
export interface FlowLink {
  readonly correlationScope: { readonly own: string; readonly peer: string };
  readonly peer: { readonly rid: string; readonly endpoint: string };
}

export interface FollowedMessage {
  /** Empty: it has none, as the error that answers a request. */
  readonly packetName: string;
  readonly flow: CarriedFlow | undefined;
  readonly link: FlowLink | undefined;
  /** Of a request that has one by now; otherwise 0. */
  readonly correlation: number;
  /** Of an event, as its publisher gave it. */
  readonly topic?: string | Uint8Array | undefined;
}

/** Of a request that this process makes (`source`) or serves (`target`): the same at both ends of the link (TRACE-020). */
export function correlationId(
  { correlationScope }: Pick<FlowLink, 'correlationScope'>,
  side: PlaceSide,
  correlation: number,
): string {
  return `${side === 'source' ? correlationScope.own : correlationScope.peer}${correlation}`;
}

/** For spans. */
export function messageFields(
  place: FlowPlace,
  kind: MessageKind,
  message: FollowedMessage,
  outcome: FlowOutcome | undefined,
): MessageFields {
  const fields: Writable<MessageFields> = { ...place.fields, message_kind: kind };
  addMessage(fields, place, message);
  if (outcome !== undefined) fields.outcome = outcome;
  return fields;
}

/** Adds what is known of the message. */
export function addMessage(fields: Writable<MessageFields>, place: FlowPlace, message: FollowedMessage): void {
  const { packetName, flow, link, topic } = message;
  if (packetName !== '') fields.packet_name = packetName;
  if (link !== undefined && place.peerField !== undefined) {
    fields[place.peerField] = link.peer.rid;
    addLink(fields, place, link, message.correlation);
  }
  if (topic !== undefined) fields.topic = topicText(topic);
  if (flow !== undefined) {
    fields.flow_id = flow.id;
    fields.flow_origin = flow.origin;
  }
}

/** Adds what only some links and messages have. */
export function addLink(
  fields: Writable<MessageFields>,
  { side }: FlowPlace,
  link: FlowLink,
  correlation: number,
): void {
  if (link.peer.endpoint !== '') fields.endpoint = link.peer.endpoint;
  if (correlation !== 0) fields.correlation_id = correlationId(link, side, correlation);
}

export function topicText(topic: string | Uint8Array): string {
  return typeof topic === 'string' ? topic : topicDecoder.decode(topic);
}

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

const topicDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

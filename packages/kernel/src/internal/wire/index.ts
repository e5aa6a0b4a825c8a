export { beaconParts, checkBeacon, isBeaconTopic } from './beacon.ts';
export { EventBatch } from './event-batch.ts';
export { EventReader } from './event-reader.ts';
export { isAskedFor, otherRunParts, refusedRun, runOf, runTopic, topicsOf } from './event-topics.ts';
export {
  type ChannelMembership,
  DESCRIPTOR_BYTES,
  type Descriptor,
  DescriptorState,
  EndpointKind,
  ObjectRole,
  RejectReason,
  encodeDescriptor,
  encodeHello,
} from './hello.ts';
export {
  EVENT_BYTES,
  EVENT_FRAME_BYTES,
  EXTERNAL_BYTES,
  FLUSH_BYTES,
  HANDSHAKE_LIMIT,
  HANDSHAKE_TIMEOUT_MS,
  HEADER_BYTES,
  HELLO_BYTES,
  LIVENESS_DEADLINE_MS,
  METADATA_BYTES,
  MIN_WINDOW_BYTES,
  NAME_LIMIT,
  PENDING_LIMIT,
  PROBE_INTERVAL_MS,
  RECORD_COST_BYTES,
  TRACE_BYTES,
  WAITING_LIMIT,
  WIRE_MAJOR,
  WIRE_MINOR,
} from './limits.ts';
export { NameIndex, type OutboundName } from './names.ts';
export { NEEDLESS_LINK, needsLink, type NodeRoles } from './needs-link.ts';
export type { OutboundTrace } from './outbound-trace.ts';
export { RecordKind } from './record.ts';
export { areSameBytes } from './same-bytes.ts';

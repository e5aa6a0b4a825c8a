/** Packet descriptors, what may be sent, schemas and metadata. */
export { decodeMetadata, EMPTY_METADATA, metadata, MetadataBuilder } from './metadata.ts';
export type { Metadata } from './metadata.ts';
export { classOf, resolveOutbound, resolveRequest, ZLinkMessage } from './outbound.ts';
export type { Sendable } from './outbound.ts';
export { message, packetContract, request } from './packet.ts';
export type {
  DeclaredType,
  MessageType,
  OutboundMessage,
  PacketContract,
  PacketKey,
  PacketOptions,
  ReplyContract,
  RequestType,
  ResolvedPacket,
  Type,
} from './packet.ts';
export { validateInbound, validateOutbound } from './schema.ts';
export type { StandardSchemaV1 } from './schema.ts';

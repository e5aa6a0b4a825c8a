export { createHost, type Host, type HostCodecs, type RuntimeQuery } from './host.ts';
export type { HostOptions, Profile } from './host-options.ts';
export type { RouteClient } from './route-client.ts';
export type { ShutdownResult } from './shutdown.ts';
export type { CurveSecurity } from '@zlink/core-binding';
export type {
  ChannelServerBuilder,
  ClientServerChannelBuilder,
  ClientServerClientBuilder,
  ClientServerRuntime,
  ClientServerServerBuilder,
  ServerStatus,
} from '@zlink/clientserver';
export type { RequestCall, SendCall } from '@zlink/kernel/call';
export type { Codec, CodecExtension, CodecRegistrar } from '@zlink/kernel/codec';
export type {
  ChannelContext,
  DispatchKind,
  Filter,
  FanoutContext,
  FilterContext,
  MessageContext,
  NodeContext,
  RequestHandler,
  SendHandler,
  ServiceProvider,
  ServiceScope,
} from '@zlink/kernel/dispatch';
export { ConfigurationError, ErrorKind, type ErrorKindName, ZLinkError } from '@zlink/kernel/errors';
export type { HostedService, HostState } from '@zlink/kernel/lifecycle';
export {
  message,
  type MessageType,
  metadata,
  type Metadata,
  type OutboundMessage,
  type PacketKey,
  type PacketOptions,
  request,
  type RequestType,
  type Sendable,
  type StandardSchemaV1,
  type Type,
  ZLinkMessage,
} from '@zlink/kernel/message';
export type { LinkState, Logger, MessageCounters, UnhandledListener } from '@zlink/kernel/observe';

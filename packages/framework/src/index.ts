export { createHost, type Host, type HostCodecs } from './host.ts';
export type { DiagnosticsOptions } from './options/diagnostics-options.ts';
export type { HostOptions } from './options/host-options.ts';
export type { Profile } from './options/job-queue.ts';
export type { LocationOptions, RouteTiming } from './options/location-options.ts';
export type {
  MeshChannelBuilder,
  MeshChannelRuntime,
  MeshChannelServerBuilder,
  MeshPeers,
  PeerStatus,
  RouteMeshBuilder,
  RouteMeshRuntime,
} from '@zlink/channel';
export { createCurveKeys, type CurveKeys, type CurveSecurity } from '@zlink/core-binding';
export type {
  ClientServerChannelBuilder,
  ClientServerClientBuilder,
  ClientServerRuntime,
  ClientServerServerBuilder,
  ServerStatus,
} from '@zlink/clientserver';
export type {
  FanoutChannelBuilder,
  FanoutClient,
  FanoutConnections,
  FanoutRuntime,
  PublisherStatus,
} from '@zlink/fanout';
export type { FanoutPublishCall, RequestCall, RouteClient, SendCall } from '@zlink/kernel/call';
export type { Codec, CodecExtension, CodecRegistrar, PayloadSink } from '@zlink/kernel/codec';
export type {
  ChannelContext,
  ChannelServerBuilder,
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
export { ConfigurationError, ErrorKind, type ErrorKindName, isZLinkError, ZLinkError } from '@zlink/kernel/errors';
export type { ReceiveFlow } from '@zlink/kernel/internal/execution';
export type { ListenerStatus, RuntimeQuery, TestSurroundings } from '@zlink/kernel/internal/host';
export type { HostedService, HostState, ShutdownResult } from '@zlink/kernel/lifecycle';
export {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type RelocationStore,
} from '@zlink/kernel/location';
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
export type {
  Capacity,
  ChannelRole,
  ClientServerSnapshot,
  DiagnosticsLevel,
  EndpointSource,
  EventError,
  FanoutSnapshot,
  Flow,
  FlowOrigin,
  FlowSurface,
  HostSnapshot,
  LinkState,
  LinkTraffic,
  LocationSnapshot,
  Logger,
  MeshChannelSnapshot,
  MessageCounters,
  MonitoringEvent,
  MonitoringFact,
  ObservedEvent,
  ObservedSnapshot,
  PeerSnapshot,
  PlacementSnapshot,
  PublisherSnapshot,
  RouteMeshSnapshot,
  RuntimeSnapshot,
  ServerSnapshot,
  SourceKind,
  TopologyReason,
  TopologyState,
  TopologyStatus,
  TrafficTotals,
  UnhandledListener,
} from '@zlink/kernel/observe';
export type { TelemetryOptions } from '@zlink/telemetry';

/** What operators see: log records and counters. */
export { boundedList } from './bounded-list.ts';
export { boundedText, errorText } from './error-text.ts';
export type { LinkState } from './link-state.ts';
export { guardLogger, stderrLogger } from './logger.ts';
export type { Logger } from './logger.ts';
export { LoopWatch } from './loop-watch.ts';
export type { MessageBacklog, MessageCounters } from './message-counters.ts';
export { RateLimitedLog } from './rate-limited-log.ts';
export { guardUnhandled } from './unhandled.ts';
export type { UnhandledListener } from './unhandled.ts';
export { logUnhandled } from './unhandled-log.ts';
export { StrayCounters } from './stray-counters.ts';
export {
  CarriedFlow,
  clientServerPlace,
  correlationId,
  type DiagnosticsLevel,
  diagnosticsLevels,
  type DispatchErrorAction,
  type DispatchErrorReason,
  type DispatchErrorRecord,
  fanoutPlace,
  type Flow,
  flowOf,
  type FlowOrigin,
  type FlowOutcome,
  type FlowPhase,
  type FlowPlace,
  type FlowReason,
  type FlowSurface,
  type FollowedMessage,
  isDiagnosticsLevel,
  meshChannelPlace,
  type MessageFields,
  messageFields,
  MessageFlow,
  type MessageFlowOptions,
  type MessageFlowRecord,
  type MessageKind,
  type MessageSpan,
  nodePlace,
  requireFlow,
  setFlow,
  type SpanKind,
  type SpanTracer,
  TraceContext,
} from './flow/index.ts';
export type {
  AdmissionOutcome,
  CallLabels,
  CallMeter,
  HostMeter,
  RequestOutcome,
  SelectionFailure,
  StoreOperation,
} from './meter.ts';
export type { ChannelRole, EndpointSource, TopologyReason, TopologyState } from './status/closed-sets.ts';
export type { EventError } from './status/event-error.ts';
export type { ObservedEvent } from './status/event-queue.ts';
export type { LinkTraffic, TrafficTotals } from './status/link-traffic.ts';
export type { EventNote, Monitor, MonitoringEvent, MonitoringFact, SourceKind } from './status/monitoring-event.ts';
export { NO_MONITOR } from './status/no-monitor.ts';
export { refusalError } from './status/refusal-error.ts';
export type {
  Capacity,
  ClientServerSnapshot,
  FanoutSnapshot,
  HostSnapshot,
  LocationSnapshot,
  MeshChannelSnapshot,
  PeerSnapshot,
  PlacementSnapshot,
  PublisherSnapshot,
  RouteMeshSnapshot,
  RuntimeSnapshot,
  ServerSnapshot,
  TopologyStatus,
} from './status/snapshot.ts';
export type { ObservedSnapshot } from './status/snapshot-slot.ts';
export { type SnapshotSections, StatusBoard } from './status/status-board.ts';
export { ToldRows } from './status/told-rows.ts';
export { TopologyHealth, type TopologyStage } from './status/topology-health.ts';

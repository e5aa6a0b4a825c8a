/** How messages are followed: flows, their records, and the port to spans. */
export { CarriedFlow, type Flow, type FlowOrigin, requireFlow } from './flow.ts';
export { type DiagnosticsLevel, diagnosticsLevels, isDiagnosticsLevel } from './level.ts';
export { correlationId, type FollowedMessage, messageFields } from './message-facts.ts';
export { MessageFlow, type MessageFlowOptions } from './message-flow.ts';
export {
  clientServerPlace,
  fanoutPlace,
  type FlowPlace,
  type FlowSurface,
  meshChannelPlace,
  nodePlace,
} from './place.ts';
export type {
  DispatchErrorAction,
  DispatchErrorReason,
  DispatchErrorRecord,
  FlowOutcome,
  FlowPhase,
  FlowReason,
  MessageFields,
  MessageFlowRecord,
  MessageKind,
} from './records.ts';
export { flowOf, setFlow } from './signal-flow.ts';
export type { MessageSpan, SpanKind, SpanTracer } from './span-tracer.ts';
export { TraceContext } from './trace-context.ts';

export type { FanoutPublishCall, RequestCall, SendCall } from './call.ts';
export {
  carriedBy,
  type FollowedCall,
  type FollowedPath,
  noteUnexpectedReply,
  sendAccepted,
  sendFailed,
  startSpan,
} from './call-points.ts';
export type { CallPath, RoutableCall } from './call-path.ts';
export { type CallTerms, callTerms } from './call-terms.ts';
export { OutboundPhase } from './outbound-phase.ts';
export { rejected } from './rejected.ts';
export { encodePacket, validatePacket } from './packet-payload.ts';
export { RequestBuilder } from './request-call.ts';
export { type CallPaths, createRouteClient, type RouteClient } from './route-client.ts';
export { SendBuilder } from './send-call.ts';
export { MAX_TIMEOUT_MS, isTimeoutMs } from './timeout.ts';

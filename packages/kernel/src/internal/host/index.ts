export { type Bind, checkListen, checkName, checkRid } from './endpoint-checks.ts';
export { HostLifecycle } from './host-lifecycle.ts';
export type { HostParts, ListenerStatus, Topic, TopologySections, ValidationContext } from './host-parts.ts';
export { hostSections } from './host-snapshot.ts';
export { boundFor, listenFor } from './listen-for.ts';
export {
  checkConcurrency,
  checkListenHosts,
  checkPort,
  checkTimeoutMs,
  checkWeight,
  DIALABLE_ENDPOINT,
  isDialable,
  requireWeight,
} from './option-checks.ts';
export { OwnDescriptor } from './own-descriptor.ts';
export { OwnEndpoint } from './own-endpoint.ts';
export { isDraining, isReady } from './peer-state.ts';
export { queryOf, type RuntimeQuery } from './runtime-query.ts';
export { measuredShutdown, Shutdown, tearDown, UNDO_MS, type Wiring } from './shutdown.ts';
export {
  concealSurroundings,
  type HostSurroundings,
  type HostTransports,
  surroundingsIn,
  type TestSurroundings,
  type TransportNeeds,
} from './test-surroundings.ts';

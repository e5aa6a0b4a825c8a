export { type Bind, checkListen, checkName, checkRid } from './endpoint-checks.ts';
export type { HostParts, ListenerStatus, Topic, ValidationContext } from './host-parts.ts';
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

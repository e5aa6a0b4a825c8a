export type { HostParts, ListenerStatus, Topic, ValidationContext } from './host-parts.ts';
export { boundFor, listenFor } from './listen-for.ts';
export {
  checkConcurrency,
  checkInteger,
  checkListenHosts,
  checkPort,
  checkTimeoutMs,
  checkWeight,
  DIALABLE_ENDPOINT,
  isDialable,
  isObject,
  requireWeight,
} from './option-checks.ts';
export { OwnDescriptor } from './own-descriptor.ts';
export { OwnEndpoint } from './own-endpoint.ts';
export { isDraining, isReady } from './peer-state.ts';

export type { HostParts, ListenerStatus, Topic, ValidationContext } from './host-parts.ts';
export { listenFor } from './listen-for.ts';
export {
  checkConcurrency,
  checkInteger,
  checkListenHosts,
  checkPort,
  checkTimeoutMs,
  checkWeight,
  DIALABLE_ENDPOINT,
  isDialable,
  isWeight,
  WEIGHT_RANGE,
} from './option-checks.ts';

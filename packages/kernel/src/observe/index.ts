/** What operators see: log records and counters. */
export { boundedList } from './bounded-list.ts';
export { boundedText, errorText } from './error-text.ts';
export type { LinkState } from './link-state.ts';
export { guardLogger, stderrLogger } from './logger.ts';
export type { Logger } from './logger.ts';
export { LoopWatch } from './loop-watch.ts';
export type { MessageCounters } from './message-counters.ts';
export { RateLimitedLog } from './rate-limited-log.ts';
export { guardUnhandled } from './unhandled.ts';
export type { UnhandledListener } from './unhandled.ts';
export { logUnhandled } from './unhandled-log.ts';
export { type Stray, StrayCounters } from './stray-counters.ts';

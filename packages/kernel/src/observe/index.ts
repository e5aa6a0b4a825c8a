/** What operators see: log records and counters. */
export { boundedText, errorText } from './error-text.ts';
export type { LinkState } from './link-state.ts';
export { createStderrLogger, guardLogger, stderrLogger } from './logger.ts';
export type { GuardLoggerOptions, Logger, LogLevel, StderrLoggerOptions } from './logger.ts';
export type { MessageCounters } from './message-counters.ts';
export { RateLimitedLog } from './rate-limited-log.ts';
export { guardUnhandled } from './unhandled.ts';
export type { UnhandledListener } from './unhandled.ts';

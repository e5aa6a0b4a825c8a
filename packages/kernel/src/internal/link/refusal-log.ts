/**
 * Counts connections that were not admitted, or were ended because the peer broke the protocol, by reason, and says so at
 * most once a second per reason ([C06], SEC-002, WIRE-003).
 */
import { type Logger, RateLimitedLog } from '../../observe/index.ts';
import type { Clock } from '../time/index.ts';
import { RejectReason, type Rejection } from '../wire/hello.ts';

export class RefusalLog {
  readonly counts: Record<string, number> = {};
  readonly #log: RateLimitedLog;

  constructor(clock: Clock, logger: Logger) {
    this.#log = new RateLimitedLog(logger, clock);
  }

  reject(rejection: Rejection, address: string): void {
    this.count(REASON_LABELS[rejection.reason], address, rejection.text);
  }

  count(label: string, address: string, text?: string): void {
    this.counts[label] = (this.counts[label] ?? 0) + 1;
    this.#log.warn(label, { eventId: 'zlink.transport.connection_refused', reason: label, address, text });
  }

  /** Writes what it still holds back. */
  close(): void {
    this.#log.close();
  }
}

const REASON_LABELS: Readonly<Record<RejectReason, string>> = Object.fromEntries(
  Object.entries(RejectReason).map(([label, code]) => [code, label]),
) as Record<RejectReason, string>; // every code of the closed set is a key

/**
 * Counts connections that were not admitted, or were ended because the peer broke the protocol, by reason, and says so at
 * most once a second per reason ([C06], SEC-002, WIRE-003).
 */
import type { RateLimitedLog } from '../../observe/index.ts';
import { RejectReason, type Rejection } from '../wire/hello.ts';

export class RefusalLog {
  readonly counts: Record<string, number> = {};
  readonly #log: RateLimitedLog;

  constructor(log: RateLimitedLog) {
    this.#log = log;
  }

  reject(rejection: Rejection, address: string): void {
    this.count(REASON_LABELS[rejection.reason], address, rejection.text);
  }

  count(label: string, address: string, text?: string): void {
    this.counts[label] = (this.counts[label] ?? 0) + 1;
    this.#log.warn(`refused ${label}`, { eventId: 'zlink.transport.connection_refused', reason: label, address, text });
  }
}

const REASON_LABELS: Readonly<Record<RejectReason, string>> = Object.fromEntries(
  Object.entries(RejectReason).map(([label, code]) => [code, label]),
) as Record<RejectReason, string>; // every code of the closed set is a key

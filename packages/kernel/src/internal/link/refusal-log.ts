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

  /** A duplicate is counted only: nodes that dial each other make one at every start, and nothing is wrong. */
  reject(rejection: Rejection, address: string): void {
    const label = REASON_LABELS[rejection.reason];
    if (rejection.reason === RejectReason.duplicate) this.#add(label);
    else this.count(label, address, rejection.text);
  }

  count(label: string, address: string, text?: string): void {
    this.#add(label);
    this.#log.warn(`refused ${label}`, { eventId: 'zlink.transport.connection_refused', reason: label, address, text });
  }

  #add(label: string): void {
    this.counts[label] = (this.counts[label] ?? 0) + 1;
  }
}

const REASON_LABELS: Readonly<Record<RejectReason, string>> = Object.fromEntries(
  Object.entries(RejectReason).map(([label, code]) => [code, label]),
) as Record<RejectReason, string>; // every code of the closed set is a key

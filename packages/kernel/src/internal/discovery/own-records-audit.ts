/**
 * Whether what this run has written is still there: its lease and its descriptors (LOC-071).
 *
 * Owns when they are read. Leaves what follows from it to the lease and to each publication.
 *
 * 1. Every 60 s, and at once when it is asked for: after a disruption, an outage, or the return of the own lease. One that
 *    fails is tried again after 1 s.
 * 2. One audit at a time; one that is asked for meanwhile follows it.
 */
import { leaseKey, type StoreRecord } from '../../location/index.ts';
import type { Clock, TimerHandle } from '../time/index.ts';
import type { OwnerLease } from './owner-lease.ts';
import { readRecords } from './read-records.ts';
import type { StoreCalls } from './store-calls.ts';

const auditIntervalMs = 60_000;
const retryAfterMs = 1_000;

/** A publication, for its audit. */
export interface OwnRecord {
  readonly key: string;
  readonly isPublished: boolean;
  found(record: StoreRecord | undefined): void;
}

interface OwnRecordsAuditOptions {
  readonly calls: Pick<StoreCalls, 'read'>;
  readonly lease: Pick<OwnerLease, 'ownerId' | 'foundAbsent'>;
  readonly clock: Clock;
  readonly records: () => Iterable<OwnRecord>;
}

export class OwnRecordsAudit {
  readonly #options: OwnRecordsAuditOptions;
  #timer: TimerHandle | undefined;
  #running: Promise<void> | undefined;
  #isDue = false;
  #isStarted = false;

  constructor(options: OwnRecordsAuditOptions) {
    this.#options = options;
  }

  /** What happened before is of no interest: there was nothing of this run in the store. */
  start(): void {
    this.#isStarted = true;
    this.#isDue = false;
    this.#schedule(auditIntervalMs);
  }

  stop(): void {
    this.#isStarted = false;
    this.#disarm();
  }

  /** Before anything of others is applied, but not yet: the store has just failed. */
  demand(): void {
    this.#isDue = true;
  }

  request(): void {
    this.#isDue = true;
    this.complete().catch(() => {}); // 1: it is tried again
  }

  /** Resolves when no audit is due. @throws StoreError if one fails */
  complete(): Promise<void> {
    if (!this.#isStarted || (!this.#isDue && this.#running === undefined)) return Promise.resolve();
    return (this.#running ??= this.#run());
  }

  async #run(): Promise<void> {
    this.#disarm();
    try {
      while (this.#isDue) await this.#audit(); // 2
      this.#schedule(auditIntervalMs);
    } catch (error) {
      this.#isDue = true;
      this.#schedule(retryAfterMs);
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  async #audit(): Promise<void> {
    this.#isDue = false;
    const { calls, lease, clock, records } = this.#options;
    const audited = [...records()].filter(({ isPublished }) => isPublished);
    const leaseAt = leaseKey(lease.ownerId);
    const beganAtMs = clock.nowMs();
    const found = await readRecords(calls, [leaseAt, ...audited.map(({ key }) => key)]);
    if (!this.#isStarted) return;
    if (!found.has(leaseAt)) lease.foundAbsent(beganAtMs);
    for (const own of audited) own.found(found.get(own.key));
  }

  #schedule(delayMs: number): void {
    if (this.#isStarted) this.#timer = this.#options.clock.setBackgroundTimer(() => this.request(), delayMs);
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#options.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }
}

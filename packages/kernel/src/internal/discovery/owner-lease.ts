/**
 * The lease that proves that this run lives.
 *
 * Owns acquiring, renewing, resuming and releasing it, and the deadline up to which this run may start work (LOC-051).
 * Leaves asking to who admits work, what has to be claimed again after a lapse to the publications, and telling people of a
 * deadline that passes to the FencingNotice.
 *
 * 1. The deadline is reckoned from before the request that succeeded: the store cannot have counted from earlier, so it
 *    still sees the lease for the margin after the deadline, whatever the wall clocks say.
 * 2. No timer decides about admission; the clock is compared at every question. A process that stood still is fenced when
 *    it goes on.
 * 3. Every attempt is a new operation. A repeated one would be answered for an instant at which the lease may long have
 *    ended. An attempt that was given up proves nothing any more.
 * 4. Known to be absent, the lease admits nothing until it was put, or seen, again (LOC-053). Its generation stays. What was
 *    read before the last proof began says nothing about it.
 * 5. At most one attempt is under way and one timer for the next set, none after the end.
 */
import { ZLinkError } from '../../errors/index.ts';
import {
  type CommitResult,
  leaseGenerationOf,
  leaseKey,
  leaseRecord,
  type StoreCondition,
  StoreError,
} from '../../location/index.ts';
import type { HostMeter, Logger } from '../../observe/index.ts';
import type { Clock, TimerHandle } from '../time/index.ts';
import { tryUntil } from './bounded-call.ts';
import type { Admission } from './discovery.ts';
import { FencingNotice } from './fencing-notice.ts';
import type { LocationTiming } from './location-timing.ts';
import type { StoreCalls, StoreChange } from './store-calls.ts';

export interface OwnerLeaseOptions {
  readonly calls: StoreCalls;
  readonly timing: LocationTiming;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly meter?: HostMeter | undefined;
  readonly ownerId?: string;
}

type LeaseState =
  | { readonly kind: 'none' }
  /** Asked for; the store may have it. */
  | { readonly kind: 'claiming' }
  /** `provenAtMs`: when the last proof began. Past the deadline that counts from it this run is fenced (LOC-052). */
  | { readonly kind: 'held'; readonly provenAtMs: number }
  /** Was found absent. `next`: whether it has to be put back, or turned out to be there and has to be renewed. */
  | { readonly kind: 'lapsed'; readonly sinceMs: number; readonly next: 'resume' | 'renewal' }
  | { readonly kind: 'ended'; readonly mayBeStored: boolean };

const retryAfterMs = 1_000;
/** For taking back a claim when nobody waits for it any more. */
const takeBackTimeoutMs = 1_000;

export class OwnerLease implements Admission {
  readonly ownerId: string;
  readonly #calls: StoreCalls;
  readonly #timing: LocationTiming;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meter: HostMeter | undefined;
  readonly #key: string;
  readonly #notice: FencingNotice;
  readonly #listeners: (() => void)[] = [];
  #state: LeaseState = { kind: 'none' };
  #generation = 0n;
  /** Of the next attempt. */
  #timer: TimerHandle | undefined;
  /** Of the attempt under way. */
  #attempt: AbortController | undefined;

  constructor(options: OwnerLeaseOptions) {
    this.ownerId = options.ownerId ?? crypto.randomUUID();
    this.#calls = options.calls;
    this.#timing = options.timing;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#meter = options.meter;
    this.#key = leaseKey(this.ownerId);
    this.#notice = new FencingNotice(options.clock, options.logger, windowMsOf(options.timing));
    // A renewal of which the store has told may be among what it lost.
    this.#calls.onDisruption(() => this.#proveNow());
  }

  /** 0 before the lease was acquired; constant afterwards. */
  get leaseGeneration(): bigint {
    return this.#generation;
  }

  get isOpen(): boolean {
    return this.#state.kind === 'held' && this.#admits(this.#state.provenAtMs); // 2
  }

  /** Until when, by the clock, this run may start work if nothing renews its lease; undefined without a lease. */
  get admitsUntilMs(): number | undefined {
    return this.#state.kind === 'held' ? this.#state.provenAtMs + windowMsOf(this.#timing) : undefined;
  }

  /** That this run is alive, by the store's judgement at the commit. */
  get condition(): StoreCondition {
    return { kind: 'present', key: this.#key };
  }

  /** @param listener - admission was closed and is open again; must not throw */
  onReopened(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /**
   * One try, which may be repeated; after a success renewals go on by themselves.
   *
   * @throws StoreError; or the signal's reason, when what may have been stored was taken back, as far as the store allowed
   */
  async acquire(signal: AbortSignal): Promise<void> {
    if (this.#state.kind !== 'none' && this.#state.kind !== 'claiming')
      throw new ZLinkError('InvalidOperation', 'the owner lease was acquired before');
    try {
      signal.throwIfAborted();
      this.#state = { kind: 'claiming' };
      await this.#claim(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      await this.#takeBack();
      throw signal.reason;
    }
  }

  /** Somebody has read that the lease is absent. @param readBeganAtMs - by the clock */
  foundAbsent(readBeganAtMs: number): void {
    if (this.#state.kind === 'held') {
      if (readBeganAtMs < this.#state.provenAtMs) return; // 4
      this.#lapse('read');
    } else if (this.#state.kind !== 'lapsed' || this.#timer === undefined) return; // it is being put back
    this.#proveNow(); // 3: a renewal under way may have been applied before that read
  }

  /**
   * Stops renewing and deletes the lease, tried until the deadline.
   *
   * @returns why it may still be there, if so
   */
  async release(deadline: AbortSignal): Promise<string | undefined> {
    this.stop();
    if (this.#state.kind !== 'ended' || !this.#state.mayBeStored) return undefined;
    this.#state = { kind: 'ended', mayBeStored: false };
    return tryUntil(deadline, this.#clock, async () => {
      await this.#submit(this.#deletion(), deadline);
      return undefined;
    });
  }

  /** Stops renewing; the lease ends by itself. Admission closes at once. */
  stop(): void {
    this.#giveUpAttempt();
    this.#notice.stop();
    if (this.#state.kind !== 'ended') this.#state = { kind: 'ended', mayBeStored: this.#state.kind !== 'none' };
  }

  async #claim(signal: AbortSignal): Promise<void> {
    const startedAtMs = this.#clock.nowMs();
    const claim = await this.#submit(this.#claimChange(), signal);
    if (claim.kind !== 'applied') return this.#adopt(signal);
    this.#acquired(claim.version, startedAtMs);
  }

  /** Nobody else has this owner id: an earlier try has put the lease, and its answer did not arrive. */
  async #adopt(signal: AbortSignal): Promise<void> {
    const { records } = await this.#calls.read({ records: [this.#key] }, signal);
    const startedAtMs = this.#clock.nowMs();
    const renewal = await this.#submit(this.#renewal(), signal);
    const [record] = records;
    if (record?.value === undefined || renewal.kind !== 'applied') throw notSettled('it came and went');
    this.#acquired(leaseGenerationOf({ value: record.value, version: record.version }), startedAtMs);
  }

  #acquired(generation: bigint, startedAtMs: number): void {
    if (this.#state.kind !== 'claiming') throw notSettled('it was given up meanwhile');
    if (!this.#hold(startedAtMs)) throw notSettled('the answer came too late');
    this.#generation = generation;
  }

  async #takeBack(): Promise<void> {
    if (this.#state.kind === 'none') return;
    this.#state = { kind: 'none' };
    await this.#calls.attempt(this.#deletion(), takeBackTimeoutMs).catch(() => {}); // else it ends by its ttl
  }

  /** Renews or resumes, now; what was under way is given up. */
  #proveNow(): void {
    this.#giveUpAttempt();
    if (this.#state.kind === 'held') void this.#prove(this.#renewal());
    else if (this.#state.kind === 'lapsed')
      void this.#prove(this.#state.next === 'resume' ? this.#resumption() : this.#renewal());
  }

  async #prove(change: StoreChange): Promise<void> {
    const attempt = new AbortController();
    this.#attempt = attempt;
    const startedAtMs = this.#clock.nowMs();
    let result: CommitResult | undefined;
    try {
      result = await this.#submit(change, attempt.signal);
    } catch {
      result = undefined; // what the store's failure means for others, the calls have told
    }
    if (attempt.signal.aborted) return; // 3
    this.#attempt = undefined;
    if (result?.kind === 'conflict') return this.#otherwise();
    const dueAtMs = this.#renewalDueAtMs;
    if (result?.kind === 'applied' && this.#hold(startedAtMs)) {
      if (dueAtMs !== undefined) this.#meter?.leaseRenewed(Math.max(0, startedAtMs - dueAtMs) / 1_000);
      return;
    }
    this.#meter?.leaseRenewalFailed();
    this.#proveAfter(result === undefined ? retryAfterMs : 0); // the store answers, and only this proof is too old
  }

  /** Undefined: what is to be renewed is not there. */
  get #renewalDueAtMs(): number | undefined {
    return this.#state.kind === 'held' ? this.#state.provenAtMs + this.#timing.ownerLeaseRenewIntervalMs : undefined;
  }

  /** The condition failed: a held lease is absent, one that was to be put back is present. */
  #otherwise(): void {
    if (this.#state.kind === 'held') {
      this.#meter?.leaseRenewalFailed();
      this.#lapse('renewal');
      this.#proveNow();
    } else if (this.#state.kind === 'lapsed') {
      this.#state = { ...this.#state, next: this.#state.next === 'resume' ? 'renewal' : 'resume' };
      this.#proveAfter(0);
    }
  }

  #lapse(foundBy: 'renewal' | 'read'): void {
    this.#state = { kind: 'lapsed', sinceMs: this.#clock.nowMs(), next: 'resume' };
    this.#notice.lapsed();
    const text = 'the owner lease is absent; ClientServer servers of this host refuse new messages until it is back';
    this.#logger.warn({ eventId: 'zlink.location.lease_lapsed', foundBy, text });
  }

  /** Takes an applied attempt for a proof; false: its time is over already. */
  #hold(startedAtMs: number): boolean {
    if (!this.#admits(startedAtMs)) return false;
    const nowMs = this.#clock.nowMs();
    const before = this.#state;
    this.#state = { kind: 'held', provenAtMs: startedAtMs };
    // From the request on, not from the answer: only so a slow success and one lost renewal fit before the deadline.
    this.#proveAfter(startedAtMs + this.#timing.ownerLeaseRenewIntervalMs - nowMs);
    const lapsed = before.kind === 'lapsed';
    if (lapsed) this.#tellResumed(Math.round(nowMs - before.sinceMs));
    this.#notice.proven(startedAtMs);
    if (lapsed || (before.kind === 'held' && !this.#admits(before.provenAtMs)))
      for (const listener of this.#listeners) listener();
    return true;
  }

  /** At the level of the record that it ends: who saw that one sees this one. */
  #tellResumed(lapsedMs: number): void {
    const text = `the owner lease is back after ${lapsedMs} ms; ClientServer servers of this host take new messages again`;
    this.#logger.warn({ eventId: 'zlink.location.lease_resumed', lapsedMs, text });
  }

  /** Whether a proof that began then still admits work (1). */
  #admits(provenAtMs: number): boolean {
    return this.#clock.nowMs() < provenAtMs + windowMsOf(this.#timing);
  }

  #proveAfter(delayMs: number): void {
    this.#timer = this.#clock.setBackgroundTimer(() => this.#proveNow(), Math.max(delayMs, 0));
  }

  #giveUpAttempt(): void {
    if (this.#timer !== undefined) this.#clock.clearTimer(this.#timer);
    this.#timer = undefined;
    this.#attempt?.abort();
    this.#attempt = undefined;
  }

  #submit(change: StoreChange, signal: AbortSignal): Promise<CommitResult> {
    return this.#calls.attempt(change, this.#timing.ownerLeaseRenewTimeoutMs, signal);
  }

  #claimChange(): StoreChange {
    return this.#putIfAbsent(leaseRecord.encode({}));
  }

  #resumption(): StoreChange {
    return this.#putIfAbsent(leaseRecord.encode({ leaseGeneration: this.#generation })); // 4
  }

  #putIfAbsent(value: Uint8Array): StoreChange {
    const key = this.#key;
    return {
      operation: 'lease_renew',
      conditions: [{ kind: 'absent', key }],
      mutations: [{ kind: 'put', key, value, ttlMs: this.#timing.ownerLeaseTtlMs }],
    };
  }

  #renewal(): StoreChange {
    return {
      operation: 'lease_renew',
      conditions: [this.condition],
      mutations: [{ kind: 'touch', key: this.#key, ttlMs: this.#timing.ownerLeaseTtlMs }],
    };
  }

  #deletion(): StoreChange {
    return { operation: 'release', conditions: [], mutations: [{ kind: 'delete', key: this.#key }] };
  }
}

/** For so long after it began a proof admits work. */
function windowMsOf({ ownerLeaseTtlMs, ownerLeaseFencingMarginMs }: LocationTiming): number {
  return ownerLeaseTtlMs - ownerLeaseFencingMarginMs;
}

function notSettled(why: string): StoreError {
  return new StoreError('unavailable', 'unknown', `the owner lease could not be acquired: ${why}`);
}

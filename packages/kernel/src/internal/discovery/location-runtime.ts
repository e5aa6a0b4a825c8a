/**
 * What one host has to do with the Location Store.
 *
 * Owns the order of its parts: opened, at work, withdrawn, closed. Leaves each part to its own file.
 *
 * ```text
 *                 ┌ OwnerLease ── OwnRecordsAudit ── EndpointPublication, one per own endpoint
 * StoreCalls ◄────┼ Polling ─► DescriptorWatch ─► WatchedTopology ─► onView of topics
 *                 └ LeaseView          └────────► DeadDescriptors
 * ```
 *
 * 1. Nothing is published before the lease is held, and the lease is released behind the last descriptor (LOC-055).
 * 2. Opening and each claim take at most 10 s (LOC-004). Whoever gives up does not wait for a store that hangs.
 * 3. The store is disposed exactly once, and afterwards no timer is left (LOC-003).
 */
import type { LocationStore, Topology } from '../../location/index.ts';
import { type HostMeter, type Logger, RateLimitedLog } from '../../observe/index.ts';
import { type Clock, type RandomSource, settleWithin } from '../time/index.ts';
import { DeadDescriptors } from './dead-descriptors.ts';
import { DescriptorWatch } from './descriptor-watch.ts';
import type { Admission, Discovery, Publication, PublicationSource, TopologyKind, View } from './discovery.ts';
import { LeaseView } from './lease-view.ts';
import { CALL_TIMEOUT_MS, type LocationTiming } from './location-timing.ts';
import { type OwnRecord, OwnRecordsAudit } from './own-records-audit.ts';
import { OwnerLease } from './owner-lease.ts';
import { Polling } from './polling.ts';
import { EndpointPublication } from './publication.ts';
import { openStore, tookTooLong, withinLimit } from './start-limit.ts';
import { StoreCalls } from './store-calls.ts';

/** Changes of an endpoint need not be written faster than hosts look at the default pace (LOC-061). */
const longestWriteIntervalMs = 1_000;

export interface LocationRuntimeOptions {
  readonly store: LocationStore;
  readonly timing: LocationTiming;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  readonly meter?: HostMeter | undefined;
  /** The public key of the endpoints of this host. */
  readonly securityIdentity: string | undefined;
}

/** A publication as the runtime needs it, whatever its kind. */
interface AnyPublication extends OwnRecord {
  readonly topology: Topology;
  resume(): void;
  settled(): Promise<void>;
  remove(deadline: AbortSignal): Promise<string | undefined>;
  abandon(): void;
}

export class LocationRuntime implements Discovery {
  readonly #options: LocationRuntimeOptions;
  readonly #calls: StoreCalls;
  readonly #lease: OwnerLease;
  readonly #leases: LeaseView;
  readonly #audit: OwnRecordsAudit;
  readonly #dead: DeadDescriptors;
  readonly #watch: DescriptorWatch;
  readonly #polling: Polling;
  readonly #log: RateLimitedLog;
  readonly #publications = new Set<AnyPublication>();
  /** When the try to open has ended, also if nobody waits for it any more. Never rejects. */
  #opened: Promise<void> | undefined;
  #closing: Promise<unknown> | undefined;

  constructor(options: LocationRuntimeOptions) {
    const { store, timing, clock, random, logger, meter } = options;
    this.#options = options;
    this.#log = new RateLimitedLog(logger, clock);
    const calls = new StoreCalls({ store, clock, callTimeoutMs: CALL_TIMEOUT_MS, logger, meter });
    const lease = new OwnerLease({ calls, timing, clock, logger, meter });
    const leases = new LeaseView({ calls, timing, clock });
    const audit = new OwnRecordsAudit({ calls, lease, clock, records: () => this.#publications });
    const dead = new DeadDescriptors({ calls, leases, lease, timing, clock, random, log: this.#log });
    const watch = new DescriptorWatch({ calls, leases, lease, audit, dead, timing, clock, log: this.#log });
    const poll = (): Promise<void> => watch.poll();
    this.#polling = new Polling({ clock, random, intervalMs: timing.pollingIntervalMs, poll });
    this.#calls = calls;
    this.#lease = lease;
    this.#leases = leases;
    this.#audit = audit;
    this.#dead = dead;
    this.#watch = watch;
    this.#connect();
  }

  get admission(): Admission {
    return this.#lease;
  }

  get problem(): string | undefined {
    return this.#calls.problem;
  }

  /** By the clock; undefined without a lease. */
  get leaseValidUntilMs(): number | undefined {
    return this.#lease.admitsUntilMs;
  }

  /** By the clock; undefined before the first. */
  get lastCompleteReadMs(): number | undefined {
    return this.#watch.completeAtMs;
  }

  onHealth(listener: () => void): void {
    this.#calls.onHealth(listener);
  }

  /**
   * Opens the store and acquires the lease, then begins to ask for changes. A runtime that could not be opened is closed.
   *
   * @throws ConfigurationError if the store is of another kind; ZLinkError `Unavailable` after 10 s; or the signal's reason
   */
  async open(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let isOpen = false;
    const tryToOpen = async (limit: AbortSignal): Promise<void> => {
      if (!isOpen) await this.#calls.open(limit);
      isOpen = true;
      limit.throwIfAborted();
      await this.#lease.acquire(limit);
    };
    try {
      await openStore('location store', { clock, signal }, (limit) => {
        const opening = tryToOpen(limit);
        this.#opened = opening.catch(() => {});
        return opening;
      });
    } catch (error) {
      void this.close(); // 2
      throw error;
    }
    this.#leases.start();
    this.#audit.start();
    this.#polling.start();
  }

  async publish<K extends TopologyKind>(source: PublicationSource<K>, signal: AbortSignal): Promise<Publication> {
    const { clock, logger, timing, securityIdentity } = this.#options;
    const writeIntervalMs = Math.min(timing.pollingIntervalMs, longestWriteIntervalMs);
    const parts = { calls: this.#calls, lease: this.#lease, clock, logger, writeIntervalMs, securityIdentity };
    const publication = new EndpointPublication(source, parts);
    this.#publications.add(publication); // also if its claim fails: what may be in the store is removed with the rest
    const tooLate = (): Error => tookTooLong('location store: publishing', this.#calls.problem);
    try {
      await withinLimit({ clock, signal, tooLate }, () => publication.claim());
      return publication;
    } catch (error) {
      publication.abandon();
      throw error;
    }
  }

  watch<K extends TopologyKind>(
    topology: Topology & { readonly kind: K },
    onView: (view: View<K>) => void,
  ): () => void {
    const end = this.#watch.watch(topology, onView);
    this.#polling.soon();
    return end;
  }

  /** Resolves when every publication is written as it is now, or after `timeoutMs`. */
  async settled(timeoutMs: number): Promise<void> {
    const written = Promise.all([...this.#publications].map((publication) => publication.settled()));
    await settleWithin(written, timeoutMs, this.#options.clock);
  }

  /** Removes the own descriptors, then the lease (1), tried until `deadline`. What could not be removed is logged. */
  async withdraw(deadline: AbortSignal): Promise<void> {
    this.#stopWatching();
    await Promise.all([...this.#publications].map((publication) => this.#remove(publication, deadline)));
    const reason = await this.#lease.release(deadline);
    if (reason !== undefined) this.#logFailure({ lease: true, reason });
  }

  /** Ends all timers and disposes the store, once. Gives, and logs, what that threw. */
  close(): Promise<unknown> {
    return (this.#closing ??= this.#end());
  }

  #connect(): void {
    this.#calls.onHealth(() => {
      // From the first failure on: some calls may succeed again before others, and views wait for the audit (FAIL-015).
      if (this.#calls.problem === undefined) this.#audit.request();
      else this.#audit.demand();
      this.#watch.healthChanged();
    });
    this.#calls.onDisruption(() => {
      this.#audit.request();
      this.#watch.disrupted();
      this.#polling.soon();
    });
    this.#lease.onReopened(() => {
      this.#audit.request();
      for (const publication of this.#publications) publication.resume();
    });
    this.#leases.onChanged(() => this.#watch.presenceChanged());
  }

  async #remove(publication: AnyPublication, deadline: AbortSignal): Promise<void> {
    const reason = await publication.remove(deadline);
    if (reason === undefined) return;
    const { kind, name } = publication.topology;
    this.#logFailure({ topology: kind, name, reason });
  }

  #logFailure(failure: object): void {
    this.#options.logger.warn({ eventId: 'zlink.location.withdraw_failed', ...failure });
  }

  #stopWatching(): void {
    this.#polling.stop();
    this.#audit.stop();
    this.#watch.stop();
    this.#dead.stop();
    this.#leases.stop();
  }

  async #end(): Promise<unknown> {
    this.#stopWatching();
    for (const publication of this.#publications) publication.abandon();
    await this.#opened; // what was given up is taken back, in bounded time
    this.#lease.stop();
    this.#log.close();
    return this.#calls.close(); // 3
  }
}

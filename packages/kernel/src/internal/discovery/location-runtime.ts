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
import { ConfigurationError, ZLinkError } from '../../errors/index.ts';
import { isStoreError, type LocationStore, type Topology } from '../../location/index.ts';
import { errorText, type Logger, RateLimitedLog } from '../../observe/index.ts';
import type { Clock, RandomSource } from '../time/index.ts';
import { pause } from './bounded-call.ts';
import { DeadDescriptors } from './dead-descriptors.ts';
import { DescriptorWatch } from './descriptor-watch.ts';
import type { Admission, Discovery, Publication, PublicationSource, TopologyKind, View } from './discovery.ts';
import { LeaseView } from './lease-view.ts';
import type { LocationTiming } from './location-timing.ts';
import { type OwnRecord, OwnRecordsAudit } from './own-records-audit.ts';
import { OwnerLease } from './owner-lease.ts';
import { Polling } from './polling.ts';
import { EndpointPublication } from './publication.ts';
import { withinLimit } from './start-limit.ts';
import { StoreCalls } from './store-calls.ts';

const startLimitMs = 10_000;
const firstPauseMs = 250;
const longestPauseMs = 1_000;

export interface LocationRuntimeOptions {
  readonly store: LocationStore;
  readonly timing: LocationTiming;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** The public key of the endpoints of this host. */
  readonly securityIdentity: string | undefined;
}

/** A publication as the runtime needs it, whatever its kind. */
interface OwnEndpoint extends OwnRecord {
  readonly topology: Topology;
  resume(): void;
  settled(): Promise<void>;
  remove(): Promise<string | undefined>;
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
  readonly #endpoints = new Set<OwnEndpoint>();
  /** When the work of opening has ended, also if nobody waits for it any more. Never rejects. */
  #opened: Promise<void> | undefined;
  #isLeaving = false;
  #closing: Promise<unknown> | undefined;

  constructor(options: LocationRuntimeOptions) {
    const { store, timing, clock, random, logger } = options;
    this.#options = options;
    this.#log = new RateLimitedLog(logger, clock);
    const calls = new StoreCalls({ store, clock, callTimeoutMs: timing.ownerLeaseRenewTimeoutMs, logger });
    const lease = new OwnerLease({ calls, timing, clock, logger });
    const leases = new LeaseView({ calls, timing, clock });
    const audit = new OwnRecordsAudit({ calls, lease, clock, records: () => this.#endpoints });
    const dead = new DeadDescriptors({ calls, leases, lease, timing, clock, random });
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

  /**
   * Opens the store and acquires the lease, then begins to ask for changes. A runtime that could not be opened is closed.
   *
   * @throws ConfigurationError if the store is of another kind; ZLinkError `Unavailable` after 10 s; or the signal's reason
   */
  async open(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let failure: unknown;
    const tooLate = (): Error => unavailable('opening it', failure);
    try {
      await withinLimit({ clock, limitMs: startLimitMs, signal, tooLate }, (limit) => {
        const opening = this.#openAndAcquire(limit, (error) => (failure = error));
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
    signal.throwIfAborted();
    if (this.#isLeaving) throw new ZLinkError('ShuttingDown', 'the host has withdrawn what it published');
    const { clock, logger, securityIdentity } = this.#options;
    const parts = { calls: this.#calls, lease: this.#lease, clock, logger, securityIdentity };
    const publication = new EndpointPublication(source, parts);
    this.#endpoints.add(publication); // also if its claim fails: what may be in the store is removed with the rest
    const tooLate = (): Error => unavailable('publishing', this.#calls.problem);
    try {
      await withinLimit({ clock, limitMs: startLimitMs, signal, tooLate }, () => publication.claim());
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
    const { clock } = this.#options;
    const written = Promise.all([...this.#endpoints].map((endpoint) => endpoint.settled()));
    await new Promise<void>((resolve) => {
      const timer = clock.setTimer(resolve, timeoutMs);
      void written.then(() => {
        clock.clearTimer(timer);
        resolve();
      });
    });
  }

  /** Removes the own descriptors, then the lease (1); bounded by `deadline`. What could not be removed is logged. */
  async withdraw(deadline: AbortSignal): Promise<void> {
    this.#isLeaving = true;
    this.#stopWatching();
    await untilAborted(deadline, this.#remove(deadline));
  }

  /** Ends all timers and disposes the store, once. Gives, and logs, what that threw. */
  close(): Promise<unknown> {
    return (this.#closing ??= this.#end());
  }

  async #openAndAcquire(limit: AbortSignal, onFailure: (error: unknown) => void): Promise<void> {
    let isOpen = false;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        if (!isOpen) await this.#calls.open(limit);
        isOpen = true;
        limit.throwIfAborted();
        return await this.#lease.acquire(limit);
      } catch (error) {
        limit.throwIfAborted();
        if (isStoreError(error) && error.code === 'incompatible')
          throw new ConfigurationError([`location store: ${error.message}`]);
        onFailure(error);
      }
      await pause(pauseMs, { clock: this.#options.clock, signals: [limit] });
    }
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
      for (const endpoint of this.#endpoints) endpoint.resume();
    });
    this.#leases.onChanged(() => this.#watch.presenceChanged());
  }

  async #remove(deadline: AbortSignal): Promise<void> {
    await Promise.all([...this.#endpoints].map((endpoint) => this.#removeOne(endpoint, deadline)));
    try {
      if (!deadline.aborted) await this.#lease.release(deadline);
    } catch (error) {
      if (!deadline.aborted) this.#logFailure({ lease: true, reason: errorText(error) });
    }
  }

  async #removeOne(endpoint: OwnEndpoint, deadline: AbortSignal): Promise<void> {
    const reason = await endpoint.remove();
    if (reason === undefined || deadline.aborted) return;
    const { kind, name } = endpoint.topology;
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
    this.#isLeaving = true;
    this.#stopWatching();
    for (const endpoint of this.#endpoints) endpoint.abandon();
    await this.#opened; // what was given up is taken back, in bounded time
    this.#lease.stop();
    this.#log.close();
    return this.#calls.close(); // 3
  }
}

function unavailable(what: string, cause: unknown): ZLinkError {
  const why = typeof cause === 'string' ? cause : cause === undefined ? 'no answer' : errorText(cause);
  const text = `location store: ${what} took longer than ${startLimitMs} ms: ${why}`;
  return new ZLinkError('Unavailable', text, { cause });
}

/** Waits for `work`, which never rejects, but not beyond the abort. */
function untilAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const onAbort = (): void => resolve();
    signal.addEventListener('abort', onAbort, { once: true });
    void work.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}

/**
 * What others have published in the topologies that this host watches.
 *
 * Owns when a topology is read, and when views become stale. Leaves reading to topology-scan.ts, what is known and who is
 * told to watched-topology.ts, and the beat to polling.ts.
 *
 * 1. A poll is one read: the stamps of all watched topologies and the own lease. A topology is read when its stamp is
 *    another one, 30 s after it was read last, and after an outage or disruption (LOC-061).
 * 2. Own lease and own records are read first, before anything of others is applied (FAIL-015).
 * 3. After a disruption, and when a stamp shows that history was lost, nobody's absence is believed for so long as owners
 *    need to put their records back. That is decided anew with each reading, for it takes long.
 * 4. A view is stale once the store was away for longer than the grace, until its topology was read again (LOC-064).
 * 5. One topology that cannot be read, as it is too large or never at rest, keeps its view and spoils nothing else.
 */
import { isStoreError, leaseKey, stampKey, type Topology } from '../../location/index.ts';
import { errorText, type RateLimitedLog } from '../../observe/index.ts';
import type { Clock, TimerHandle } from '../time/index.ts';
import type { DeadDescriptors } from './dead-descriptors.ts';
import type { TopologyKind, View } from './discovery.ts';
import type { LeaseView } from './lease-view.ts';
import type { LocationTiming } from './location-timing.ts';
import type { OwnRecordsAudit } from './own-records-audit.ts';
import type { OwnerLease } from './owner-lease.ts';
import { readRecords } from './read-records.ts';
import type { StoreCalls } from './store-calls.ts';
import { scanTopology, type TopologyScanParts } from './topology-scan.ts';
import { type Surroundings, WatchedTopology } from './watched-topology.ts';

const rescanAfterMs = 30_000;

interface DescriptorWatchOptions {
  readonly calls: Pick<StoreCalls, 'read' | 'unjudged' | 'problem' | 'failingSinceMs'>;
  readonly leases: Pick<LeaseView, 'learn' | 'retain' | 'isPresent'>;
  readonly lease: Pick<OwnerLease, 'ownerId' | 'foundAbsent'>;
  readonly audit: Pick<OwnRecordsAudit, 'complete'>;
  readonly dead: Pick<DeadDescriptors, 'sweep'>;
  readonly timing: LocationTiming;
  readonly clock: Clock;
  readonly log: RateLimitedLog;
}

export class DescriptorWatch {
  readonly #options: DescriptorWatchOptions;
  readonly #scanParts: TopologyScanParts;
  /** By the key of the stamp. */
  readonly #topologies = new Map<string, WatchedTopology<TopologyKind>>();
  /** Read anew whatever the stamps say (1). */
  readonly #outdated = new Set<WatchedTopology<TopologyKind>>();
  /** Those that could not be read the last time (5). */
  readonly #unsettled = new Set<WatchedTopology<TopologyKind>>();
  #isDisrupted = false;
  /** 3 */
  #doubtsUntilMs = -Infinity;
  #failingSinceMs: number | undefined;
  #staleTimer: TimerHandle | undefined;
  #completeAtMs: number | undefined;
  #isStopped = false;

  constructor(options: DescriptorWatchOptions) {
    this.#options = options;
    const { calls, leases, log } = options;
    this.#scanParts = {
      calls: calls.unjudged,
      leases,
      onUnreadable: ({ kind, name }, error) =>
        log.warn('descriptor_unreadable', {
          eventId: 'zlink.location.descriptor_unreadable',
          topology: kind,
          name,
          error: errorText(error),
        }),
    };
  }

  /** Since when, by the clock, nothing that others had published was unknown here, as of the last poll that says so. */
  get completeAtMs(): number | undefined {
    return this.#completeAtMs;
  }

  watch<K extends TopologyKind>(
    topology: Topology & { readonly kind: K },
    onView: (view: View<K>) => void,
  ): () => void {
    const key = stampKey(topology);
    const watched = this.#topologies.get(key) ?? new WatchedTopology<TopologyKind>(topology);
    this.#topologies.set(key, watched);
    watched.show(this.#surroundings()); // before there is this watcher, who must not be told from within
    // The kind is a part of the key, so all that is read under it is of kind K.
    const end = watched.watch(onView as (view: View<TopologyKind>) => void);
    return () => {
      end();
      if (watched.isWatched || this.#topologies.get(key) !== watched) return;
      this.#topologies.delete(key);
      this.#outdated.delete(watched);
      this.#unsettled.delete(watched);
    };
  }

  /** Never rejects. */
  async poll(): Promise<void> {
    try {
      await this.#poll();
    } catch (error) {
      if (isStoreError(error)) return; // told where the health of the store is; the next poll comes
      const { log } = this.#options;
      log.error('poll_failed', { eventId: 'zlink.location.poll_failed', error: errorText(error) });
    }
  }

  /** The store has failed, or works again. */
  healthChanged(): void {
    const { calls, clock, timing } = this.#options;
    this.#clearStaleTimer();
    if (this.#isStopped) return;
    if (calls.failingSinceMs === undefined) {
      this.#becomeStaleIfDue(); // the timer may be late
      this.#readAllAnew();
    } else {
      const remainingMs = calls.failingSinceMs + timing.storeFailureGraceMs - clock.nowMs();
      this.#staleTimer = clock.setBackgroundTimer(() => this.#becomeStaleIfDue(), Math.max(0, remainingMs));
    }
    this.#failingSinceMs = calls.failingSinceMs;
    this.#showAll();
  }

  /** What the store has acknowledged may be lost. */
  disrupted(): void {
    this.#isDisrupted = true;
    this.#readAllAnew();
  }

  /** Who is taken for alive has changed. */
  presenceChanged(): void {
    if (!this.#isStopped) this.#showAll();
  }

  stop(): void {
    this.#isStopped = true;
    this.#clearStaleTimer();
  }

  async #poll(): Promise<void> {
    const { lease, audit, calls, dead, clock } = this.#options;
    const beganAtMs = clock.nowMs();
    const ownLeaseKey = leaseKey(lease.ownerId);
    const topologies = [...this.#topologies.values()];
    const found = await readRecords(calls, [ownLeaseKey, ...topologies.map((watched) => watched.stampKey)]);
    if (this.#isStopped) return;
    if (!found.has(ownLeaseKey)) lease.foundAbsent(beganAtMs);
    for (const watched of topologies) this.#noteLoss(watched, found.get(watched.stampKey)?.version);
    await audit.complete(); // 2
    for (const watched of topologies) await this.#readIfDue(watched, found.get(watched.stampKey)?.version);
    if (this.#isStopped) return;
    if (this.#unsettled.size === 0) this.#completeAtMs = beganAtMs;
    dead.sweep(this.#topologies.values());
  }

  async #readIfDue(watched: WatchedTopology<TopologyKind>, stamp: bigint | undefined): Promise<void> {
    if (this.#isStopped || !watched.isWatched || !this.#isDue(watched, stamp)) return;
    this.#outdated.delete(watched); // again if something happens meanwhile
    let isTaken = false;
    try {
      isTaken = await this.#read(watched, stamp);
    } catch (error) {
      if (!isStoreError(error) || this.#isStopped) throw error;
      await this.#options.calls.read({}); // if this fails, too, it is the store, and the poll ends
      this.#failed(watched, errorText(error)); // 5
    } finally {
      if (!isTaken) this.#outdated.add(watched);
    }
  }

  async #read(watched: WatchedTopology<TopologyKind>, stamp: bigint | undefined): Promise<boolean> {
    const beganAtMs = this.#options.clock.nowMs();
    const reading = await scanTopology(this.#scanParts, watched.topology, watched.entries, stamp);
    if (this.#isStopped) return false;
    if (reading === undefined) {
      this.#tellUnsettled(watched, 'it changed during each of three readings');
      return false;
    }
    this.#noteLoss(watched, reading.stamp); // 3
    watched.take(reading, beganAtMs, !this.#doubtsAbsence);
    this.#unsettled.delete(watched);
    this.#options.leases.retain(this.#allOwners());
    watched.show(this.#surroundings());
    return true;
  }

  #failed(watched: WatchedTopology<TopologyKind>, problem: string): void {
    watched.fail(problem);
    watched.show(this.#surroundings());
    this.#tellUnsettled(watched, problem);
  }

  /** Once, until it was read. */
  #tellUnsettled(watched: WatchedTopology<TopologyKind>, reason: string): void {
    if (this.#unsettled.has(watched)) return;
    this.#unsettled.add(watched);
    const { kind, name } = watched.topology;
    this.#options.log.warn(`topology_unsettled ${watched.stampKey}`, {
      eventId: 'zlink.location.topology_unsettled',
      topology: kind,
      name,
      reason,
    });
  }

  #isDue(watched: WatchedTopology<TopologyKind>, stamp: bigint | undefined): boolean {
    if (!watched.hasStamp(stamp) || this.#outdated.has(watched)) return true;
    if (watched.hasDoubtful && !this.#doubtsAbsence) return true;
    return this.#options.clock.nowMs() - (watched.readAtMs ?? -Infinity) >= rescanAfterMs;
  }

  /** 3: asked with an answer of the store at hand, so the time for owners begins now. */
  #noteLoss(watched: WatchedTopology<TopologyKind>, stamp: bigint | undefined): void {
    const { clock, timing } = this.#options;
    if (!this.#isDisrupted && !watched.hasLostStamp(stamp)) return;
    this.#isDisrupted = false;
    this.#doubtsUntilMs = clock.nowMs() + timing.ownerLeaseRenewIntervalMs + timing.ownerLeaseRenewTimeoutMs;
  }

  get #doubtsAbsence(): boolean {
    return this.#options.clock.nowMs() < this.#doubtsUntilMs;
  }

  #readAllAnew(): void {
    for (const watched of this.#topologies.values()) this.#outdated.add(watched);
  }

  #becomeStaleIfDue(): void {
    const { clock, timing } = this.#options;
    const sinceMs = this.#failingSinceMs;
    if (sinceMs === undefined || clock.nowMs() - sinceMs < timing.storeFailureGraceMs) return;
    for (const watched of this.#topologies.values()) watched.becomeStale();
    this.#readAllAnew(); // it may be the writes alone that fail
    this.#showAll();
  }

  #showAll(): void {
    const surroundings = this.#surroundings();
    for (const watched of this.#topologies.values()) watched.show(surroundings);
  }

  #surroundings(): Surroundings {
    const { calls, leases } = this.#options;
    return { isPresent: (ownerId) => leases.isPresent(ownerId), problem: calls.problem };
  }

  #allOwners(): Set<string> {
    return new Set([...this.#topologies.values()].flatMap((watched) => [...watched.owners()]));
  }

  #clearStaleTimer(): void {
    if (this.#staleTimer !== undefined) this.#options.clock.clearTimer(this.#staleTimer);
    this.#staleTimer = undefined;
  }
}

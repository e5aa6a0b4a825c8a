/**
 * One topology that somebody of this host watches: what is known of it, and who is told.
 *
 * Owns the last complete reading and the view of it. Leaves reading to topology-scan.ts, when to read to
 * descriptor-watch.ts, and who is alive to lease-view.ts.
 *
 * 1. A view shows one complete reading; nothing is added or removed in between (LOC-064). Only who is present, and what is
 *    known of the store, follows at once.
 * 2. A watcher is called only when its view has changed, and never from within `watch`.
 */
import { stampKey, type Topology } from '../../location/index.ts';
import type { DescriptorOf, DiscoveredDescriptor, TopologyKind, View } from './discovery.ts';
import { type DescriptorEntries, type DescriptorEntry, ownersOf, type WholeReading } from './topology-scan.ts';

interface Watcher<K extends TopologyKind> {
  readonly onView: (view: View<K>) => void;
  told: View<K> | undefined;
}

/** What a view shows beside the reading. */
export interface Surroundings {
  readonly isPresent: (ownerId: string) => boolean;
  readonly problem: string | undefined;
}

export class WatchedTopology<K extends TopologyKind> {
  readonly topology: Topology & { readonly kind: K };
  readonly stampKey: string;
  readonly #watchers = new Set<Watcher<K>>();
  #reading: WholeReading<K> = { entries: new Map(), stamp: undefined };
  /** Before the reading began; undefined: there was none yet. */
  #readAtMs: number | undefined;
  /** Entries of earlier readings whose absence is not believed yet. */
  #hasDoubtful = false;
  #isCurrent = false;
  /** Why it could not be read the last time. */
  #problem: string | undefined;
  #view: View<K> | undefined;

  constructor(topology: Topology & { readonly kind: K }) {
    this.topology = topology;
    this.stampKey = stampKey(topology);
  }

  get entries(): DescriptorEntries<K> {
    return this.#reading.entries;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  get readAtMs(): number | undefined {
    return this.#readAtMs;
  }

  get hasDoubtful(): boolean {
    return this.#hasDoubtful;
  }

  owners(): Set<string> {
    return ownersOf(this.#reading.entries);
  }

  watch(onView: (view: View<K>) => void): () => void {
    const watcher: Watcher<K> = { onView, told: undefined };
    this.#watchers.add(watcher);
    queueMicrotask(() => this.#tell(watcher)); // 2
    return () => this.#watchers.delete(watcher);
  }

  hasStamp(stamp: bigint | undefined): boolean {
    return this.#readAtMs !== undefined && this.#reading.stamp === stamp;
  }

  /** Stamps are never deleted and their versions only grow, as long as the store keeps what it has acknowledged. */
  hasLostStamp(stamp: bigint | undefined): boolean {
    const known = this.#reading.stamp;
    return known !== undefined && (stamp === undefined || stamp < known);
  }

  /**
   * @param believesAbsence - else what is no longer there, or only as it was before, stays for now: its owner may be about to
   *   put it back
   */
  take({ entries, stamp }: WholeReading<K>, readAtMs: number, believesAbsence: boolean): void {
    const isLost = ([key, { version }]: readonly [string, DescriptorEntry<K>]): boolean =>
      (entries.get(key)?.version ?? 0n) < version;
    const lost = believesAbsence ? [] : [...this.#reading.entries].filter(isLost);
    this.#hasDoubtful = lost.length > 0;
    this.#reading = { entries: lost.length === 0 ? entries : new Map([...entries, ...lost]), stamp };
    this.#readAtMs = readAtMs;
    this.#isCurrent = true;
    this.#problem = undefined;
  }

  /** A reading has failed, whatever else the store answers. */
  fail(problem: string): void {
    this.#problem = problem;
  }

  /** The store was away for too long (LOC-064). */
  becomeStale(): void {
    this.#isCurrent = false;
  }

  /** Shows what is so now. */
  show(surroundings: Surroundings): void {
    const { isPresent, problem = this.#problem } = surroundings;
    if (this.#readAtMs === undefined && problem === undefined) return; // nothing is known at all
    const view = this.#draw({ isPresent, problem });
    if (this.#view !== undefined && areEqual(this.#view, view)) return; // 2
    this.#view = view;
    for (const watcher of this.#watchers) this.#tell(watcher);
  }

  #draw({ isPresent, problem }: Surroundings): View<K> {
    const endpoints = new Map<string, DiscoveredDescriptor<DescriptorOf[K]>>();
    for (const { descriptor } of this.#reading.entries.values()) {
      if (descriptor === undefined) continue;
      endpoints.set(descriptor.rid, { descriptor, isOwnerPresent: isPresent(descriptor.ownerId) });
    }
    return { endpoints, isCurrent: this.#isCurrent, problem };
  }

  #tell(watcher: Watcher<K>): void {
    const view = this.#view;
    if (view === undefined || watcher.told === view || !this.#watchers.has(watcher)) return; // 2
    watcher.told = view;
    watcher.onView(view);
  }
}

function areEqual<K extends TopologyKind>(a: View<K>, b: View<K>): boolean {
  if (a.isCurrent !== b.isCurrent || a.problem !== b.problem || a.endpoints.size !== b.endpoints.size) return false;
  for (const [rid, { descriptor, isOwnerPresent }] of a.endpoints) {
    const other = b.endpoints.get(rid);
    if (other?.descriptor !== descriptor || other.isOwnerPresent !== isOwnerPresent) return false;
  }
  return true;
}

/**
 * What a Location Store would show of one channel, without a store: those who publish post themselves, every change is seen
 * in the same turn, and the test changes what is shown as it likes.
 *
 * Owns descriptors, the presence of their owners and who looks. Leaves leases, versions and polling to the real discovery.
 */
import type {
  DescriptorOf,
  DiscoveredDescriptor,
  Discovery,
  OwnFacts,
  Publication,
  PublicationSource,
  TopologyKind,
  View,
} from '@zlink/kernel/internal/discovery';
import type { Topology } from '@zlink/kernel/location';
import type { ManualClock } from '../manual-clock.ts';

/** What discovery adds to what its user publishes. */
const PUBLISHED_BY = {
  ownerId: '8f14e45f-ceea-467f-a0e6-3a4f5b1d2c3e',
  leaseGeneration: 1n,
  protocol: { min: 1, max: 1 },
  otherFields: {},
};

type OnView<K extends TopologyKind> = (view: View<K>) => void;

export class Board<K extends TopologyKind> {
  /** Everything that those who publish have written, in this order. */
  readonly written: OwnFacts<K>[] = [];
  readonly watched: Topology[] = [];
  readonly #shown = new Map<string, DiscoveredDescriptor<DescriptorOf[K]>>();
  readonly #held = new Map<string, OwnFacts<K>>();
  readonly #watchers = new Set<OnView<K>>();
  readonly #healthListeners: (() => void)[] = [];
  #problem: string | undefined;
  #isCurrent = true;
  #isTelling = false;

  get problem(): string | undefined {
    return this.#problem;
  }

  onHealth(listener: () => void): void {
    this.#healthListeners.push(listener);
  }

  get watcherCount(): number {
    return this.#watchers.size;
  }

  /** Of one process; `openUntilMs` of it is the deadline up to which that may start work. */
  discovery(clock: ManualClock): BoardDiscovery<K> {
    return new BoardDiscovery(this, clock);
  }

  facts(rid: string): OwnFacts<K> {
    const shown = this.#shown.get(rid);
    if (shown === undefined) throw new Error(`"${rid}" is not published`);
    return shown.descriptor;
  }

  post(facts: OwnFacts<K>, isOwnerPresent = true): void {
    const descriptor = { ...facts, ...PUBLISHED_BY } as unknown as DescriptorOf[K]; // its own facts, and what discovery adds
    this.#shown.set(facts.rid, { descriptor, isOwnerPresent });
    this.#tell();
  }

  setOwnerPresent(rid: string, isOwnerPresent: boolean): void {
    this.post(this.facts(rid), isOwnerPresent);
  }

  remove(rid: string): void {
    this.#shown.delete(rid);
    this.#tell();
  }

  /** The store is away: what is written does not arrive. */
  goAway(problem: string): void {
    this.#problem = problem;
    this.#tell();
  }

  /** It was away for longer than views may be used to dial. */
  outlast(): void {
    this.#isCurrent = false;
    this.#tell();
  }

  comeBack(): void {
    this.#problem = undefined;
    this.#isCurrent = true;
    for (const facts of this.#held.values()) this.post(facts);
    this.#held.clear();
    this.#tell();
  }

  /** Somebody says something of itself. */
  write(facts: OwnFacts<K>): void {
    this.written.push(facts);
    if (this.#problem === undefined) this.post(facts);
    else this.#held.set(facts.rid, facts);
  }

  /** @returns how to end it */
  watch(topology: Topology, onView: OnView<K>): () => void {
    this.watched.push(topology);
    this.#watchers.add(onView);
    this.#tell();
    return () => void this.#watchers.delete(onView);
  }

  /** Once for all that changes in one turn. */
  #tell(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    queueMicrotask(() => {
      this.#isTelling = false;
      const view = { endpoints: new Map(this.#shown), isCurrent: this.#isCurrent, problem: this.#problem };
      for (const onView of this.#watchers) onView(view);
      for (const listener of this.#healthListeners) listener();
    });
  }
}

export class BoardDiscovery<K extends TopologyKind> implements Discovery {
  readonly admission: { readonly isOpen: boolean };
  openUntilMs = Infinity;
  /** Of what was published here. */
  readonly sources: PublicationSource<K>[] = [];
  /** Set: a claim waits for it. */
  claimed: Promise<void> | undefined;
  readonly #board: Board<K>;

  constructor(board: Board<K>, clock: ManualClock) {
    this.#board = board;
    const isOpen = (): boolean => clock.nowMs() < this.openUntilMs;
    this.admission = {
      get isOpen() {
        return isOpen();
      },
    };
  }

  get problem(): string | undefined {
    return this.#board.problem;
  }

  onHealth(listener: () => void): void {
    this.#board.onHealth(listener);
  }

  async publish<P extends TopologyKind>(published: PublicationSource<P>): Promise<Publication> {
    const source = published as unknown as PublicationSource<K>; // topics publish nothing else
    this.sources.push(source);
    const facts = source.facts();
    await this.claimed;
    this.#board.write(facts);
    return { changed: () => this.#board.write(source.facts()) };
  }

  watch<W extends TopologyKind>(
    topology: Topology & { readonly kind: W },
    onView: (view: View<W>) => void,
  ): () => void {
    return this.#board.watch(topology, onView as unknown as OnView<K>); // topics watch nothing else
  }
}

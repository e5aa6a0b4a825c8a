/**
 * What a host shows of itself, and where its parts say that it has changed.
 *
 * Owns sequence numbers, who observes, and that each event is logged once. Leaves the sections of a snapshot to the composer,
 * and what an event is to whoever tells it.
 *
 * 1. Without an observer no snapshot is made, and of an event nothing but its line in the log.
 * 2. All that changes in one turn of the event loop is one snapshot, the same for all observers; events are all told.
 * 3. Nobody who tells is called back, waits, or learns what becomes of it (MON-013).
 * 4. After `stop` the last snapshot, and the events up to it, can still be taken; then every iteration ends (MON-010).
 * 5. What is told before there is a log is logged once there is one.
 * 6. Observers have an event before the log has it: a logger may do what tells the next one.
 */
import { type Clock, requireSignal, systemClock } from '../../internal/time/index.ts';
import type { RateLimitedLog } from '../rate-limited-log.ts';
import { eventError } from './event-error.ts';
import { EventLog } from './event-log.ts';
import { EventQueue, type ObservedEvent } from './event-queue.ts';
import { frozenCopy } from './frozen-copy.ts';
import type { EventNote, Monitor, MonitoringEvent, MonitoringFact, SourceKind } from './monitoring-event.ts';
import { type ItemQueue, Observer } from './observer.ts';
import { SharedSnapshot } from './shared-snapshot.ts';
import type { RuntimeSnapshot } from './snapshot.ts';
import { type ObservedSnapshot, SnapshotSlot } from './snapshot-slot.ts';

/** What a snapshot shows, taken at one moment; copied before anybody sees it. */
export type SnapshotSections = Omit<RuntimeSnapshot, 'sequence' | 'observedAt'>;

export interface StatusBoardOptions {
  /** Asked for each snapshot, in every state of the host; must not throw. */
  sections(): SnapshotSections;
  /** Of the start that runs; 0 before it. */
  lifecycleGeneration(): bigint;
  /** The calendar time. */
  date(): Date;
  /** By which snapshots for observers are paced; the clock of the system if it is left out. */
  readonly clock?: Clock;
}

/** What waits for each of them. */
type Observers<T, Q> = Map<Observer<T>, Q>;

type Held = Parameters<EventLog['write']>;

export class StatusBoard implements Monitor {
  readonly #options: StatusBoardOptions;
  /** For observers; who asks for a snapshot gets one of its own. */
  readonly #shared: SharedSnapshot;
  readonly #snapshots: Observers<ObservedSnapshot, SnapshotSlot> = new Map();
  readonly #events: Observers<ObservedEvent, EventQueue> = new Map();
  #log: EventLog | undefined;
  /** 5 */
  #held: Held[] = [];
  #snapshotSequence = 0n;
  #eventSequence = 0n;
  #lostSnapshots = 0;
  #lostEvents = 0;
  #isDue = false;
  #isStopped = false;

  constructor(options: StatusBoardOptions) {
    this.#options = options;
    this.#shared = new SharedSnapshot({
      clock: options.clock ?? systemClock,
      make: () => this.snapshot(),
      onReady: () => this.#wakeAll(),
    });
  }

  /** What observers did not get, all together. */
  get lost(): { readonly status: number; readonly event: number } {
    return { status: this.#lostSnapshots, event: this.#lostEvents };
  }

  /** Once. */
  logTo(log: RateLimitedLog): void {
    this.#log = new EventLog(log);
    for (const held of this.#held) this.#log.write(...held);
    this.#held = [];
  }

  snapshot(): RuntimeSnapshot {
    const sequence = ++this.#snapshotSequence;
    return frozenCopy({ sequence, observedAt: this.#options.date(), ...this.#options.sections() });
  }

  /** Every iteration is an observer of its own. */
  observe(signal?: AbortSignal): AsyncIterable<ObservedSnapshot> {
    requireSignal(signal);
    return iterable(() => this.#add(this.#snapshots, new SnapshotSlot(() => this.#shared.take()), signal));
  }

  /** Every iteration is an observer of its own: it gets what happens from its beginning on. */
  events(signal?: AbortSignal): AsyncIterable<ObservedEvent> {
    requireSignal(signal);
    return iterable(() => this.#add(this.#events, new EventQueue(), signal));
  }

  changed(): void {
    this.#shared.changed();
    if (this.#snapshots.size === 0 || this.#isDue || this.#isStopped) return; // 1, 4
    this.#isDue = true;
    setImmediate(() => {
      if (this.#isDue) this.#showSnapshot(); // 2
    });
  }

  tell(fact: MonitoringFact, note: EventNote = {}): void {
    const sequence = ++this.#eventSequence;
    const error = note.error === undefined ? undefined : eventError(note.error, note.kind);
    if (this.#events.size > 0) {
      const event: MonitoringEvent = frozenCopy({
        ...fact,
        sourceKind: sourceKindOf(fact),
        lifecycleGeneration: this.#options.lifecycleGeneration(),
        at: this.#options.date(),
        sequence,
        ...(error === undefined ? {} : { error }),
      });
      for (const [observer, queue] of this.#events) {
        if (queue.add(event)) this.#lostEvents++;
        observer.wake();
      }
    }
    this.changed();
    // 6
    if (this.#log === undefined) this.#held.push([fact, error, note.subject]);
    else this.#log.write(fact, error, note.subject);
  }

  /** The host has stopped, for good. */
  stop(): void {
    this.#isStopped = true;
    this.#shared.finish();
    this.#showSnapshot();
    for (const observer of [...this.#snapshots.keys(), ...this.#events.keys()]) observer.finish(); // 4
    this.#held = [];
  }

  #showSnapshot(): void {
    this.#isDue = false;
    for (const queue of this.#snapshots.values()) if (queue.add()) this.#lostSnapshots++;
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const observer of this.#snapshots.keys()) observer.wake();
  }

  #add<T, Q extends ItemQueue<T>>(observers: Observers<T, Q>, queue: Q, signal: AbortSignal | undefined): Observer<T> {
    const observer = new Observer<T>(queue, signal, (ended) => void observers.delete(ended));
    observers.set(observer, queue);
    if (signal?.aborted === true) void observer.return();
    else if (this.#isStopped) observer.finish();
    return observer;
  }
}

function iterable<T>(begin: () => AsyncIterator<T, undefined>): AsyncIterable<T> {
  return Object.freeze({ [Symbol.asyncIterator]: begin });
}

const SOURCES: readonly SourceKind[] = ['host', 'mesh_node', 'client_server', 'fanout', 'location'];

function sourceKindOf({ type }: MonitoringFact): SourceKind {
  const source = type.split('.')[2];
  return SOURCES.find((kind) => kind === source) ?? 'host';
}

/**
 * The stores of one host: opened by its start, withdrawn from and disposed of by its end (LOC-003, LOC-004).
 *
 * Owns how long that may take. Leaves when it happens to the composer, and all use of the Location Store to the
 * LocationRuntime.
 *
 * 1. Nothing that a store does keeps a host from ending: what it has not released in time counts as a failure.
 * 2. A store belongs to the host that opened it, for good: no other one opens it or disposes of it. Of two hosts with one
 *    store the first to end would take it from the other.
 */
import { Problems, ZLinkError } from '../../errors/index.ts';
import type { LocationStore, RelocationStore } from '../../location/index.ts';
import type { LocationSnapshot, Monitor } from '../../observe/index.ts';
import type { Clock } from '../time/index.ts';
import { boundedCall } from './bounded-call.ts';
import { LocationRuntime, type LocationRuntimeOptions } from './location-runtime.ts';
import { openStore } from './start-limit.ts';

/** With a store that is away no shutdown takes longer, however much time it was given. */
const WITHDRAW_LIMIT_MS = 5_000;

/** Who has opened a store (2). */
const owners = new WeakMap<object, HostStores>();

export interface HostStoresOptions extends Omit<LocationRuntimeOptions, 'store'> {
  readonly location: LocationStore | undefined;
  readonly relocation: RelocationStore | undefined;
  readonly monitor: Monitor;
  /** The calendar time; the clock is monotonic and knows none. */
  readonly date: () => Date;
}

export class HostStores {
  /** Undefined without a Location Store. */
  readonly location: LocationRuntime | undefined;
  readonly #store: LocationStore | undefined;
  readonly #relocation: RelocationStore | undefined;
  readonly #clock: Clock;
  readonly #date: () => Date;
  readonly #settleLimitMs: number;

  constructor({ location: store, relocation, monitor, date, ...parts }: HostStoresOptions) {
    this.location = store && new LocationRuntime({ store, ...parts });
    this.location?.onHealth(() => this.#tellHealth(monitor));
    this.#store = store;
    this.#relocation = relocation;
    this.#clock = parts.clock;
    this.#date = date;
    this.#settleLimitMs = parts.timing.ownerLeaseRenewTimeoutMs;
  }

  snapshot(): LocationSnapshot {
    const { location } = this;
    if (location === undefined) return { store: 'not_configured' };
    const { problem, leaseValidUntilMs, lastCompleteReadMs } = location;
    return {
      store: problem === undefined ? 'ready' : 'degraded',
      ...(leaseValidUntilMs === undefined ? {} : { leaseValidUntil: this.#dateOf(leaseValidUntilMs) }),
      ...(lastCompleteReadMs === undefined ? {} : { lastCompleteRead: this.#dateOf(lastCompleteReadMs) }),
    };
  }

  /**
   * @throws ZLinkError `Unavailable` after 10 s, ConfigurationError for a store that holds what is none of ours or belongs to
   *   another host, or the signal's reason
   */
  async open(signal: AbortSignal): Promise<void> {
    this.#takeStores();
    await this.location?.open(signal);
    const relocation = this.#relocation;
    if (relocation === undefined) return;
    await openStore('relocation store', { clock: this.#clock, signal }, (limit) => relocation.open(limit));
  }

  /** Resolves when others can read what is published as it is now, or after the time that one renewal may take. */
  async settled(): Promise<void> {
    await this.location?.settled(this.#settleLimitMs);
  }

  /** Takes back what others were told, within 5 s at most. What fails is logged, and ends by itself in the store. */
  async withdraw(limitMs: number): Promise<void> {
    if (this.location === undefined) return;
    const deadline = new AbortController();
    const timer = this.#clock.setTimer(() => deadline.abort(), Math.min(limitMs, WITHDRAW_LIMIT_MS));
    await this.location.withdraw(deadline.signal);
    this.#clock.clearTimer(timer);
  }

  /** Tells what could not be released. */
  dispose(limitMs: number): Promise<readonly unknown[]> {
    const ends = [
      ...(this.#isForeign(this.#store) ? [] : [() => this.#closeLocation()]),
      ...(this.#isForeign(this.#relocation) ? [] : [() => this.#relocation?.dispose()]),
    ];
    return endAll(ends, limitMs, this.#clock);
  }

  #tellHealth(monitor: Monitor): void {
    const problem = this.location?.problem;
    monitor.tell(
      { type: 'zlink.runtime.location.store_changed', location: this.snapshot() },
      problem === undefined ? {} : { error: new ZLinkError('Unavailable', problem) },
    );
  }

  /** Of an instant by the clock. */
  #dateOf(atMs: number): Date {
    return new Date(this.#date().getTime() + atMs - this.#clock.nowMs());
  }

  /** All or none, so that a host which fails here keeps nobody else from its stores (2). */
  #takeStores(): void {
    const problems = new Problems();
    const advice = 'it already belongs to another host; make one per host, over the same backend or server';
    if (this.#isForeign(this.#store)) problems.note(`location store: ${advice}`);
    if (this.#isForeign(this.#relocation)) problems.note(`relocation store: ${advice}`);
    problems.throwIfAny();
    for (const store of [this.#store, this.#relocation]) if (store !== undefined) owners.set(store, this);
  }

  #isForeign(store: object | undefined): boolean {
    const owner = store && owners.get(store);
    return owner !== undefined && owner !== this;
  }

  async #closeLocation(): Promise<void> {
    const failure = await this.location?.close();
    if (failure !== undefined) throw failure as Error; // whatever it is, it is told as it was thrown
  }
}

/** For stores of which a host has made no use, each once; those of others are left alone (2). Never rejects. */
export async function disposeUnused(
  stores: Iterable<{ dispose(): Promise<void> }>,
  limitMs: number,
  clock: Clock,
): Promise<void> {
  const unused = [...new Set(stores)].filter((store) => !owners.has(store));
  const ends = unused.map((store) => () => store.dispose());
  await endAll(ends, limitMs, clock);
}

async function endAll(
  ends: readonly (() => Promise<void> | undefined)[],
  timeoutMs: number,
  clock: Clock,
): Promise<readonly unknown[]> {
  const bounds = { clock, timeoutMs, signals: [] };
  const results = await Promise.allSettled(ends.map((end) => boundedCall(async () => end(), bounds)));
  return results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : [])); // 1
}

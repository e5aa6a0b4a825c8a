/**
 * Hosts over one store, as simulations of discovery play them.
 *
 * Owns the store, its mirror, the parts of each host, and what may happen to one. Leaves when it happens to the story.
 */
import { createFaultyLocationStore, type FaultyLocationStore } from '@zlink/testing';
import { LocationRuntime } from '../../src/internal/discovery/location-runtime.ts';
import { DEFAULT_LOCATION_TIMING } from '../../src/internal/discovery/location-timing.ts';
import type { OwnerLease } from '../../src/internal/discovery/owner-lease.ts';
import { leaseKey, type LocationStore, type StoreBatch } from '../../src/location/index.ts';
import { LosingStore } from '../discovery/losing-store.ts';
import { HostProcess } from './host-process.ts';
import { ensure, type Stage } from './simulation.ts';
import { StoreMirror } from './store-mirror.ts';

export const timing = DEFAULT_LOCATION_TIMING;
/** For so long after a request that succeeded a host admits work. */
const windowMs = timing.ownerLeaseTtlMs - timing.ownerLeaseFencingMarginMs;
/** So long a host that leaves waits for its store. */
const withdrawWithinMs = 5_000;

export interface HostFlaws {
  readonly stopsItsClock?: boolean;
  readonly alter?: (store: LocationStore) => LocationStore;
}

export class Cluster {
  readonly stage: Stage;
  readonly mirror = new StoreMirror();
  readonly store: LosingStore;
  /** What did not hold where nobody may throw. */
  readonly faults: string[] = [];
  /** When something that was acknowledged was lost last. */
  lostAtMs = -Infinity;

  private constructor(stage: Stage) {
    this.stage = stage;
    this.store = new LosingStore(stage.clock);
  }

  static async create(stage: Stage): Promise<Cluster> {
    const cluster = new Cluster(stage);
    await cluster.store.loseAll();
    return cluster;
  }

  host(name: string, flaws: HostFlaws = {}): ClusterHost {
    return new ClusterHost(name, this, flaws);
  }

  async loseAll(): Promise<void> {
    this.stage.tellFault('the store comes back empty');
    await this.store.loseAll();
    this.mirror.lose();
    this.lostAtMs = this.stage.clock.nowMs();
  }

  save(): void {
    this.stage.tell('the replica follows');
    this.store.save();
    this.mirror.save();
  }

  async rollBack(): Promise<void> {
    this.stage.tellFault('the store fails over and forgets');
    await this.store.rollBack();
    this.mirror.rollBack();
    this.lostAtMs = this.stage.clock.nowMs();
  }

  /** The rules of the mirror. */
  check(): void {
    this.mirror.noteAbsences(this.stage.clock.nowMs());
    const faults = [...this.mirror.faults, ...this.faults];
    ensure(faults.length === 0, faults.join());
  }

  /** When all have left: neither a lease nor a descriptor is left, and no timer (LOC-055). */
  async checkNothingIsLeft(): Promise<void> {
    const left = [...(await this.store.keys('l/')), ...(await this.store.keys('d/'))];
    ensure(left.length === 0, `left in the store: ${left.join()}`);
    const { clock } = this.stage;
    const timers = clock.pendingTimers + clock.pendingBackgroundTimers;
    ensure(timers === 0, `${timers} timers are left`);
  }

  /** What the store does for one host, noted in the mirror. */
  handle(): LocationStore {
    const inner = this.store.handle();
    const commit: LocationStore['commit'] = async (batch, signal) => {
      const result = await inner.commit(batch, signal);
      if (result.kind === 'applied' && !result.replayed) this.mirror.applied(batch, result);
      return result;
    };
    return { ...inner, commit };
  }
}

export class ClusterHost {
  readonly name: string;
  readonly process: HostProcess;
  /** Between the process and the store. */
  readonly store: FaultyLocationStore;
  readonly runtime: LocationRuntime;
  readonly lease: OwnerLease;
  readonly #cluster: Cluster;
  #generation = 0n;

  constructor(name: string, cluster: Cluster, { stopsItsClock, alter = (store) => store }: HostFlaws) {
    const { stage } = cluster;
    this.name = name;
    this.#cluster = cluster;
    this.process = new HostProcess(stage, stopsItsClock);
    this.store = createFaultyLocationStore(alter(cluster.handle()), stage.clock);
    const log = (record: object): void => stage.tell(`  ${name} logs ${(record as { eventId: string }).eventId}`);
    const logError = (record: object): void => {
      log(record);
      cluster.faults.push(`${name} has failed within: ${JSON.stringify(record)}`);
    };
    this.runtime = new LocationRuntime({
      store: this.process.perceive(this.store, (batch) => this.#asked(batch)),
      timing,
      clock: this.process,
      random: () => stage.random(),
      logger: { debug: log, info: log, warn: log, error: logError },
      securityIdentity: undefined,
    });
    this.lease = this.runtime.admission as OwnerLease; // the simulation looks at it more closely than hosts do
  }

  get isAdmitted(): boolean {
    return this.lease.isOpen;
  }

  standStill(): void {
    this.#cluster.stage.tellFault(`${this.name} stands still`);
    this.process.freeze();
  }

  async goOn(): Promise<void> {
    this.#cluster.stage.tell(`${this.name} goes on`);
    await this.process.thaw();
  }

  healStore(): void {
    this.#cluster.stage.tell(`the store of ${this.name} heals`);
    this.store.heal();
  }

  hearOfLoss(): void {
    this.#cluster.stage.tellFault(`${this.name} is told of a loss`);
    this.store.disrupt();
  }

  kill(): void {
    this.#cluster.stage.tellFault(`${this.name} is killed`);
    this.process.kill();
    this.store.heal(); // what it has asked for takes effect
  }

  /** In order, and with a store that works. @param endUses - of the views of this host */
  leave(endUses: () => void = () => {}): void {
    this.#cluster.stage.tell(`${this.name} leaves`);
    this.store.heal();
    endUses();
    const deadline = new AbortController();
    const timer = this.process.setTimer(() => deadline.abort(), withdrawWithinMs);
    void this.runtime
      .withdraw(deadline.signal)
      .then(() => this.process.clearTimer(timer))
      .then(() => this.runtime.close());
  }

  /** Faults end: it goes on, and its store works. */
  async recover(): Promise<void> {
    this.store.heal();
    await this.process.thaw();
  }

  /**
   * L1 While it admits work, the store shows its lease for the margin at least; what the store has lost it notices within the
   *    window of a proof (LOC-051).
   * L2 Its lease generation never changes (LOC-053).
   */
  check(): void {
    const { leaseGeneration, ownerId } = this.lease;
    ensure(this.#generation === 0n || leaseGeneration === this.#generation, `${this.name}: another lease generation`); // L2
    this.#generation = leaseGeneration;
    if (!this.isAdmitted) return;
    const nowMs = this.#cluster.stage.clock.nowMs();
    if (nowMs < this.#cluster.lostAtMs + windowMs) return;
    const leftMs = this.#cluster.mirror.leaseEndsAtMs(ownerId) - nowMs;
    const isCovered = leftMs + 1 > timing.ownerLeaseFencingMarginMs; // the store's clock has whole milliseconds
    ensure(isCovered, `${this.name} admits work, and its lease has ${leftMs} ms left`); // L1
  }

  /** Without admission a host changes nothing but its own lease (LOC-052). */
  #asked({ mutations }: StoreBatch): void {
    if (this.isAdmitted) return;
    const own = leaseKey(this.lease.ownerId);
    const isOwn = mutations.every((mutation) => mutation.kind !== 'add' && mutation.key === own);
    if (!isOwn) this.#cluster.faults.push(`${this.name} writes without admission`);
  }
}

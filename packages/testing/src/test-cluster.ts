/**
 * Several hosts of one test in one process, on a network in memory.
 *
 * Owns which hosts there are, and that nothing of them is left when the test is over. Leaves a host's own faults to
 * `ClusterHost`, and ways between hosts to `MemoryNetwork`.
 *
 * 1. `close` ends what `start` has started, and tells of every host that is left then; those are ended, too, so that one
 *    test does not spoil the next.
 * 2. Of what was shut down, every message that it accepted is at one place, and has ended if no force was needed.
 * 3. Chance is the same for the same seed and the same order of hosts.
 */
import { isHost, isWildcardHost } from '@zlink/kernel/identity';
import { concealSurroundings, type TestSurroundings } from '@zlink/kernel/internal/host';
import type { LivenessTimes } from '@zlink/kernel/internal/link';
import { type Clock, systemClock, systemDateMs } from '@zlink/kernel/internal/time';
import {
  createMemoryLocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type MemoryStoreBackend,
} from '@zlink/kernel/location';
import type { MessageCounters } from '@zlink/kernel/observe';
import { ClusterHost } from './cluster-host.ts';
import { loopTurns } from './loop-turns.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryNetwork } from './memory-network.ts';
import { unbalancedCounters, unfinishedCounters } from './message-balance.ts';
import { seededRandom } from './seeded-random.ts';
import type { FaultyLocationStore } from './store-faults.ts';

export interface TestClusterOptions {
  /** Time of all hosts; a `ManualClock` makes it stand still until the test moves it, calendar and all. Default: the system's. */
  readonly clock?: Clock;
  /** For whatever hosts leave to chance, as the spread of waiting times; default 1. */
  readonly seed?: number;
  /** When a silent connection counts as lost; default: as over sockets, asked every 5,000 ms, lost after 15,000 ms. */
  readonly liveness?: LivenessTimes;
}

/** Options for `createHost`, to be spread into those of the test. */
export interface TestHostOptions {
  readonly network: { readonly bindHost: string };
  readonly testing: { readonly allowSeveralHosts: true; readonly surroundings: TestSurroundings };
}

/** What `createHost` returns, as far as a cluster needs it. */
export interface StartableHost {
  readonly query: { counters(): readonly MessageCounters[] };
  start(): Promise<void>;
  shutdown(options: { readonly deadlineMs: number }): Promise<{ readonly outcome: 'stopped' | 'forceStopped' }>;
}

export interface TestCluster extends AsyncDisposable {
  /**
   * Options of one more host.
   *
   * @param name - what others call its machine: a listener on port 7200 is at `tcp://name:7200`; default `host-1`, and so on
   * @throws Error for a name that is no host name, or that a host has which still runs
   */
  hostOptions(name?: string): TestHostOptions;
  /**
   * A Location Store for the host that `hostOptions` was last asked for under this name: hosts of one cluster find each
   * other there.
   *
   * @throws Error for a name that no host has
   */
  locationStore(name: string): FaultyLocationStore;
  /** Starts hosts, one after another; `close` shuts them down. */
  start(...hosts: readonly StartableHost[]): Promise<void>;
  /** Breaks the connections between two hosts, both are told; new ones are refused until `restore`. */
  cut(one: string, other: string): void;
  /** Swallows what one host sends to the other, and tells nobody; connections that lost something break at `restore`. */
  blackhole(from: string, to: string): void;
  /** What one host sends to the other from now on arrives `ms` later. */
  delay(from: string, to: string, ms: number): void;
  /** Stops a host as a debugger would: its timers, its reading, its store, and what it says waits. Running code goes on. */
  freeze(name: string): void;
  thaw(name: string): void;
  /**
   * Ends a host without a goodbye: its connections break, its addresses are free, and what it had in the store stays there
   * until it expires. Its code in this process goes on, and reaches nobody.
   */
  kill(name: string): void;
  /** Ends cuts, black holes and delays, and thaws; who was killed stays so. */
  restore(): void;
  /**
   * Restores, and shuts down what was started; a `ManualClock` is moved as far as that takes.
   *
   * @throws Error that names every host which was left running, with what it holds, and the message counters of the others
   * that do not add up, or of those that ended without force and still show work
   */
  close(): Promise<void>;
}

/** Hosts of the same cluster reach each other, and nobody else. */
export function createTestCluster(options: TestClusterOptions = {}): TestCluster {
  return new MemoryCluster(options);
}

/** For handlers that run when the test is over; then they are cut off. */
const SHUTDOWN_MS = 100;
/** Turns in which a network comes to rest. */
const QUIET_TURNS = 16;

class MemoryCluster implements TestCluster {
  readonly #clock: Clock;
  readonly #dateMs: () => number;
  readonly #seed: number;
  readonly #liveness: LivenessTimes | undefined;
  readonly #network: MemoryNetwork;
  readonly #records: MemoryStoreBackend;
  readonly #hosts: ClusterHost[] = [];
  readonly #started: StartableHost[] = [];

  constructor({ clock = systemClock, seed = 1, liveness }: TestClusterOptions) {
    this.#clock = clock;
    this.#dateMs = clock instanceof ManualClock ? () => clock.dateMs() : systemDateMs;
    this.#seed = seed;
    this.#liveness = liveness;
    this.#network = new MemoryNetwork({ clock });
    this.#records = createMemoryStoreBackend({ clock });
  }

  hostOptions(name = `host-${this.#hosts.length + 1}`): TestHostOptions {
    if (!isHost(name) || isWildcardHost(name)) throw new Error(`test cluster: "${name}" is no host name`);
    if (this.#hosts.some((host) => host.name === name && !host.isGone)) {
      throw new Error(`test cluster: there is a host "${name}" that still runs`);
    }
    const host = new ClusterHost({
      name,
      network: this.#network,
      clock: this.#clock,
      dateMs: this.#dateMs,
      random: seededRandom(this.#seed + this.#hosts.length),
      liveness: this.#liveness,
    });
    this.#hosts.push(host);
    return {
      network: { bindHost: name },
      testing: { allowSeveralHosts: true, surroundings: concealSurroundings(host) },
    };
  }

  locationStore(name: string): FaultyLocationStore {
    return this.#host(name).addStore(shared(createMemoryLocationStore(this.#records)));
  }

  async start(...hosts: readonly StartableHost[]): Promise<void> {
    for (const host of hosts) {
      this.#started.push(host);
      await host.start();
    }
  }

  cut(one: string, other: string): void {
    this.#changeWay(one, other, { refused: true });
    this.#changeWay(other, one, { refused: true });
    this.#network.cutBetween(one, other);
  }

  blackhole(from: string, to: string): void {
    this.#changeWay(from, to, { blackhole: true });
  }

  delay(from: string, to: string, ms: number): void {
    this.#changeWay(from, to, { delayMs: ms });
  }

  freeze(name: string): void {
    this.#host(name).freeze();
  }

  thaw(name: string): void {
    this.#host(name).thaw();
  }

  kill(name: string): void {
    this.#host(name).kill();
  }

  restore(): void {
    this.#network.restore();
    for (const host of this.#hosts) host.thaw();
  }

  async close(): Promise<void> {
    this.restore();
    const started = this.#started.splice(0);
    const ends = Promise.allSettled(started.map((host) => host.shutdown({ deadlineMs: SHUTDOWN_MS })));
    const results = await this.#drive(ends);
    await loopTurns(QUIET_TURNS);
    const isDrained = (at: number): boolean =>
      results[at]?.status === 'fulfilled' && results[at].value.outcome === 'stopped';
    const rowsOf = (hosts: readonly StartableHost[]) => hosts.flatMap(({ query }) => query.counters());
    const left = this.#hosts.flatMap((host) => (host.leftovers === undefined ? [] : [{ host, what: host.leftovers }]));
    await this.#drive(Promise.all(left.map(({ host }) => host.release()))); // 1
    const lines = [
      ...left.map(({ host, what }) => `host "${host.name}" was not shut down (${what})`),
      ...unbalancedCounters(rowsOf(started)).map((row) => `messages do not add up: ${row}`), // 2
      ...unfinishedCounters(rowsOf(started.filter((_, at) => isDrained(at)))).map(
        (row) => `messages have not ended: ${row}`,
      ),
    ];
    if (lines.length > 0) throw new Error(`test cluster: ${lines.join('; ')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Waits for an end; nobody else moves a manual clock meanwhile. */
  async #drive<T>(end: Promise<T>): Promise<T> {
    let isOver = false;
    const noteOver = (): void => void (isOver = true);
    void end.then(noteOver, noteOver);
    while (this.#clock instanceof ManualClock) {
      await loopTurns(QUIET_TURNS);
      if (isOver) break;
      this.#clock.advance(Math.max(0, (this.#clock.nextDueAtMs ?? 0) - this.#clock.nowMs()));
    }
    return end;
  }

  #changeWay(from: string, to: string, change: Parameters<MemoryNetwork['changeWay']>[2]): void {
    this.#network.changeWay(this.#host(from).name, this.#host(to).name, change);
  }

  /** The last one of its name. */
  #host(name: string): ClusterHost {
    const host = this.#hosts.findLast((each) => each.name === name);
    if (host !== undefined) return host;
    const names = this.#hosts.map((each) => each.name).join(', ');
    throw new Error(`test cluster: there is no host "${name}"; hosts: ${names === '' ? 'none' : names}`);
  }
}

/** For the hosts of a cluster it is what a server is for machines: seen by all of them. */
function shared(store: LocationStore): LocationStore {
  return {
    capabilities: { ...store.capabilities, scope: 'shared' },
    open: (signal) => store.open(signal),
    read: (request, signal) => store.read(request, signal),
    commit: (batch, signal) => store.commit(batch, signal),
    scan: (request, signal) => store.scan(request, signal),
    dispose: () => store.dispose(),
  };
}

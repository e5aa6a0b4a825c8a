/**
 * One host of a test cluster, as its cluster sees it: a machine on the network, a clock, a calendar, transports and stores.
 *
 * Owns what befalls the whole machine: it is frozen, thawed or killed. Leaves ways between machines to the network.
 *
 * H1 A killed host says nothing any more: nothing of it reaches the network or a store.
 */
import type { HostSurroundings, HostTransports, TransportNeeds } from '@zlink/kernel/internal/host';
import { createLinkTransport, type LivenessTimes } from '@zlink/kernel/internal/link';
import type { Clock, RandomSource } from '@zlink/kernel/internal/time';
import type { LocationStore } from '@zlink/kernel/location';
import { HostClock } from './host-clock.ts';
import type { MemoryHost } from './memory-connection.ts';
import { createMemoryEngine } from './memory-engine.ts';
import { createMemoryEventTransport } from './memory-event-transport.ts';
import { EVERYWHERE } from './memory-faults.ts';
import type { MemoryNetwork } from './memory-network.ts';
import { createFaultyLocationStore, type FaultyLocationStore } from './store-faults.ts';

export interface ClusterHostOptions {
  readonly name: string;
  readonly network: MemoryNetwork;
  readonly clock: Clock;
  readonly dateMs: () => number;
  readonly random: RandomSource;
  readonly liveness: LivenessTimes | undefined;
}

export class ClusterHost implements MemoryHost, HostSurroundings {
  readonly name: string;
  readonly clock: HostClock;
  readonly dateMs: () => number;
  readonly random: RandomSource;
  readonly #network: MemoryNetwork;
  readonly #liveness: LivenessTimes | undefined;
  readonly #stores: FaultyLocationStore[] = [];
  #transports: HostTransports | undefined;
  #isKilled = false;

  constructor({ name, network, clock, dateMs, random, liveness }: ClusterHostOptions) {
    this.name = name;
    this.#network = network;
    this.clock = new HostClock(clock);
    this.dateMs = dateMs;
    this.random = random;
    this.#liveness = liveness;
  }

  /** What it has not released, in words; undefined for one that never started or has ended. */
  get leftovers(): string | undefined {
    const { listeners, connections } = this.#network.holdings(this);
    const counts = { timers: this.clock.pendingTimers, listeners, connections };
    const left = Object.entries(counts).filter(([, count]) => count > 0);
    return left.length === 0 ? undefined : left.map(([what, count]) => `${what}: ${count}`).join(', ');
  }

  /** Whether another host may have its name. */
  get isGone(): boolean {
    return this.#isKilled || this.leftovers === undefined;
  }

  createTransports(needs: TransportNeeds): HostTransports {
    if (this.#transports !== undefined) {
      throw new Error(`test cluster: the options of host "${this.name}" are for one host; ask for new ones`);
    }
    const parts = { ...needs, ...needs.memory, random: this.random };
    const liveness = this.#liveness === undefined ? {} : { liveness: this.#liveness };
    const engine = createMemoryEngine(this.#network, { name: `host "${this.name}"`, host: this });
    const events = createMemoryEventTransport(this.#network, { name: `events of host "${this.name}"`, host: this });
    this.#transports = {
      transport: createLinkTransport(engine, { ...parts, ...liveness }),
      events,
    };
    return this.#transports;
  }

  /** Of the host, over what the stores of all hosts share. */
  addStore(store: LocationStore): FaultyLocationStore {
    const own = createFaultyLocationStore(store, this.clock);
    if (this.#isKilled) own.inject({ kind: 'fail' }); // H1
    this.#stores.push(own);
    return createFaultyLocationStore(own, this.clock); // faults of the test and of the machine do not mix
  }

  /** It runs no timer, reads nothing, and what it says waits. */
  freeze(): void {
    this.clock.freeze();
    this.#pause(true);
    for (const store of this.#stores) store.inject({ kind: 'hold', at: 'request' });
  }

  thaw(): void {
    this.clock.thaw();
    this.#pause(false);
    for (const store of this.#stores) store.heal();
    if (this.#isKilled) for (const store of this.#stores) store.inject({ kind: 'fail' }); // H1
  }

  kill(): void {
    this.#isKilled = true;
    this.#network.sever(this);
    this.thaw();
  }

  /** Ends what has leaked, so that the process can end. */
  async release(): Promise<void> {
    await this.#transports?.transport.close();
    await this.#transports?.events.close();
    this.clock.clear();
  }

  #pause(paused: boolean): void {
    this.#network.changeWay(this.name, EVERYWHERE, { paused });
    this.#network.changeWay(EVERYWHERE, this.name, { paused });
  }
}

/**
 * The act in one process: hosts beside each other, over one store in memory.
 *
 * Owns the store and its faults. Leaves what hosts do to the same programs that are processes elsewhere.
 */
import { createMemoryLocationStore, createMemoryStoreBackend, type HostOptions } from '@zlink/framework';
import { createFaultyLocationStore, type FaultyLocationStore } from '@zlink/testing';
import type { Stage } from '../act.ts';
import { FleetCaller } from './fleet-caller.ts';
import { FleetHost } from './fleet-host.ts';
import type { CallerPlayer, HostPlayer, Role } from './players.ts';
import type { CallerCounts, CallerNews, Departure, Progress } from './reports.ts';
import { SightBoard } from './sight-board.ts';
import type { Venue } from './venue.ts';

/** Hosts that are left when the demo ends have so long to end. */
const abandonMs = 1_000;

/** What hosts have to say about the outage is on the screen already. */
const options: HostOptions = {
  testing: { allowSeveralHosts: true },
  logger: { debug: ignore, info: ignore, warn: ignore, error: (record) => console.error(JSON.stringify(record)) },
};

export function openMemoryVenue(stage: Stage, why: string): Venue {
  return new MemoryVenue(stage, why);
}

class MemoryVenue implements Venue {
  readonly lines: readonly string[];
  readonly storeName = 'the store';
  readonly whyNoKill = 'one process cannot lose a part of itself';
  readonly outageText = 'it answers every call with an error';
  readonly #stage: Stage;
  readonly #backend = createMemoryStoreBackend();
  readonly #stores: FaultyLocationStore[] = [];

  constructor(stage: Stage, why: string) {
    this.#stage = stage;
    this.lines = [
      'all of them in this one process, over a store in memory, but real TCP connections between them',
      `(${why}; with Redis 6.2 or newer in the path or in REDIS_SERVER_BIN this act plays with processes)`,
    ];
  }

  async startHost({ name, weight }: Role): Promise<HostPlayer> {
    const host = new FleetHost({ name, store: this.#store(), options }, weight);
    this.#stage.atEnd(() => host.abandon(abandonMs));
    await host.start();
    return new LocalHost({ name, weight }, host);
  }

  async startCaller(name: string): Promise<CallerPlayer> {
    const player = new LocalCaller({ name, store: this.#store(), options });
    this.#stage.atEnd(() => player.caller.abandon(abandonMs));
    await player.caller.start();
    return player;
  }

  pauseStore(): void {
    for (const store of this.#stores) store.inject({ kind: 'fail' });
  }

  resumeStore(): void {
    for (const store of this.#stores) store.heal();
  }

  async close(): Promise<void> {} // the hosts have disposed of their stores

  #store(): FaultyLocationStore {
    const store = createFaultyLocationStore(createMemoryLocationStore(this.#backend));
    this.#stores.push(store);
    return store;
  }
}

class LocalHost implements HostPlayer {
  readonly name: string;
  readonly weight: number;
  readonly pid = undefined;
  readonly kill = undefined;
  readonly #host: FleetHost;

  constructor({ name, weight }: Role, host: FleetHost) {
    this.name = name;
    this.weight = weight;
    this.#host = host;
  }

  meet(count: number): Promise<void> {
    return this.#host.meet(count);
  }

  weigh(weight: number): Promise<void> {
    this.#host.weigh(weight);
    return Promise.resolve();
  }

  leave(): Promise<Departure> {
    return this.#host.leave();
  }
}

class LocalCaller implements CallerPlayer {
  readonly pid = undefined;
  readonly board = new SightBoard();
  readonly caller: FleetCaller;
  #progress: Progress | undefined;

  constructor(part: ConstructorParameters<typeof FleetCaller>[0]) {
    this.caller = new FleetCaller(part, (news) => this.#hear(news));
  }

  get progress(): Progress | undefined {
    return this.#progress;
  }

  begin(): void {
    this.caller.begin();
  }

  counts(): Promise<CallerCounts> {
    return Promise.resolve(this.caller.counts());
  }

  finish(): Promise<CallerCounts> {
    return this.caller.finish();
  }

  leave(): Promise<string> {
    return this.caller.leave();
  }

  #hear(news: CallerNews): void {
    if (news.kind === 'sights') this.board.show(news.sights);
    else this.#progress = news;
  }
}

function ignore(): void {}

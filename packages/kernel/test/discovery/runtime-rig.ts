/** Several hosts with one store, each behind faults of its own, and a clock for all of them. */
import { createFaultyLocationStore, type FaultyLocationStore, ManualClock, seededRandom } from '@zlink/testing';
import type {
  DescriptorOf,
  DiscoveredDescriptor,
  OwnFacts,
  Publication,
  PublicationSource,
  TopologyKind,
  View,
} from '../../src/internal/discovery/discovery.ts';
import { LocationRuntime, type LocationRuntimeOptions } from '../../src/internal/discovery/location-runtime.ts';
import { DEFAULT_LOCATION_TIMING } from '../../src/internal/discovery/location-timing.ts';
import {
  descriptorKey,
  type LocationStore,
  publisherDescriptor,
  type PublisherDescriptor,
  type ServerDescriptor,
  serverDescriptor,
  type StoreMutation,
  type StoreRecord,
  type Topology,
} from '../../src/location/index.ts';
import type { Logger } from '../../src/observe/index.ts';
import { LosingStore } from './losing-store.ts';

export const games = { kind: 'clientServer', name: 'games' } as const;

/** A signal that nobody aborts. */
export const live = (): AbortSignal => new AbortController().signal;

/** How a promise has ended by now. */
export class Ending {
  state: 'pending' | 'resolved' | 'rejected' = 'pending';
  error: unknown;

  constructor(promise: Promise<unknown>) {
    promise.then(
      () => (this.state = 'resolved'),
      (error: unknown) => {
        this.state = 'rejected';
        this.error = error;
      },
    );
  }
}

/** Several hosts over one store. */
export class World {
  readonly clock = new ManualClock();
  readonly hosts: Host[] = [];
  readonly #store = new LosingStore(this.clock);
  #seed = 1;

  static async create(): Promise<World> {
    const world = new World();
    await world.loseAll();
    return world;
  }

  /** All that was stored is gone; versions grow on. */
  loseAll(): Promise<void> {
    return this.#store.loseAll();
  }

  /** What is stored now is what `rollBack` leaves. */
  save(): void {
    this.#store.save();
  }

  /** Commits since `save` are lost, as by a failover to a replica that lags; versions grow on. */
  rollBack(): Promise<void> {
    return this.#store.rollBack();
  }

  /** A host that has not been opened. */
  host(options: Partial<LocationRuntimeOptions> = {}): Host {
    const host = new Host(this.clock, this.#store.handle(), { random: seededRandom(this.#seed++), ...options });
    this.hosts.push(host);
    return host;
  }

  async openHost(options: Partial<LocationRuntimeOptions> = {}): Promise<Host> {
    const host = this.host(options);
    await host.runtime.open(live());
    return host;
  }

  find(key: string): Promise<StoreRecord | undefined> {
    return this.#store.find(key);
  }

  async findServer(rid: string, topology: Topology = games): Promise<ServerDescriptor | undefined> {
    const value = (await this.find(descriptorKey(topology, rid)))?.value;
    return value === undefined ? undefined : serverDescriptor.decode(value);
  }

  async findPublisher(rid: string, topology: Topology): Promise<PublisherDescriptor | undefined> {
    const value = (await this.find(descriptorKey(topology, rid)))?.value;
    return value === undefined ? undefined : publisherDescriptor.decode(value);
  }

  keys(prefix: string): Promise<readonly string[]> {
    return this.#store.keys(prefix);
  }

  /** Past all faults. */
  async change(...mutations: readonly StoreMutation[]): Promise<void> {
    const operationId = crypto.randomUUID().replaceAll('-', '');
    await this.#store.commit({ operationId, conditions: [], mutations });
  }

  async closeAll(): Promise<void> {
    for (const host of this.hosts) host.store.heal();
    await Promise.all(this.hosts.map((host) => host.runtime.close()));
  }

  /** 0 when everything has ended. */
  get pending(): number {
    return this.clock.pendingTimers + this.clock.pendingBackgroundTimers;
  }
}

export interface LogRecord {
  readonly level: keyof Logger;
  readonly eventId: string;
  readonly [field: string]: unknown;
}

export class Host {
  readonly store: FaultyLocationStore;
  readonly logs: LogRecord[] = [];
  readonly runtime: LocationRuntime;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock, inner: LocationStore, options: Partial<LocationRuntimeOptions>) {
    this.#clock = clock;
    this.store = createFaultyLocationStore(inner, clock);
    const log = (level: keyof Logger) => (record: object) =>
      void this.logs.push({ level, ...(record as { eventId: string }) });
    this.runtime = new LocationRuntime({
      store: this.store,
      timing: DEFAULT_LOCATION_TIMING,
      clock,
      random: Math.random, // every host of a world is given a seeded one
      logger: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
      securityIdentity: undefined,
      ...options,
    });
  }

  /** Lets the time pass for which changes wait, and for what is true now to be written. */
  async written(): Promise<void> {
    const settled = this.runtime.settled(60_000);
    await this.#clock.advanceAsync(1_000);
    await settled;
  }

  eventIds(): readonly string[] {
    return this.logs.map(({ eventId }) => eventId);
  }

  async publish<K extends TopologyKind>(source: PlayedSource<K>, signal = live()): Promise<PlayedSource<K>> {
    source.publication = await this.runtime.publish(source, signal);
    return source;
  }

  watch<K extends TopologyKind>(topology: Topology & { readonly kind: K }): PlayedWatcher<K> {
    const views: View<K>[] = [];
    const end = this.runtime.watch(topology, (view) => views.push(view));
    return new PlayedWatcher(views, end);
  }
}

/** An endpoint whose facts the test changes. */
export class PlayedSource<K extends TopologyKind> implements PublicationSource<K> {
  readonly kind: K;
  publication: Publication | undefined;
  raised = 0;
  #facts: OwnFacts<K>;

  constructor(kind: K, facts: OwnFacts<K>) {
    this.kind = kind;
    this.#facts = facts;
  }

  facts(): OwnFacts<K> {
    return this.#facts;
  }

  raise(): void {
    this.raised++;
    this.#facts = { ...this.#facts, revision: this.#facts.revision + 1n };
  }

  /** As a topic does it: a new revision, and the store is told. */
  change(facts: Partial<OwnFacts<K>>): void {
    this.#facts = { ...this.#facts, ...facts, revision: this.#facts.revision + 1n };
    this.publication?.changed();
  }
}

export class PlayedWatcher<K extends TopologyKind> {
  readonly views: View<K>[];
  readonly end: () => void;

  constructor(views: View<K>[], end: () => void) {
    this.views = views;
    this.end = end;
  }

  get last(): View<K> | undefined {
    return this.views.at(-1);
  }

  /** The RIDs of the last view; `-` before those without a present owner. */
  get rids(): readonly string[] {
    const endpoints = [...(this.last?.endpoints.values() ?? [])];
    return endpoints.map(({ descriptor, isOwnerPresent }) => (isOwnerPresent ? '' : '-') + descriptor.rid).sort();
  }

  find(rid: string): DiscoveredDescriptor<DescriptorOf[K]> | undefined {
    return this.last?.endpoints.get(rid);
  }
}

interface ServerFacts {
  readonly generation?: bigint;
  readonly name?: string;
  readonly endpoint?: string;
}

export function server(rid: string, facts: ServerFacts = {}): PlayedSource<'clientServer'> {
  const { generation = 1n, name = games.name, endpoint = 'tcp://10.0.0.1:7000' } = facts;
  return new PlayedSource('clientServer', {
    name,
    rid,
    lifecycleGeneration: generation,
    revision: 1n,
    endpoint,
    state: 'starting',
    weight: 100,
  });
}

export function publisher(rid: string, name: string): PlayedSource<'fanout'> {
  return new PlayedSource('fanout', {
    name,
    rid,
    lifecycleGeneration: 1n,
    revision: 1n,
    endpoint: 'tcp://10.0.0.1:7000',
    state: 'serving',
  });
}

export function meshNode(rid: string, name: string, generation = 1n): PlayedSource<'mesh'> {
  return new PlayedSource('mesh', {
    name,
    rid,
    lifecycleGeneration: generation,
    revision: 1n,
    endpoint: 'tcp://10.0.0.1:7000',
    state: 'starting',
    objectRole: 'none',
    channels: [{ name: 'chat', weight: 100 }],
    placementWeight: 100,
    limits: { actors: 0, spots: 0 },
    types: [],
    applicationVersion: 1n,
  });
}

/**
 * Discovery without a store: what hosts publish lands in one registry, and the test decides when who sees what.
 *
 * Owns nothing of leases, revisions or failures: a test says what a view is like.
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
import type { MeshDescriptor } from '@zlink/kernel/location';
import { describeNode, MESH, type NodeSetup } from './arrange.ts';
import type { Cluster } from './cluster.ts';
import type { TestHost } from './test-host.ts';

type MeshView = View<'mesh'>;

export class FakeRegistry {
  /** By RID. */
  readonly #endpoints = new Map<string, DiscoveredDescriptor<MeshDescriptor>>();
  readonly #hosts: FakeDiscovery[] = [];

  /** For one host. */
  discovery(): FakeDiscovery {
    const discovery = new FakeDiscovery(this);
    this.#hosts.push(discovery);
    return discovery;
  }

  put(facts: OwnFacts<'mesh'>): void {
    const ofRun = { ownerId: `owner of ${facts.rid}`, leaseGeneration: 1n, protocol: { min: 1, max: 1 } };
    this.#endpoints.set(facts.rid, { descriptor: { ...facts, ...ofRun }, isOwnerPresent: true });
  }

  remove(rid: string): void {
    this.#endpoints.delete(rid);
  }

  setOwnerPresent(rid: string, isOwnerPresent: boolean): void {
    this.#endpoints.set(rid, { descriptor: this.descriptor(rid), isOwnerPresent });
  }

  descriptor(rid: string): MeshDescriptor {
    const found = this.#endpoints.get(rid);
    if (found === undefined) throw new Error(`nobody has published "${rid}"`);
    return found.descriptor;
  }

  view(): MeshView {
    return { endpoints: new Map(this.#endpoints), isCurrent: true, problem: undefined };
  }

  /** Every host takes a new view. */
  show(): void {
    for (const host of this.#hosts) host.see();
  }
}

export class FakeDiscovery implements Discovery {
  readonly admission = { isOpen: true };
  problem: string | undefined;
  /** What this host has written, oldest first. */
  readonly writes: OwnFacts<'mesh'>[] = [];
  /** Rejections of the next claims. */
  readonly failures: Error[] = [];
  /** Ends before a claim succeeds. */
  gate: Promise<void> = Promise.resolve();
  source: PublicationSource<'mesh'> | undefined;
  readonly #registry: FakeRegistry;
  readonly #healthListeners: (() => void)[] = [];
  readonly #watchers = new Set<(view: MeshView) => void>();

  constructor(registry: FakeRegistry) {
    this.#registry = registry;
  }

  onHealth(listener: () => void): void {
    this.#healthListeners.push(listener);
  }

  /** The store fails, or works again; views show it only with `see`. */
  setProblem(problem: string | undefined): void {
    this.problem = problem;
    for (const listener of this.#healthListeners) listener();
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  /** Takes the registry's view, with what the test says of it. */
  see(of: Partial<MeshView> = {}): void {
    for (const onView of this.#watchers) onView({ ...this.#registry.view(), ...of });
  }

  async publish<K extends TopologyKind>(source: PublicationSource<K>, signal: AbortSignal): Promise<Publication> {
    const ofMesh = source as unknown as PublicationSource<'mesh'>; // meshes publish nothing else
    this.source = ofMesh;
    this.#write();
    await this.gate;
    signal.throwIfAborted();
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    return { changed: () => this.#write() };
  }

  watch<K extends TopologyKind>(
    topology: { readonly kind: K; readonly name: string },
    onView: (view: View<K>) => void,
  ) {
    expect(topology).toEqual({ kind: 'mesh', name: MESH });
    const watcher = onView as unknown as (view: MeshView) => void; // by the expectation above
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  #write(): void {
    const facts = this.source!.facts(); // set by `publish`
    this.writes.push(facts);
    this.#registry.put(facts);
  }
}

/** What a node of ours without channels publishes, with other values where the test says so. */
export function factsOf(
  given: Partial<DescriptorOf['mesh']> & Pick<MeshDescriptor, 'rid' | 'endpoint'>,
): OwnFacts<'mesh'> {
  return {
    name: MESH,
    lifecycleGeneration: 1n,
    revision: 1n,
    state: 'serving',
    objectRole: 'none',
    channels: [],
    placementWeight: 100,
    limits: { actors: 0, spots: 0 },
    types: [],
    applicationVersion: 1n,
    ...given,
  };
}

/** A node on a host with a Location Store; its RID begins with `name`. */
export function describeFound(
  cluster: Cluster,
  registry: FakeRegistry,
  name: string,
  setup: NodeSetup = {},
): FoundNode {
  const discovery = registry.discovery();
  const host = describeNode(cluster, name, { ...setup, host: { ...setup.host, discovery } });
  return { host, discovery };
}

export async function startFound(
  cluster: Cluster,
  registry: FakeRegistry,
  name: string,
  setup: NodeSetup = {},
): Promise<FoundNode> {
  const found = describeFound(cluster, registry, name, setup);
  await found.host.start();
  return found;
}

export interface FoundNode {
  readonly host: TestHost;
  readonly discovery: FakeDiscovery;
}

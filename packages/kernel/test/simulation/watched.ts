/**
 * What one watcher of a topology has seen.
 *
 * Owns the rules for views, M1 to M4 of member.ts. Leaves what follows from a view to its member.
 */
import type { DescriptorOf, View } from '../../src/internal/discovery/discovery.ts';
import { leaseKey, type Topology } from '../../src/location/index.ts';
import type { Cluster, ClusterHost } from './cluster.ts';
import { type Kind, type Truths, wordsOf } from './endpoint.ts';

/** Who watches. */
export interface Watching {
  readonly host: ClusterHost;
  readonly cluster: Cluster;
  readonly truths: Truths;
  /** Its store has failed, or it stood still. */
  readonly wasHurt: boolean;
}

export class Watched<K extends Kind> {
  readonly #topology: Topology & { readonly kind: K };
  readonly #member: Watching;
  readonly #onView: (view: View<K>) => void;
  readonly #revisions = new Map<string, bigint>();
  #end = (): void => {};
  last: View<K> | undefined;

  constructor(topology: Topology & { readonly kind: K }, member: Watching, onView: (view: View<K>) => void) {
    this.#topology = topology;
    this.#member = member;
    this.#onView = onView;
    this.begin();
  }

  begin(): void {
    this.last = undefined;
    this.#revisions.clear();
    this.#end = this.#member.host.runtime.watch(this.#topology, (view) => this.#take(view));
  }

  end(): void {
    this.#end();
  }

  get rids(): string {
    return [...(this.last?.endpoints.keys() ?? [])].sort().join();
  }

  /** What is in view, for a comparison with what is true. */
  get words(): string[] {
    const found = [...(this.last?.endpoints.values() ?? [])];
    return found
      .map(({ descriptor, isOwnerPresent }) => this.#wordsOf(descriptor) + (isOwnerPresent ? '' : ' (absent)'))
      .sort();
  }

  #take(view: View<K>): void {
    const { host, cluster, truths, wasHurt } = this.#member;
    const seen = new Set<string>();
    for (const { descriptor, isOwnerPresent } of view.endpoints.values()) {
      const { rid, lifecycleGeneration, revision, ownerId } = descriptor;
      const words = this.#wordsOf(descriptor);
      this.#expect(truths.has(words), `${host.name} sees ${words}, which never was`); // M2
      const run = `${rid}/${lifecycleGeneration}`;
      this.#expect(revision >= (this.#revisions.get(run) ?? 0n), `${host.name} sees ${run} go down to ${revision}`); // M1
      this.#revisions.set(run, revision);
      seen.add(run);
      const wasAbsent = isOwnerPresent || cluster.mirror.wasAbsent(leaseKey(ownerId), cluster.stage.clock.nowMs());
      this.#expect(wasAbsent, `${host.name} takes the owner of ${run} for absent, whose lease was always there`); // M3
    }
    for (const run of this.#revisions.keys()) if (!seen.has(run)) this.#revisions.delete(run);
    const isWell = view.isCurrent && view.problem === undefined;
    this.#expect(wasHurt || isWell, `${host.name} has a view in trouble: ${view.problem ?? 'not current'}`); // M4
    this.last = view;
    this.#onView(view);
  }

  /** A watcher must not throw. */
  #expect(holds: boolean, what: string): void {
    if (!holds) this.#member.cluster.faults.push(what);
  }

  #wordsOf(descriptor: DescriptorOf[K]): string {
    return wordsOf(this.#topology.kind, descriptor, descriptor.ownerId);
  }
}

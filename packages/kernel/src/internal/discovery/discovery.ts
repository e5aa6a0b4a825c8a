/**
 * What topics know of discovery: they publish their own endpoints and watch those of others.
 *
 * Owns the port. Leaves keys, versions and leases to what stands behind it; a host without a Location Store has none.
 */
import type { MeshDescriptor, PublisherDescriptor, ServerDescriptor, Topology } from '../../location/index.ts';

export type TopologyKind = Topology['kind'];

export interface DescriptorOf {
  readonly mesh: MeshDescriptor;
  readonly clientServer: ServerDescriptor;
  readonly fanout: PublisherDescriptor;
}

/** What an endpoint says about itself; its run, security identity and protocol versions are added. */
export type OwnFacts<K extends TopologyKind> = Omit<
  DescriptorOf[K],
  'ownerId' | 'leaseGeneration' | 'securityIdentity' | 'protocol' | 'otherFields'
>;

export interface PublicationSource<K extends TopologyKind> {
  readonly kind: K;
  /** What is true now; name, RID, generation and endpoint never change. */
  facts(): OwnFacts<K>;
  /** Raises the revision for a descriptor that others have removed; links are told, too (LOC-053). */
  raise(): void;
}

/** One own endpoint in the store, from its claim to the withdrawal by the host. */
export interface Publication {
  /** The facts have changed: they are written as soon as the store takes them; several changes may become one write. */
  changed(): void;
}

/** Whether this run may start work that needs its lease. */
export interface Admission {
  /** Asked per message: compares the clock with the admission deadline (LOC-051). */
  readonly isOpen: boolean;
}

export interface DiscoveredDescriptor<D> {
  readonly descriptor: D;
  /** Absent: no target of selection, placement or new connections (LOC-063). */
  readonly isOwnerPresent: boolean;
}

/** The last complete observation of one topology, own endpoints included. */
export interface View<K extends TopologyKind> {
  /** By RID. */
  readonly endpoints: ReadonlyMap<string, DiscoveredDescriptor<DescriptorOf[K]>>;
  /** False: the store was away for so long that a lost link is not dialled again (LOC-064). */
  readonly isCurrent: boolean;
  /** Why the store cannot be asked now, for people. */
  readonly problem: string | undefined;
}

export interface Discovery {
  readonly admission: Admission;
  /** Why the store cannot be asked now, for people; undefined while it works. */
  readonly problem: string | undefined;
  /** @param listener - `problem` has come or gone, and views of it were told; must not throw */
  onHealth(listener: () => void): void;
  /**
   * Claims the endpoint's place and keeps it until the host withdraws.
   *
   * @throws ConfigurationError if a mesh node's RID is taken (NET-003); ZLinkError `Unavailable` if the store is away for
   *   too long; or the signal's reason
   */
  publish<K extends TopologyKind>(source: PublicationSource<K>, signal: AbortSignal): Promise<Publication>;
  /**
   * @param onView - called with every new view, never from within `watch`; must not throw
   * @returns how to end it
   */
  watch<K extends TopologyKind>(topology: Topology & { readonly kind: K }, onView: (view: View<K>) => void): () => void;
}

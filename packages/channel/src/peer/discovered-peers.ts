/**
 * The nodes of the mesh that discovery has found (MESH-003).
 *
 * Owns the rule who dials whom, and what is shown of nodes that are not connected. Leaves intents to the discovered
 * endpoints, and views to discovery.
 *
 * 1. Of two nodes the one with the smaller RID dials, so that a pair makes one link. Duplicates are no concern here: a peer
 *    that was also configured by hand has two intents in one group, and the transport keeps one link (MESH-002).
 * 2. The own node stands in the view, too, and is no peer.
 */
import { compareUtf8 } from '@zlink/kernel/identity';
import {
  type DialTarget,
  type DiscoveredEndpoint,
  DiscoveredEndpoints,
  type Discovery,
  type NotUsed,
  type View,
} from '@zlink/kernel/internal/discovery';
import type { Intent, Link } from '@zlink/kernel/internal/transport';
import { NEEDLESS_LINK, needsLink, type NodeRoles, ObjectRole } from '@zlink/kernel/internal/wire';
import type { MeshDescriptor } from '@zlink/kernel/location';
import type { DialState } from './dial-state.ts';

/** A discovered node; state and reason are those of the way to it. */
export interface DiscoveredPeer extends DialState {
  readonly rid: string;
  readonly generation: bigint;
  /** Of its intent. */
  readonly link: Link | undefined;
  /** Channels that it serves, as far as the store knows. */
  readonly channelNames: readonly string[];
}

export interface DiscoveredPeersOptions {
  readonly own: { readonly rid: string; readonly current: NodeRoles };
  dial(target: DialTarget, onState: () => void): Intent;
  /** Whether a link to this very generation lives. */
  hasLink(rid: string, generation: bigint): boolean;
  /** What is known about this RID has changed. */
  onChanged(rid: string): void;
}

type Way = Omit<DialState, 'endpoint'>;

export class DiscoveredPeers {
  readonly #own: DiscoveredPeersOptions['own'];
  readonly #endpoints: DiscoveredEndpoints<'mesh'>;
  #view: View<'mesh'> | undefined;
  #stopWatching: (() => void) | undefined;
  #isClosed = false;

  constructor(options: DiscoveredPeersOptions) {
    this.#own = options.own;
    this.#endpoints = new DiscoveredEndpoints({
      dials: (descriptor) => this.#isDialler(descriptor.rid) && this.#isNeeded(descriptor),
      dial: (target, onState) => options.dial(target, onState),
      hasLink: (rid, generation) => options.hasLink(rid, generation),
      onChanged: (rid) => options.onChanged(rid),
    });
  }

  /** Why the store cannot be asked, for people. */
  get problem(): string | undefined {
    return this.#endpoints.problem;
  }

  /** Whether the mesh has a Location Store, and this node was published there. */
  get isWatching(): boolean {
    return this.#stopWatching !== undefined;
  }

  watch(discovery: Discovery, meshName: string): void {
    if (this.#isClosed) return; // the host ended while it was published
    this.#stopWatching = discovery.watch({ kind: 'mesh', name: meshName }, (view) => {
      this.#view = view; // first: whoever is told of a change asks what is known now
      this.#endpoints.apply(view);
    });
  }

  linkClosed(rid: string): void {
    this.#endpoints.linkClosed(rid);
  }

  /** Whether its descriptor stands in the view (NODE-001). */
  knows(rid: string): boolean {
    return this.#endpoints.knows(rid);
  }

  /** Of all that stand in the view, the own one included. */
  rids(): Iterable<string> {
    return this.#view?.endpoints.keys() ?? [];
  }

  /** Whether its descriptor says that it takes no direct messages (NODE-001). */
  isObjectClient(rid: string): boolean {
    return this.#view?.endpoints.get(rid)?.descriptor.objectRole === 'client';
  }

  /** Why a peer must not be chosen although its link lives, if so (LOC-063). */
  whyLeftOut(rid: string, generation: bigint): string | undefined {
    const reason = this.#endpoints.whyLeftOut(rid, generation);
    return reason === undefined ? undefined : TEXTS[reason];
  }

  /** One per RID: the listed generation, else the one whose link lives. */
  all(): DiscoveredPeer[] {
    const byRid = new Map<string, DiscoveredEndpoint>();
    for (const endpoint of this.#endpoints.all()) {
      if (endpoint.rid === this.#own.rid) continue; // 2
      if (endpoint.isListed || !byRid.has(endpoint.rid)) byRid.set(endpoint.rid, endpoint);
    }
    return [...byRid.values()].map((endpoint) => this.#describe(endpoint));
  }

  /** The one of `all` with this RID. */
  find(rid: string): DiscoveredPeer | undefined {
    if (rid === this.#own.rid) return undefined; // 2
    const generations = this.#endpoints.of(rid);
    const endpoint = generations.find(({ isListed }) => isListed) ?? generations[0];
    return endpoint && this.#describe(endpoint);
  }

  /** Whether some node should be connected: published, with an owner that lives, and in need of a link. */
  get expectsPeer(): boolean {
    for (const { descriptor, isOwnerPresent } of this.#view?.endpoints.values() ?? []) {
      const { rid, state } = descriptor;
      if (rid !== this.#own.rid && isOwnerPresent && state !== 'draining' && this.#isNeeded(descriptor)) return true;
    }
    return false;
  }

  async close(lingerMs: number): Promise<void> {
    this.#isClosed = true;
    this.#stopWatching?.();
    await this.#endpoints.close(lingerMs);
  }

  #describe(found: DiscoveredEndpoint): DiscoveredPeer {
    const { endpoint, rid, generation, intent } = found;
    const descriptor = this.#descriptorOf(found);
    const channelNames = descriptor?.channels.map(({ name }) => name) ?? [];
    const { state, reason, refusal }: Way = intent ?? this.#undialled(found, descriptor);
    return { endpoint, rid, generation, link: intent?.link, channelNames, state, reason, refusal };
  }

  /** Why there is no intent. */
  #undialled(found: DiscoveredEndpoint, descriptor: MeshDescriptor | undefined): Way {
    if (found.isOwnerPresent && descriptor !== undefined && !this.#isNeeded(descriptor)) {
      return { state: 'notRequired', reason: NEEDLESS_LINK }; // also one that drains: nobody waits for such a link
    }
    const reason = this.#endpoints.whyNotUsed(found) ?? 'undialled';
    if (reason === 'undialled' && !this.#isDialler(found.rid)) {
      return { state: 'connecting', reason: 'is the one that dials' };
    }
    return { state: 'closed', reason: TEXTS[reason] };
  }

  /** Of that very generation, while it is listed. */
  #descriptorOf({ rid, generation }: Pick<DialTarget, 'rid' | 'generation'>): MeshDescriptor | undefined {
    const descriptor = this.#view?.endpoints.get(rid)?.descriptor;
    return descriptor?.lifecycleGeneration === generation ? descriptor : undefined;
  }

  #isDialler(rid: string): boolean {
    return compareUtf8(this.#own.rid, rid) < 0; // 1
  }

  #isNeeded({ objectRole, channels }: MeshDescriptor): boolean {
    return needsLink({ objectRole: ObjectRole[objectRole], channels }, this.#own.current);
  }
}

/** As they follow the name of a node. */
const TEXTS: Readonly<Record<NotUsed, string>> = {
  ownerAbsent: 'is on a host without a lease',
  superseded: 'is not in the location store any more',
  gone: 'is not in the location store any more',
  draining: 'drains',
  undialled: 'not dialled while the location store is away',
};

/**
 * The nodes that this one knows of, connected or not: those it was told of, and those that discovery has found.
 *
 * Owns what holds for a node that is both. Leaves each source to its own class, and links to the peer table.
 *
 * K1 What was configured by hand counts: such a peer is a member, is shown once, and is a candidate whatever the store
 *    says about it (MESH-002, LOC-063).
 */
import { describeValue } from '@zlink/kernel/errors';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import type { Intent } from '@zlink/kernel/internal/transport';
import type { NodeRoles } from '@zlink/kernel/internal/wire';
import { dialText } from './dial-state.ts';
import { type DiscoveredPeer, DiscoveredPeers } from './discovered-peers.ts';
import { type ManualPeer, ManualPeers, type PeerAddress } from './manual-peers.ts';
import type { Peer } from './peer.ts';
import type { PeerTable } from './peer-table.ts';

export interface DialAddress extends PeerAddress {
  /** Only this generation is admitted; undefined: any. */
  readonly expectedGeneration?: bigint;
}

export interface KnownPeersOptions {
  /** Names the mesh in messages: `mesh "game"`. */
  readonly where: string;
  readonly own: { readonly rid: string; readonly current: NodeRoles };
  readonly peers: PeerTable;
  dial(address: DialAddress, onState: (intent: Intent) => void): Intent;
  /** What is known about this RID has changed, its membership perhaps. */
  onChanged(rid: string): void;
}

/** A mesh may have thousands. */
const SHOWN_COUNT = 8;

export class KnownPeers {
  readonly #ownRid: string;
  readonly #peers: PeerTable;
  readonly #manual: ManualPeers;
  readonly #discovered: DiscoveredPeers;

  constructor(options: KnownPeersOptions) {
    const { where, own, peers } = options;
    this.#ownRid = own.rid;
    this.#peers = peers;
    this.#manual = new ManualPeers({
      where,
      dial: (address, onState) => options.dial(address, onState),
      onMember: (rid) => options.onChanged(rid),
    });
    this.#discovered = new DiscoveredPeers({
      own,
      dial: ({ endpoint, rid, generation }, onState) =>
        options.dial({ endpoint, expectedRid: rid, expectedGeneration: generation }, onState),
      hasLink: (rid, generation) => peers.hasLink(rid, generation),
      onChanged: (rid) => options.onChanged(rid),
    });
  }

  /** Why the Location Store cannot be asked, for people. */
  get storeProblem(): string | undefined {
    return this.#discovered.problem;
  }

  connect(address: PeerAddress): void {
    this.#manual.connect(address);
  }

  disconnect(endpoint: string): void {
    this.#manual.disconnect(endpoint);
  }

  discover(discovery: Discovery, meshName: string): void {
    this.#discovered.watch(discovery, meshName);
  }

  linkClosed(rid: string): void {
    this.#discovered.linkClosed(rid);
  }

  /** Whether this RID is a member, connected or not (NODE-001). */
  knows(rid: string): boolean {
    return this.#manual.knows(rid) || this.#discovered.knows(rid);
  }

  /** Whether a node that is not connected is known to take no direct messages (NODE-001). */
  isObjectClient(rid: string): boolean {
    return this.#discovered.isObjectClient(rid);
  }

  /** Why a connected peer must not be chosen for channels, if so; direct messages still go (LOC-052, LOC-063). */
  whyLeftOut({ rid, link }: Peer): string | undefined {
    const reason = this.#discovered.whyLeftOut(rid, link.peer.generation);
    return reason === undefined || this.#manual.knows(rid) ? undefined : reason; // K1
  }

  manual(): readonly ManualPeer[] {
    return this.#manual.all();
  }

  /** Those that no manual endpoint stands for (K1). */
  discovered(): readonly DiscoveredPeer[] {
    return this.#discovered.all().filter(({ rid, endpoint }) => !this.#manual.standsFor(rid, endpoint));
  }

  /** The one of `discovered` with this RID. */
  discoveredOf(rid: string): DiscoveredPeer | undefined {
    const found = this.#discovered.find(rid);
    return found === undefined || this.#manual.standsFor(rid, found.endpoint) ? undefined : found; // K1
  }

  /** Whether the store knows it, whoever else does. */
  isDiscovered(rid: string): boolean {
    return this.#discovered.knows(rid);
  }

  /** Whether some node should be connected. */
  expectsPeer(): boolean {
    return this.#manual.expectsPeer || this.#discovered.expectsPeer;
  }

  /** How far the ways to one node are, for people. */
  explain(rid: string): readonly string[] {
    const manual = this.manual().filter((peer) => peer.expectedRid === rid || peer.admittedRid === rid);
    const discovered = this.discovered().filter((peer) => peer.rid === rid);
    const texts = manual.map(({ endpoint, intent: { state, reason } }) => dialText({ endpoint, state, reason }));
    return [...texts, ...discovered.map(dialText), ...this.explainStore()];
  }

  /** Who else could have been meant by a RID that is no member, for people. */
  explainMembers(): readonly string[] {
    const members = this.#someMembers();
    const known = members.length > 0 ? members.join(', ') : 'none';
    const allocated = this.#discovered.isWatching ? ['routing ids are allocated, see peers.list()'] : [];
    return [`known: ${known}`, ...allocated, ...this.explainStore()];
  }

  explainStore(): readonly string[] {
    const { storeProblem } = this;
    return storeProblem === undefined ? [] : [`location store: ${storeProblem}`];
  }

  /** Looks no further than what it shows: calls may name strangers again and again. */
  #someMembers(): string[] {
    const shown = new Set<string>();
    for (const rid of this.#members()) {
      if (rid === this.#ownRid || shown.has(rid)) continue;
      if (shown.size === SHOWN_COUNT) return [...[...shown].map(describeValue), 'and more'];
      shown.add(rid);
    }
    return [...shown].map(describeValue);
  }

  /** Connected or not, some more than once. */
  *#members(): Iterable<string> {
    for (const { rid } of this.#peers.all()) yield rid;
    yield* this.#manual.rids();
    yield* this.#discovered.rids();
  }

  async close(lingerMs: number): Promise<void> {
    await Promise.all([this.#manual.close(lingerMs), this.#discovered.close(lingerMs)]);
  }
}

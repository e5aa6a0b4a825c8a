/**
 * The endpoints of one topology that discovery has found: which of them this side dials, keeps, and leaves out.
 *
 * Owns one intent per endpoint and generation. Leaves the handshake, reconnecting and duplicates to the transport, and
 * choosing to the topic.
 *
 * E1 An endpoint is allowed while it stands in a current view, its owner is present, it does not drain, and the topic's rule
 *    names this side. An allowed endpoint has an intent (LOC-063, LOC-064).
 * E2 One that is not allowed any more keeps its link as long as that lives, and is not dialled again: an outage, or a peer
 *    that is cut off from the store, closes nothing (LOC-052, LOC-064).
 * E3 What left the view is remembered while a link to that generation lives, dialled from either side, and no longer.
 * E4 Of two generations of a RID the listed one is dialled beside the link of the other one; the transport replaces that
 *    link once the new one is verified (CS-009).
 */
import type { Intent } from '../transport/index.ts';
import type { DescriptorOf, DiscoveredDescriptor, TopologyKind, View } from './discovery.ts';

export interface DialTarget {
  readonly endpoint: string;
  readonly rid: string;
  /** Of the lifecycle; only this one is admitted. */
  readonly generation: bigint;
}

export interface DiscoveredEndpointsOptions<K extends TopologyKind> {
  /** Whether this side is the one that dials that endpoint. */
  dials(descriptor: DescriptorOf[K]): boolean;
  dial(target: DialTarget, onState: () => void): Intent;
  /** Whether a link to this very generation lives, whoever dialled it. */
  hasLink(rid: string, generation: bigint): boolean;
  /** What is known about this RID has changed. */
  onChanged(rid: string): void;
}

export interface DiscoveredEndpoint extends DialTarget {
  /** Undefined: the other side dials, or it is not allowed. */
  readonly intent: Intent | undefined;
  readonly isOwnerPresent: boolean;
  /** Stands in the last view. */
  readonly isListed: boolean;
}

interface Entry extends DialTarget {
  intent: Intent | undefined;
  isOwnerPresent: boolean;
  isListed: boolean;
  /** E1 */
  isAllowed: boolean;
}

export class DiscoveredEndpoints<K extends TopologyKind> {
  readonly #options: DiscoveredEndpointsOptions<K>;
  /** By RID; several while one generation follows another (E4). */
  readonly #entries = new Map<string, Entry[]>();
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: DiscoveredEndpointsOptions<K>) {
    this.#options = options;
  }

  /** Why the store cannot be asked, for people. */
  get problem(): string | undefined {
    return this.#problem;
  }

  apply(view: View<K>): void {
    if (this.#isClosed) return;
    this.#problem = view.problem;
    const changed = new Set<string>();
    for (const entry of this.#all()) if (!stillListed(entry, view)) this.#unlist(entry, changed);
    for (const found of view.endpoints.values()) this.#list(found, view.isCurrent, changed);
    for (const entry of this.#all()) this.#settle(entry);
    for (const rid of changed) this.#options.onChanged(rid);
  }

  /** A link to this RID has ended. */
  linkClosed(rid: string): void {
    for (const entry of this.#entries.get(rid) ?? []) this.#settle(entry);
  }

  /**
   * Its owner has no lease, or its descriptor is gone while the link still lives: no target of selection (LOC-063). One that
   * another generation follows is a target until that one is verified (CS-009).
   */
  isLeftOut(rid: string, generation: bigint): boolean {
    const entry = this.#find(rid, generation);
    if (entry === undefined) return false;
    return !entry.isOwnerPresent || !(entry.isListed || this.knows(rid));
  }

  /** Stands in the last view (NODE-001). */
  knows(rid: string): boolean {
    return this.#entries.get(rid)?.some(({ isListed }) => isListed) === true;
  }

  all(): readonly DiscoveredEndpoint[] {
    return this.#all();
  }

  async close(lingerMs: number): Promise<void> {
    this.#isClosed = true;
    const intents = this.#all().flatMap(({ intent }) => (intent === undefined ? [] : [intent]));
    this.#entries.clear();
    await Promise.all(intents.map((intent) => intent.close(lingerMs)));
  }

  #list(
    { descriptor, isOwnerPresent }: DiscoveredDescriptor<DescriptorOf[K]>,
    mayDial: boolean,
    changed: Set<string>,
  ): void {
    const { rid, lifecycleGeneration: generation, endpoint } = descriptor;
    const entry = this.#find(rid, generation) ?? this.#add({ rid, generation, endpoint });
    const isRunning = isOwnerPresent && descriptor.state !== 'draining';
    entry.isAllowed = mayDial && isRunning && this.#options.dials(descriptor);
    if (entry.isListed && entry.isOwnerPresent === isOwnerPresent) return;
    entry.isListed = true;
    entry.isOwnerPresent = isOwnerPresent;
    changed.add(rid);
  }

  #unlist(entry: Entry, changed: Set<string>): void {
    entry.isAllowed = false;
    if (!entry.isListed) return;
    entry.isListed = false;
    changed.add(entry.rid);
  }

  #settle(entry: Entry): void {
    if (this.#isClosed) return;
    const { rid, generation, intent } = entry;
    if (entry.isAllowed) {
      if (intent === undefined) entry.intent = this.#options.dial(entry, () => this.#onState(entry));
      return;
    }
    if (intent !== undefined && intent.state !== 'admitted') {
      entry.intent = undefined;
      void intent.close(0); // it has no link that could linger
    }
    const isKept = entry.isListed || entry.intent !== undefined || this.#options.hasLink(rid, generation);
    if (!isKept) this.#forget(entry); // E3
  }

  #onState(entry: Entry): void {
    if (entry.intent !== undefined && !entry.isAllowed) this.#settle(entry); // E2
  }

  #find(rid: string, generation: bigint): Entry | undefined {
    return this.#entries.get(rid)?.find((entry) => entry.generation === generation);
  }

  #add(target: DialTarget): Entry {
    const entry = { ...target, intent: undefined, isOwnerPresent: false, isListed: false, isAllowed: false };
    this.#entries.set(target.rid, [...(this.#entries.get(target.rid) ?? []), entry]);
    return entry;
  }

  #forget(entry: Entry): void {
    const left = this.#entries.get(entry.rid)?.filter((other) => other !== entry) ?? [];
    if (left.length > 0) this.#entries.set(entry.rid, left);
    else this.#entries.delete(entry.rid);
    this.#options.onChanged(entry.rid);
  }

  #all(): Entry[] {
    return [...this.#entries.values()].flat();
  }
}

function stillListed({ rid, generation }: Entry, { endpoints }: View<TopologyKind>): boolean {
  return endpoints.get(rid)?.descriptor.lifecycleGeneration === generation;
}

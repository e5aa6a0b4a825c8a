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
 * E5 Why an endpoint is not used is decided here alone; topics put it into words. Of several reasons the one counts that
 *    stands first in `NotUsed`.
 */
import type { Intent } from '../transport/index.ts';
import type { DescriptorOf, DiscoveredDescriptor, TopologyKind, View } from './discovery.ts';

export interface DialTarget {
  readonly endpoint: string;
  readonly rid: string;
  /** Of the lifecycle; only this one is admitted. */
  readonly generation: bigint;
}

/** Why an endpoint that is known is not dialled or not chosen. */
export type NotUsed =
  /** Its owner has no lease, or had none when it was listed last. */
  | 'ownerAbsent'
  /** The view lists another generation of its RID. */
  | 'superseded'
  /** The view lists nothing of its RID. */
  | 'gone'
  /** Its descriptor says so, which a link to it may not have said yet. */
  | 'draining'
  /** The other side dials, or the view is not current: there is no intent, and no other reason. */
  | 'undialled';

/** @typeParam I - what the topic dials with */
export interface DiscoveredEndpointsOptions<K extends TopologyKind, I extends Intent = Intent> {
  /** Whether this side is the one that dials that endpoint. */
  dials(descriptor: DescriptorOf[K]): boolean;
  dial(target: DialTarget, onState: () => void): I;
  /** Whether a link to this very generation lives, whoever dialled it. */
  hasLink(rid: string, generation: bigint): boolean;
  /** What is known about this RID has changed. */
  onChanged(rid: string): void;
}

export interface DiscoveredEndpoint<I extends Intent = Intent> extends DialTarget {
  /** Undefined: the other side dials, or it is not allowed. */
  readonly intent: I | undefined;
  readonly isOwnerPresent: boolean;
  readonly isDraining: boolean;
  /** Stands in the last view. */
  readonly isListed: boolean;
}

interface Entry<I extends Intent> extends DialTarget {
  intent: I | undefined;
  isOwnerPresent: boolean;
  isDraining: boolean;
  isListed: boolean;
  /** E1 */
  isAllowed: boolean;
}

export class DiscoveredEndpoints<K extends TopologyKind, I extends Intent = Intent> {
  readonly #options: DiscoveredEndpointsOptions<K, I>;
  /** By RID; several while one generation follows another (E4). */
  readonly #entries = new Map<string, Entry<I>[]>();
  #problem: string | undefined;
  #isClosed = false;

  constructor(options: DiscoveredEndpointsOptions<K, I>) {
    this.#options = options;
  }

  /** Why the store cannot be asked, for people. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Not called after `close`: the topic ends its watch first. */
  apply(view: View<K>): void {
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

  /** E5 */
  whyNotUsed({ rid, intent, isOwnerPresent, isListed, isDraining }: DiscoveredEndpoint<I>): NotUsed | undefined {
    if (!isOwnerPresent) return 'ownerAbsent';
    if (!isListed) return this.knows(rid) ? 'superseded' : 'gone';
    if (isDraining) return 'draining';
    return intent === undefined ? 'undialled' : undefined;
  }

  /**
   * Why it is no target of selection although its link lives, if so (LOC-063). One that another generation follows is a
   * target until that one is verified (CS-009).
   */
  whyLeftOut(rid: string, generation: bigint): 'ownerAbsent' | 'gone' | undefined {
    const entry = this.#find(rid, generation);
    const reason = entry === undefined ? undefined : this.whyNotUsed(entry);
    return reason === 'ownerAbsent' || reason === 'gone' ? reason : undefined;
  }

  /** Stands in the last view (NODE-001). */
  knows(rid: string): boolean {
    return this.#entries.get(rid)?.some(({ isListed }) => isListed) === true;
  }

  all(): readonly DiscoveredEndpoint<I>[] {
    return this.#all();
  }

  /** Those of `all` with this RID. */
  of(rid: string): readonly DiscoveredEndpoint<I>[] {
    return this.#entries.get(rid) ?? [];
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
    entry.isDraining = descriptor.state === 'draining';
    entry.isAllowed = mayDial && isOwnerPresent && !entry.isDraining && this.#options.dials(descriptor);
    if (entry.isListed && entry.isOwnerPresent === isOwnerPresent) return;
    entry.isListed = true;
    entry.isOwnerPresent = isOwnerPresent;
    changed.add(rid);
  }

  #unlist(entry: Entry<I>, changed: Set<string>): void {
    entry.isAllowed = false;
    if (!entry.isListed) return;
    entry.isListed = false;
    changed.add(entry.rid);
  }

  #settle(entry: Entry<I>): void {
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

  #onState(entry: Entry<I>): void {
    if (entry.intent !== undefined && !entry.isAllowed) this.#settle(entry); // E2
  }

  #find(rid: string, generation: bigint): Entry<I> | undefined {
    return this.#entries.get(rid)?.find((entry) => entry.generation === generation);
  }

  #add(target: DialTarget): Entry<I> {
    const state = { isOwnerPresent: false, isDraining: false, isListed: false, isAllowed: false };
    const entry = { ...target, ...state, intent: undefined };
    this.#entries.set(target.rid, [...(this.#entries.get(target.rid) ?? []), entry]);
    return entry;
  }

  #forget(entry: Entry<I>): void {
    const left = this.#entries.get(entry.rid)?.filter((other) => other !== entry) ?? [];
    if (left.length > 0) this.#entries.set(entry.rid, left);
    else this.#entries.delete(entry.rid);
    this.#options.onChanged(entry.rid);
  }

  #all(): Entry<I>[] {
    return [...this.#entries.values()].flat();
  }
}

function stillListed({ rid, generation }: DialTarget, { endpoints }: View<TopologyKind>): boolean {
  return endpoints.get(rid)?.descriptor.lifecycleGeneration === generation;
}

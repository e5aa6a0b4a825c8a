/**
 * One link to another node, and what that node says about itself on it.
 *
 * Owns the step from link events to the node's parts. Leaves which of several links to a RID counts to the peer table.
 */
import { isDraining, isReady } from '@zlink/kernel/internal/host';
import type { InboundRecord, Link, LinkSink } from '@zlink/kernel/internal/transport';
import { type ChannelMembership, type Descriptor, DescriptorState, ObjectRole } from '@zlink/kernel/internal/wire';

export interface PeerOwner {
  onMessage(record: InboundRecord, link: Link): void;
  onCancel(correlation: number, link: Link): void;
  /** An answer that no request waits for any more. */
  onStray(record: InboundRecord, link: Link): void;
  /** What the peer says about itself has changed, or it takes no new work any more. */
  onPeerChanged(peer: Peer): void;
  onPeerClosed(peer: Peer): void;
}

export class Peer implements LinkSink {
  readonly link: Link;
  readonly rid: string;
  readonly #owner: PeerOwner;
  /** Of which `#weights` were made; every update brings another one. */
  #described: Descriptor | undefined;
  #weights: ReadonlyMap<string, number> = new Map();

  constructor(link: Link, owner: PeerOwner) {
    this.link = link;
    this.rid = link.peer.rid;
    this.#owner = owner;
  }

  /** Takes new work here and there; whether it serves is another question. */
  get isOpen(): boolean {
    return this.link.phase === 'open';
  }

  get isReady(): boolean {
    return isReady(this.link);
  }

  /** Can be addressed by its RID: a node that drains decides itself (NODE-001). */
  get isAddressable(): boolean {
    return this.isOpen && this.link.descriptor.state !== DescriptorState.starting;
  }

  get isDraining(): boolean {
    return isDraining(this.link);
  }

  /** Has no handlers for direct messages (NODE-001). */
  get isObjectClient(): boolean {
    return this.link.descriptor.objectRole === ObjectRole.client;
  }

  get channels(): readonly ChannelMembership[] {
    return this.link.descriptor.channels;
  }

  isMemberOf(channelName: string): boolean {
    return this.#weightByName().has(channelName);
  }

  /** 0 without a membership. */
  weightIn(channelName: string): number {
    return this.#weightByName().get(channelName) ?? 0;
  }

  onRecord(record: InboundRecord, link: Link): void {
    this.#owner.onMessage(record, link);
  }

  onUnmatched(record: InboundRecord, link: Link): void {
    this.#owner.onStray(record, link);
  }

  onCancel(correlation: number, link: Link): void {
    this.#owner.onCancel(correlation, link);
  }

  onUpdate(): void {
    this.#owner.onPeerChanged(this);
  }

  onFinishing(): void {
    this.#owner.onPeerChanged(this);
  }

  onClosed(): void {
    this.#owner.onPeerClosed(this);
  }

  /** Every channel of a node asks after every update: with thousands of channels a list would be searched for each. */
  #weightByName(): ReadonlyMap<string, number> {
    const { descriptor } = this.link;
    if (descriptor !== this.#described) {
      this.#described = descriptor;
      this.#weights = new Map(descriptor.channels.map(({ name, weight }) => [name, weight]));
    }
    return this.#weights;
  }
}

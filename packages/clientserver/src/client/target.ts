/**
 * One server as its channel's client sees it: the sink of one link.
 *
 * Owns whether the server can be chosen. Leaves choosing to the channel client, and replies to the link.
 */
import { isDraining, isReady } from '@zlink/kernel/internal/host';
import type { InboundRecord, Link, LinkSink } from '@zlink/kernel/internal/transport';
import type { JobPermits } from '@zlink/kernel/internal/execution';
import { RecordKind } from '@zlink/kernel/internal/wire';

export interface TargetOwner {
  /** Readiness, weight or drain of a target has changed. */
  onTargetChanged(target: Target): void;
  onTargetClosed(target: Target): void;
  /** The server said something that no request of ours waits for (CS-006). */
  onStrayMessage(record: InboundRecord, link: Link): void;
  /** The same for an answer. */
  onStrayReply(record: InboundRecord, link: Link): void;
}

export class Target implements LinkSink {
  readonly link: Link;
  readonly #permits: JobPermits;
  readonly #owner: TargetOwner;

  constructor(link: Link, permits: JobPermits, owner: TargetOwner) {
    this.link = link;
    this.#permits = permits;
    this.#owner = owner;
  }

  get weight(): number {
    return this.link.descriptor.channels[0]?.weight ?? 0;
  }

  get draining(): boolean {
    return isDraining(this.link);
  }

  get ready(): boolean {
    return isReady(this.link);
  }

  onRecord(record: InboundRecord, link: Link): void {
    this.#permits.release();
    if (record.kind === RecordKind.request) link.forgo(); // a server has nothing to ask: no reply will be sent (CS-001)
    this.#owner.onStrayMessage(record, link);
  }

  onUnmatched(record: InboundRecord, link: Link): void {
    this.#owner.onStrayReply(record, link);
  }

  onCancel(): void {
    // Only requests of the server could be cancelled, and none was accepted.
  }

  onUpdate(): void {
    this.#owner.onTargetChanged(this);
  }

  onFinishing(): void {
    this.#owner.onTargetChanged(this);
  }

  onClosed(): void {
    this.#owner.onTargetClosed(this);
  }
}

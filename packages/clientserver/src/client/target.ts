/**
 * One server as its channel's client sees it: the sink of one link.
 *
 * Owns whether the server can be chosen. Leaves choosing to the channel client, and replies to the link.
 */
import { isDraining, isReady } from '@zlink/kernel/internal/host';
import type { InboundRecord, Link, LinkSink } from '@zlink/kernel/internal/transport';
import type { JobPermits } from '@zlink/kernel/internal/execution';
import { RecordKind } from '@zlink/kernel/internal/wire';
import type { Stray } from '@zlink/kernel/observe';

export interface TargetOwner {
  /** Readiness, weight or drain of a target has changed. */
  onTargetChanged(): void;
  onTargetClosed(target: Target): void;
  /** The server said something that no request of ours waits for (CS-006). */
  onStray(what: Stray, link: Link): void;
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
    const isRequest = record.kind === RecordKind.request;
    if (isRequest) link.forgo(); // a server has nothing to ask: no reply will be sent (CS-001)
    this.#owner.onStray(isRequest ? 'request' : 'send', link);
  }

  onUnmatched(_record: InboundRecord, link: Link): void {
    this.#owner.onStray('reply', link);
  }

  onCancel(): void {
    // Only requests of the server could be cancelled, and none was accepted.
  }

  onUpdate(): void {
    this.#owner.onTargetChanged();
  }

  onFinishing(): void {
    this.#owner.onTargetChanged();
  }

  onClosed(): void {
    this.#owner.onTargetClosed(this);
  }
}

/**
 * The topic's side of the suite's links: keeps what arrives and returns permits as told.
 *
 * G1 Every permit comes back exactly once: at once, or when `letGo` or `letGoOne` says so.
 */
import type { JobPermits } from '@zlink/kernel/internal/execution';
import type {
  DuplicatePolicy,
  InboundRecord,
  Link,
  LinkGroup,
  LinkSink,
  PeerFacts,
} from '@zlink/kernel/internal/transport';
import { keepRecord, type KeptRecord } from './kept-record.ts';

export interface LinkEnd {
  readonly link: Link;
  readonly reason: string;
}

export class RigGroup implements LinkGroup {
  readonly policy: DuplicatePolicy;
  readonly opened: Link[] = [];
  readonly closed: LinkEnd[] = [];
  readonly finishing: Link[] = [];
  readonly updated: Link[] = [];
  readonly received: KeptRecord[] = [];
  readonly unmatched: KeptRecord[] = [];
  readonly canceled: number[] = [];
  readonly greeted: PeerFacts[] = [];
  /** While true, records keep their permits. */
  holding = false;
  /** Called for each record, its permit decided upon. */
  answer: ((record: KeptRecord, link: Link) => void) | undefined;
  onOpened: ((link: Link) => void) | undefined;
  refusal: string | undefined;
  readonly #permits: JobPermits;
  #held = 0;

  constructor(policy: DuplicatePolicy, permits: JobPermits) {
    this.policy = policy;
    this.#permits = permits;
  }

  get held(): number {
    return this.#held;
  }

  get texts(): string[] {
    const decoder = new TextDecoder();
    return this.received.map((record) => decoder.decode(record.payload));
  }

  refuse(peer: PeerFacts): string | undefined {
    this.greeted.push(peer);
    return this.refusal;
  }

  open(link: Link): LinkSink {
    this.opened.push(link);
    this.onOpened?.(link);
    return {
      onRecord: (record, on) => this.#onRecord(record, on),
      onUnmatched: (record, on) => this.unmatched.push(keepRecord(record, on)),
      onCancel: (correlation) => this.canceled.push(correlation),
      onUpdate: (on) => this.updated.push(on),
      onFinishing: (on) => this.finishing.push(on),
      onClosed: (on, reason) => this.closed.push({ link: on, reason }),
    };
  }

  /** Returns one held permit. */
  letGoOne(): void {
    if (this.#held === 0) return;
    this.#held--; // first: the release may bring the next record
    this.#permits.release();
  }

  /** Returns all held permits and holds none any more. */
  letGo(): void {
    this.holding = false;
    while (this.#held > 0) this.letGoOne();
  }

  #onRecord(record: InboundRecord, link: Link): void {
    const kept = keepRecord(record, link);
    this.received.push(kept);
    if (this.holding) this.#held++;
    else this.#permits.release();
    this.answer?.(kept, link);
  }
}

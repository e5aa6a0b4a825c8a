/**
 * A transport that has its links already: a node that listens on it finds so many ready members of a channel.
 *
 * Owns the members' facts. Carries nothing: a link that is used throws.
 */
import type {
  Intent,
  Link,
  Listener,
  ListenOptions,
  PeerFacts,
  Transport,
  TransportStatus,
} from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState, ObjectRole } from '@zlink/kernel/internal/wire';

export class LinkedTransport implements Transport {
  readonly #links: readonly Link[];

  /** Weights 100, 200, 300: 2,000 choices make a cycle of a thousand members, which the search finds. */
  constructor(channelName: string, memberCount: number) {
    this.#links = Array.from(
      { length: memberCount },
      (_, index) => new IdleLink(index, channelName, 100 * (1 + (index % 3))),
    );
  }

  get status(): TransportStatus {
    const links = this.#links.length;
    const traffic = { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 };
    return { budgetBytes: 0, grantedBytes: 0, queuedBytes: 0, pendingRequests: 0, links, traffic, refused: {} };
  }

  async listen({ bindAddress, group }: ListenOptions): Promise<Listener> {
    for (const link of this.#links) group.open(link);
    return {
      endpoint: bindAddress,
      boundAddress: bindAddress,
      links: new Set(this.#links),
      update: () => undefined,
      close: async () => undefined,
    };
  }

  dial(): Intent {
    throw new Error('the members are linked already');
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}

class IdleLink implements Link {
  readonly id: number;
  readonly peer: PeerFacts;
  readonly correlationScope = { own: '', peer: '' };
  readonly descriptor: Descriptor;
  readonly phase = 'open';
  readonly outstandingBytes = 0;
  readonly waitingRecords = 0;
  readonly pendingRequests = 0;
  readonly unansweredRequests = 0;

  constructor(index: number, channelName: string, weight: number) {
    this.id = index;
    this.peer = {
      rid: `member-${index}`,
      generation: BigInt(index + 1),
      scope: 'bench',
      endpoint: '',
      securityIdentity: undefined,
      maxMessageBytes: 0,
    };
    this.descriptor = {
      revision: 1n,
      state: DescriptorState.serving,
      objectRole: ObjectRole.none,
      channels: [{ name: channelName, weight }],
    };
  }

  get traffic(): never {
    throw new Error('this link carries nothing');
  }

  submit(): boolean {
    throw new Error('this link carries nothing');
  }

  withdraw(): boolean {
    return false;
  }

  abandon(): void {
    // Nothing is pending.
  }

  forgo(): void {
    // Nothing was received.
  }

  finish(): void {
    // It never ends.
  }

  fail(): void {
    // It never ends.
  }
}

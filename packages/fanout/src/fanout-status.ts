/**
 * What a subscriber shows of its channel, and what it tells of changes (MON-020, MON-021).
 *
 * Owns which publishers were told, and what the channel misses. Leaves rows to the subscriber.
 *
 * 1. Publishers are missed if some are wanted, configured or published, and none lives (MON-004).
 * 2. Lost events are shown and never told: they could be as many as events (MON-022).
 * 3. What a publisher is refused for is what it has sent: no other side has a say in it.
 */
import type { Discovery } from '@zlink/kernel/internal/discovery';
import {
  type Monitor,
  type PublisherSnapshot,
  refusalError,
  ToldRows,
  type TopologyHealth,
  type TopologyReason,
} from '@zlink/kernel/observe';
import type { PublisherStatus } from './publisher-status.ts';

export interface FanoutStatusParts {
  readonly channelName: string;
  readonly monitor: Monitor;
  /** Undefined: publishers are configured by hand. */
  readonly discovery: Discovery | undefined;
  readonly health: Pick<TopologyHealth, 'refresh'>;
  publishers(): readonly PublisherStatus[];
}

export class FanoutStatus {
  readonly #parts: FanoutStatusParts;
  readonly #told: ToldRows<PublisherSnapshot>;

  constructor(parts: FanoutStatusParts) {
    const { channelName, monitor, discovery } = parts;
    this.#parts = parts;
    this.#told = new ToldRows<PublisherSnapshot>({
      isEqual: areEqual,
      isSamePeer: ({ endpoint }, other) => endpoint === other.endpoint,
      asGone: (publisher) => ({ ...publisher, intent: 'closed', state: 'closed' }),
      subjectsOf: () => [], // all are looked at
      tell: (publisher, key) =>
        monitor.tell(
          { type: 'zlink.runtime.fanout.publisher_changed', channelName, publisher },
          { subject: key, error: refusalError(publisher, 'ProtocolError') }, // 3
        ),
    });
    discovery?.onHealth(() => this.changed());
  }

  publishers(): readonly PublisherSnapshot[] {
    return this.#parts.publishers().map(snapshotOf);
  }

  missing(): readonly TopologyReason[] {
    const reasons: TopologyReason[] = [];
    if (this.#parts.discovery?.problem !== undefined) reasons.push('location_unavailable');
    const wanted = this.#parts.publishers().filter(({ state }) => state !== 'closed');
    if (wanted.length > 0 && wanted.every(({ state }) => state !== 'ready')) reasons.push('no_ready_peer'); // 1
    return reasons;
  }

  /** Something about a publisher has changed. */
  changed(): void {
    this.#told.update(new Map(this.publishers().map((publisher) => [keyOf(publisher), publisher])));
    this.#parts.health.refresh();
  }
}

function snapshotOf({ endpoint, routingId, state, reason, missedEvents }: PublisherStatus): PublisherSnapshot {
  return {
    ...(routingId === undefined ? {} : { publisherRid: routingId }),
    endpoint,
    intent: state === 'closed' ? 'closed' : 'open',
    state,
    missedEvents,
    ...(reason === undefined ? {} : { reason }),
  };
}

function keyOf({ endpoint, publisherRid }: PublisherSnapshot): string {
  return publisherRid === undefined ? endpoint : `${publisherRid} ${endpoint}`;
}

function areEqual(a: PublisherSnapshot, b: PublisherSnapshot): boolean {
  return a.state === b.state && a.reason === b.reason && a.publisherRid === b.publisherRid; // 2
}

/** Where a subscriber has its publishers from: its configuration, or discovery. */
import type { PublisherStatus } from '../publisher-status.ts';
import type { PublisherIntent, PublisherTarget } from './publisher-intent.ts';

export interface PublisherSource {
  /** From here on events may come. */
  serve(): void;
  rows(): readonly PublisherStatus[];
  /** Ends all subscriptions. */
  close(): Promise<void>;
}

export type Subscribe = (target: PublisherTarget, onState: () => void) => PublisherIntent;

/** @param intent - undefined: there is no subscription */
export function publisherStatus(
  endpoint: string,
  rid: string | undefined,
  intent: PublisherIntent | undefined,
  reason = intent?.reason,
): PublisherStatus {
  const firstEvent = intent?.firstEvent;
  return {
    endpoint,
    ...(rid === undefined ? {} : { routingId: rid }),
    state: intent?.linkState ?? 'closed',
    ...(reason === undefined ? {} : { reason }),
    missedEvents: intent?.missedEvents ?? 0,
    ...(firstEvent === undefined ? {} : { firstEvent }),
  };
}

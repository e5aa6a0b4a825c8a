/**
 * A side of a fanout comparison: one way from a publisher to many subscribers, each in a process of its own.
 *
 * Owns the contract that lets one load drive all sides.
 *
 * 1. Every side does the same work: each subscriber decodes each event and checks it.
 */
import type { Cargo, Message } from '../cargo.ts';

export interface PublishingSide {
  openPublisher(cargo: Cargo): Promise<PublisherEnd>;
  /** @param onEvent - called for each event once it was decoded */
  openSubscriber(cargo: Cargo, address: string, onEvent: () => void): Promise<SubscriberEnd>;
}

export interface PublisherEnd {
  readonly address: string;
  /** Resolves when so many have subscribed: from then on events reach them. */
  ready(subscriberCount: number): Promise<void>;
  /** Resolves when the next one may be published. */
  publish(event: Message): Promise<void>;
  close(): Promise<void>;
}

export interface SubscriberEnd {
  close(): Promise<void>;
}

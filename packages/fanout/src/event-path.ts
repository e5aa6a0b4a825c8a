/** The port between publish calls and the publisher of a channel. */
import type { FollowedPath } from '@zlink/kernel/call';
import type { ResolvedPacket } from '@zlink/kernel/message';
import type { CarriedFlow } from '@zlink/kernel/observe';
import type { Topic } from './topic.ts';

/** An event that wants to be published. */
export interface OutgoingEvent {
  readonly packet: ResolvedPacket;
  readonly topic: Topic;
  /** Started with the signal of a handler: part of accepted work, which may end while the host drains. */
  readonly belongsToHandler: boolean;
  /** What it carries of its flow; undefined at diagnostics level `off`. */
  readonly trace: CarriedFlow | undefined;
}

export interface EventPath extends FollowedPath {
  /**
   * Takes the event at once.
   *
   * @throws ZLinkError if it is not taken
   */
  publish(event: OutgoingEvent): void;
  /**
   * Resolves when at least `count` subscribers are connected.
   *
   * @throws ZLinkError `ShuttingDown`, `InvalidOperation` for a count out of range; or the signal's reason
   */
  whenSubscribed(count: number, signal: AbortSignal | undefined): Promise<void>;
}

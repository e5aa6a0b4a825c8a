/** What a subscriber shows of one publisher. */
import type { LinkState } from '@zlink/kernel/observe';

export interface PublisherStatus {
  /** Address of the publisher. */
  readonly endpoint: string;
  /** RID under which it is published; absent for an endpoint that was given by hand. */
  readonly routingId?: string;
  /** `admitted`: connected, and nothing was heard yet. `ready`: it lives. `rejected`: what it sent was refused. */
  readonly state: LinkState;
  /** Why it is not ready, for people. */
  readonly reason?: string;
  /**
   * Events of its current run, and of earlier ones that were followed here, that were published after the first one
   * received and never came: this process read too slowly, or was cut off. @see FAN-004
   */
  readonly missedEvents: number;
  /** Number of the first event that was received of its current run; a publisher counts its events from 1. */
  readonly firstEvent?: number;
}

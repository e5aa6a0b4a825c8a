/**
 * What has gone over one link since its admission, and how much of its window is taken.
 *
 * 1. Messages are sends, requests, replies and errors. Bytes are all that the link says: batches as they travel, with headers,
 *    credit and probes.
 * 2. The totals never go back; another link to the same peer begins at 0.
 * 3. It is no change of a peer or server: nobody is told, and events have none of it (MON-022).
 */
export interface LinkTraffic extends TrafficTotals {
  /**
   * Of `windowBytes`: what was sent and the peer has not taken over yet. Payload, metadata and 64 bytes for each message. One
   * that is larger than the window goes alone.
   */
  readonly outstandingBytes: number;
  /** What the peer grants: at most so much may be under way to it. */
  readonly windowBytes: number;
  /** Not sent yet, as the window has no room. How large they are shows when they are encoded. */
  readonly waitingMessages: number;
}

export interface TrafficTotals {
  /** Handed over to the connection. */
  readonly sentMessages: number;
  readonly sentBytes: number;
  /** Arrived, whether or not their turn has come. */
  readonly receivedMessages: number;
  readonly receivedBytes: number;
}

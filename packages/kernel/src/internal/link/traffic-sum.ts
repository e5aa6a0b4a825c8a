/**
 * What has gone over all links of a transport, from the first one on.
 *
 * Owns what was said and heard on links that have ended. Leaves open ones to who has them, and counting to the link.
 *
 * 1. The sum never goes back: a link leaves what it had here, once, in the step in which it is no open one any more.
 * 2. Nothing happens here while messages move: open links are read when the sum is asked for.
 */
import type { TrafficTotals } from '../../observe/index.ts';
import type { Link } from '../transport/transport.ts';

export class TrafficSum {
  #ended: TrafficTotals = { sentMessages: 0, sentBytes: 0, receivedMessages: 0, receivedBytes: 0 };

  /** At the end of a link (1). */
  keep(link: Pick<Link, 'traffic'>): void {
    this.#ended = this.with([link]);
  }

  /** Of these and of all that have ended. */
  with(open: Iterable<Pick<Link, 'traffic'>>): TrafficTotals {
    let { sentMessages, sentBytes, receivedMessages, receivedBytes } = this.#ended;
    for (const { traffic } of open) {
      sentMessages += traffic.sentMessages;
      sentBytes += traffic.sentBytes;
      receivedMessages += traffic.receivedMessages;
      receivedBytes += traffic.receivedBytes;
    }
    return { sentMessages, sentBytes, receivedMessages, receivedBytes };
  }
}

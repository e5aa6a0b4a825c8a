/**
 * Calls of one channel client that wait for a first server, in the order of their submission (CHAN-003).
 *
 * Owns who waits. Leaves how long to the calls, and choosing to the client.
 */
import type { OutboundPhase, RoutableCall } from '@zlink/kernel/call';
import type { Link } from '@zlink/kernel/internal/transport';

export class WaitingCalls {
  readonly #calls = new Set<RoutableCall>();

  add(call: RoutableCall): void {
    this.#calls.add(call);
  }

  delete(call: RoutableCall): void {
    this.#calls.delete(call);
  }

  /** Gives each of them the server that is chosen for it, while there is one. */
  serve(choose: () => Link | undefined): void {
    for (const call of this.#calls) {
      const link = choose();
      if (link === undefined) return;
      this.#calls.delete(call);
      call.takeLink(link);
    }
  }

  /** The phase has changed: calls that it does not take any more do not wait any longer. */
  refuseUntaken(phase: OutboundPhase): void {
    for (const call of [...this.#calls]) {
      if (phase.takes(call)) continue;
      this.#calls.delete(call);
      call.onRefused(phase.shuttingDown());
    }
  }
}

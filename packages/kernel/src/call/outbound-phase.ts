/**
 * Whether one topic (a channel, a node of a mesh, a publisher) still starts calls.
 *
 * Owns the phase and how a late call is told. Leaves targets, and the calls that wait for one, to the topic.
 *
 * 1. While the host drains only calls of handlers that still run are taken (CALL-005); whoever waits for servers or peers
 *    is no part of accepted work.
 */
import { ZLinkError } from '../errors/index.ts';
import type { RoutableCall } from './call-path.ts';

type StartingCall = Pick<RoutableCall, 'belongsToHandler'>;

export class OutboundPhase {
  readonly #where: string;
  #phase: 'open' | 'draining' | 'closed' = 'open';

  /** @param where - names the topic in messages: `mesh "game"` */
  constructor(where: string) {
    this.#where = where;
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** @throws ZLinkError `ShuttingDown` if the call must not start any more (1) */
  requireTaken(call: StartingCall): void {
    if (this.#phase !== 'open' && !this.takes(call)) throw this.shuttingDown();
  }

  takes(call: StartingCall): boolean {
    return this.#phase === 'open' || (this.#phase === 'draining' && call.belongsToHandler);
  }

  drain(): void {
    if (this.#phase === 'open') this.#phase = 'draining';
  }

  close(): void {
    this.#phase = 'closed';
  }

  shuttingDown(): ZLinkError {
    return new ZLinkError('ShuttingDown', `${this.#where} takes no new calls: the host is shutting down`);
  }
}

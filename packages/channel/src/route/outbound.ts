/**
 * What all routes of one node have in common: time, codecs, names, and whether the node still starts calls.
 *
 * Owns the outbound phase. Leaves targets to the routes.
 *
 * U1 While the host drains only calls of handlers that still run are taken (CALL-005).
 */
import type { RoutableCall } from '@zlink/kernel/call';
import type { CodecTable } from '@zlink/kernel/codec';
import { ZLinkError } from '@zlink/kernel/errors';
import type { HostParts } from '@zlink/kernel/internal/host';
import type { Clock, DeadlineWheel } from '@zlink/kernel/internal/time';
import type { NameIndex } from '@zlink/kernel/internal/wire';

export interface OutboundTimeouts {
  readonly sendTimeoutMs: number | undefined;
  readonly requestTimeoutMs: number | undefined;
}

export class Outbound {
  /** Names the mesh in messages: `mesh "game"`. */
  readonly where: string;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly codecs: CodecTable;
  readonly names: NameIndex;
  readonly sendTimeoutMs: number;
  readonly requestTimeoutMs: number;
  #phase: 'open' | 'draining' | 'closed' = 'open';

  constructor(where: string, timeouts: OutboundTimeouts, parts: HostParts) {
    this.where = where;
    this.clock = parts.clock;
    this.wheel = parts.wheel;
    this.codecs = parts.codecs;
    this.names = parts.names;
    this.sendTimeoutMs = timeouts.sendTimeoutMs ?? parts.sendTimeoutMs;
    this.requestTimeoutMs = timeouts.requestTimeoutMs ?? parts.requestTimeoutMs;
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  /** @throws ZLinkError `ShuttingDown` if the call must not start any more (U1) */
  requireTaken(call: RoutableCall): void {
    if (this.#phase !== 'open' && !this.takes(call)) throw this.shuttingDown();
  }

  takes(call: RoutableCall): boolean {
    return this.#phase === 'open' || (this.#phase === 'draining' && call.belongsToHandler);
  }

  drain(): void {
    if (this.#phase === 'open') this.#phase = 'draining';
  }

  close(): void {
    this.#phase = 'closed';
  }

  shuttingDown(): ZLinkError {
    return new ZLinkError('ShuttingDown', `${this.where} takes no new calls: the host is shutting down`);
  }
}

/**
 * The way to one node by its RID: exactly that one, never another (NODE-001).
 *
 * Owns nothing but the name; what is known about the node is asked when a call comes. Leaves waiting to the node routes.
 */
import type { CallPath, RoutableCall } from '@zlink/kernel/call';
import type { CodecTable } from '@zlink/kernel/codec';
import type { ZLinkError } from '@zlink/kernel/errors';
import type { Clock, DeadlineWheel } from '@zlink/kernel/internal/time';
import type { OutboundName } from '@zlink/kernel/internal/wire';
import type { NodeRoutes } from './node-routes.ts';
import type { Outbound } from './outbound.ts';

export class NodeRoute implements CallPath {
  readonly label: string;
  readonly clock: Clock;
  readonly wheel: DeadlineWheel;
  readonly codecs: CodecTable;
  readonly sendTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly #rid: string;
  readonly #outbound: Outbound;
  readonly #routes: NodeRoutes;

  constructor(rid: string, outbound: Outbound, routes: NodeRoutes) {
    this.label = `node "${rid}" of ${outbound.where}`;
    this.clock = outbound.clock;
    this.wheel = outbound.wheel;
    this.codecs = outbound.codecs;
    this.sendTimeoutMs = outbound.sendTimeoutMs;
    this.requestTimeoutMs = outbound.requestTimeoutMs;
    this.#rid = rid;
    this.#outbound = outbound;
    this.#routes = routes;
  }

  nameOf(contentType: string, packetName: string): OutboundName {
    return this.#outbound.names.get('', contentType, packetName);
  }

  route(call: RoutableCall): void {
    this.#routes.route(this.#rid, call);
  }

  unroute(call: RoutableCall): void {
    this.#routes.unroute(this.#rid, call);
  }

  noTarget(waitedMs: number): ZLinkError {
    return this.#routes.notReady(this.#rid, waitedMs);
  }
}

/**
 * The way to one node by its RID: exactly that one, never another (NODE-001).
 *
 * Owns nothing but the name; what is known about the node is asked when a call comes. Leaves waiting to the node routes.
 */
import type { CallPath, CallTerms, RoutableCall } from '@zlink/kernel/call';
import type { ZLinkError } from '@zlink/kernel/errors';
import type { OutboundName } from '@zlink/kernel/internal/wire';
import type { CallMeter, FlowPlace } from '@zlink/kernel/observe';
import type { NodeRoutes } from './node-routes.ts';
import type { Outbound } from './outbound.ts';

export class NodeRoute implements CallPath {
  readonly label: string;
  readonly terms: CallTerms;
  readonly place: FlowPlace;
  readonly meter: CallMeter | undefined;
  readonly #rid: string;
  readonly #outbound: Outbound;
  readonly #routes: NodeRoutes;

  constructor(rid: string, outbound: Outbound, routes: NodeRoutes) {
    this.label = `node "${rid}" of ${outbound.where}`;
    this.terms = outbound.terms;
    this.place = routes.place;
    this.meter = routes.meter;
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

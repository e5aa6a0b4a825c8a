/**
 * Direct calls to nodes by RID: who can be addressed now, who may be worth waiting for, and who is no member.
 *
 * Owns the calls that wait for a member, and the routes to members. Leaves links to the peer table, and the members that
 * are not connected to the known peers.
 *
 * N1 Only a member is waited for, at most the send timeout; whoever is none is `NotFound` at once, and leaves nothing
 *    behind here (NODE-001).
 * N2 A node that drains is addressed all the same; it decides (NODE-001).
 */
import type { CallPath, RoutableCall } from '@zlink/kernel/call';
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import { isRid, nameRule } from '@zlink/kernel/identity';
import type { Link } from '@zlink/kernel/internal/transport';
import { type CallMeter, type FlowPlace, nodePlace } from '@zlink/kernel/observe';
import type { KnownPeers } from '../peer/known-peers.ts';
import type { PeerTable } from '../peer/peer-table.ts';
import { NodeRoute } from './node-route.ts';
import type { Outbound } from './outbound.ts';

export interface NodeRoutesOptions {
  readonly outbound: Outbound;
  readonly peers: PeerTable;
  readonly known: Pick<KnownPeers, 'knows' | 'isObjectClient' | 'explain' | 'explainMembers'>;
}

export class NodeRoutes {
  /** What all routes to nodes have in common. */
  readonly place: FlowPlace;
  readonly meter: CallMeter | undefined;
  readonly #outbound: Outbound;
  readonly #peers: PeerTable;
  readonly #known: NodeRoutesOptions['known'];
  /** Of members only (N1). */
  readonly #routes = new Map<string, NodeRoute>();
  /** By RID, each with the time at which it began to wait. */
  readonly #waiting = new Map<string, Map<RoutableCall, number>>();

  constructor(options: NodeRoutesOptions) {
    const { meshName, rid, meter } = options.outbound;
    this.place = nodePlace('source', meshName, rid);
    this.meter = meter?.forCalls({ topology: 'mesh_node', meshName, surface: 'node' });
    this.#outbound = options.outbound;
    this.#peers = options.peers;
    this.#known = options.known;
  }

  /** Routes kept for members, and calls that wait for one. */
  get size(): number {
    return this.#routes.size + this.#waiting.size;
  }

  /** The way to a node; that it is no member is found when a call takes it. */
  to(rid: string): CallPath | ZLinkError {
    const known = this.#routes.get(rid);
    if (known !== undefined) return known;
    if (!isRid(rid)) {
      const text = `target RID ${describeValue(rid)} is not ${nameRule}`;
      return new ZLinkError('InvalidOperation', text);
    }
    const route = new NodeRoute(rid, this.#outbound, this);
    if (this.#isMember(rid)) this.#routes.set(rid, route);
    return route;
  }

  /** @throws ZLinkError `NotFound` if the node is no member, `ShuttingDown` */
  route(rid: string, call: RoutableCall): void {
    this.#outbound.phase.requireTaken(call);
    const peer = this.#peers.current(rid);
    const isRefused = peer === undefined ? !this.#isMember(rid) || this.#isObjectClient(rid) : peer.isObjectClient;
    if (isRefused) throw this.#notFound(rid); // N1
    if (peer?.isAddressable === true) return call.takeLink(peer.link); // N2
    const waiting = this.#waiting.get(rid) ?? new Map<RoutableCall, number>();
    this.#waiting.set(rid, waiting.set(call, this.#outbound.terms.clock.nowMs()));
    call.awaitTarget(this.#outbound.terms.sendTimeoutMs);
  }

  unroute(rid: string, call: RoutableCall): void {
    const waiting = this.#waiting.get(rid);
    if (waiting?.delete(call) === true && waiting.size === 0) this.#waiting.delete(rid);
  }

  /** Link, state or membership of this RID may have changed. */
  refresh(rid: string): void {
    const peer = this.#peers.current(rid);
    const isMember = this.#isMember(rid);
    if (!isMember) this.#routes.delete(rid);
    if (!isMember || this.#isObjectClient(rid)) {
      for (const [call] of this.#takeWaiting(rid)) call.onRefused(this.#notFound(rid));
    } else if (peer?.isAddressable === true) {
      for (const [call, sinceMs] of this.#takeWaiting(rid)) this.#serve(call, sinceMs, peer.link);
    }
  }

  /** The phase has changed: calls that are not taken any more do not wait any longer. */
  refuseUntaken(): void {
    const { phase } = this.#outbound;
    for (const [rid, calls] of [...this.#waiting]) {
      for (const call of [...calls.keys()]) {
        if (phase.takes(call)) continue;
        this.unroute(rid, call);
        call.onRefused(phase.shuttingDown());
      }
    }
  }

  close(): void {
    this.refuseUntaken();
    this.#routes.clear();
  }

  /** The error of a call that has waited in vain for a member: its own time was over, or the send timeout (N1). */
  notReady(rid: string, waitedMs: number): ZLinkError {
    const { where, terms } = this.#outbound;
    this.meter?.selectionFailed('not_ready');
    const kind = waitedMs < terms.sendTimeoutMs ? 'DeadlineExceeded' : 'Unavailable';
    const text = `node ${describeValue(rid)} of ${where} was not ready within ${waitedMs} ms`;
    return new ZLinkError(kind, `${text}: ${this.#explain(rid)}`);
  }

  /** What is the matter with a member that is not ready, for people. */
  #explain(rid: string): string {
    const connected = this.#peers.current(rid) === undefined ? [] : ['connected, does not serve yet'];
    return [...connected, ...this.#known.explain(rid)].join('; ');
  }

  #whyNone(rid: string): string {
    if (rid === this.#outbound.rid) return 'is this one, which has no link to itself';
    if (this.#isObjectClient(rid)) return 'is an object client and takes no direct messages';
    return ['is no member', ...this.#known.explainMembers()].join('; ');
  }

  #isMember(rid: string): boolean {
    return rid !== this.#outbound.rid && (this.#peers.current(rid) !== undefined || this.#known.knows(rid));
  }

  /** Has no handlers for direct messages; of a connected node its link knows. */
  #isObjectClient(rid: string): boolean {
    return this.#peers.current(rid)?.isObjectClient ?? this.#known.isObjectClient(rid);
  }

  /** One send timeout bounds the wait for the node and the wait for credit behind it (CALL-003). */
  #serve(call: RoutableCall, sinceMs: number, link: Link): void {
    const { clock, sendTimeoutMs } = this.#outbound.terms;
    call.takeLink(link, Math.max(1, sendTimeoutMs - (clock.nowMs() - sinceMs)));
  }

  #takeWaiting(rid: string): Iterable<[RoutableCall, number]> {
    const waiting = this.#waiting.get(rid);
    this.#waiting.delete(rid);
    return waiting ?? [];
  }

  #notFound(rid: string): ZLinkError {
    this.meter?.selectionFailed('no_member');
    return new ZLinkError('NotFound', `node ${describeValue(rid)} of ${this.#outbound.where} ${this.#whyNone(rid)}`);
  }
}

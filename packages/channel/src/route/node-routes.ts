/**
 * Direct calls to nodes by RID: who can be addressed now, who may be worth waiting for, and who is no member.
 *
 * Owns the calls that wait for a member, and the routes to members. Leaves links to the peer table, and the members that
 * are not connected to the manual peers.
 *
 * N1 Only a member is waited for, at most the send timeout; whoever is none is `NotFound` at once, and leaves nothing
 *    behind here (NODE-001).
 * N2 A node that drains is addressed all the same; it decides (NODE-001).
 */
import type { CallPath, RoutableCall } from '@zlink/kernel/call';
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import { isRid } from '@zlink/kernel/identity';
import type { ManualPeers } from '../peer/manual-peers.ts';
import type { Peer } from '../peer/peer.ts';
import type { PeerTable } from '../peer/peer-table.ts';
import { NodeRoute } from './node-route.ts';
import type { Outbound } from './outbound.ts';

export interface NodeRoutesOptions {
  readonly ownRid: string;
  readonly outbound: Outbound;
  readonly peers: PeerTable;
  readonly manual: ManualPeers;
}

export class NodeRoutes {
  readonly #ownRid: string;
  readonly #outbound: Outbound;
  readonly #peers: PeerTable;
  readonly #manual: ManualPeers;
  /** Of members only (N1). */
  readonly #routes = new Map<string, NodeRoute>();
  /** By RID, each with the time at which it began to wait. */
  readonly #waiting = new Map<string, Map<RoutableCall, number>>();

  constructor(options: NodeRoutesOptions) {
    this.#ownRid = options.ownRid;
    this.#outbound = options.outbound;
    this.#peers = options.peers;
    this.#manual = options.manual;
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
      const text = `target RID ${describeValue(rid)} is not 1..255 bytes of UTF-8 without NUL`;
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
    if (peer === undefined ? !this.#isMember(rid) : peer.isObjectClient) throw this.#notFound(rid); // N1
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
    if (peer === undefined && !this.#isMember(rid)) {
      this.#routes.delete(rid);
      for (const [call] of this.#takeWaiting(rid)) call.onRefused(this.#notFound(rid));
    } else if (peer?.isAddressable === true) {
      for (const [call, sinceMs] of this.#takeWaiting(rid)) this.#serve(call, sinceMs, peer);
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
    const kind = waitedMs < terms.sendTimeoutMs ? 'DeadlineExceeded' : 'Unavailable';
    const text = `node ${describeValue(rid)} of ${where} was not ready within ${waitedMs} ms`;
    return new ZLinkError(kind, `${text}: ${this.#explain(rid)}`);
  }

  /** What is the matter with a member that is not ready, for people. */
  #explain(rid: string): string {
    const intents = this.#manual.all().filter((peer) => peer.expectedRid === rid || peer.admittedRid === rid);
    const texts = intents.map(({ endpoint, intent }) => `${endpoint} ${intent.state}${reasonOf(intent.reason)}`);
    const peer = this.#peers.current(rid);
    if (peer !== undefined) texts.unshift('connected, does not serve yet');
    return texts.join('; ');
  }

  #isMember(rid: string): boolean {
    return rid !== this.#ownRid && (this.#peers.current(rid) !== undefined || this.#manual.knows(rid));
  }

  /** One send timeout bounds the wait for the node and the wait for credit behind it (CALL-003). */
  #serve(call: RoutableCall, sinceMs: number, peer: Peer): void {
    const { clock, sendTimeoutMs } = this.#outbound.terms;
    if (peer.isObjectClient) call.onRefused(this.#notFound(peer.rid));
    else call.takeLink(peer.link, Math.max(1, sendTimeoutMs - (clock.nowMs() - sinceMs)));
  }

  #takeWaiting(rid: string): Iterable<[RoutableCall, number]> {
    const waiting = this.#waiting.get(rid);
    this.#waiting.delete(rid);
    return waiting ?? [];
  }

  #notFound(rid: string): ZLinkError {
    const { where } = this.#outbound;
    if (rid === this.#ownRid) {
      return new ZLinkError(
        'NotFound',
        `node ${describeValue(rid)} of ${where} is this one, which has no link to itself`,
      );
    }
    const isObjectClient = this.#peers.current(rid)?.isObjectClient === true;
    const what = isObjectClient ? 'is an object client and takes no direct messages' : 'is no member';
    return new ZLinkError('NotFound', `node ${describeValue(rid)} of ${where} ${what}`);
  }
}

function reasonOf(reason: string | undefined): string {
  return reason === undefined ? '' : ` (${reason})`;
}

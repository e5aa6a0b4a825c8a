/**
 * The way of one ChannelName's calls: the nodes that serve it, in weighted order.
 *
 * Owns the candidates and their selector. Leaves knowing peers to the peer table, messages and time to the calls.
 *
 * A1 A candidate is remote, ready, does not drain, and has a membership with a weight above 0 (CHAN-002). The own node is
 *    no peer of itself and so never one.
 * A2 The list changes when a candidate comes, goes, changes its weight or its link, and only then (WRR-003).
 * A3 Selection and submission are one step; the chosen node is shown to nobody (CHAN-004).
 * A4 Without a candidate a call fails at once: nothing that it could wait for is on its way (CHAN-002).
 */
import type { CallPath, CallTerms, RoutableCall } from '@zlink/kernel/call';
import { ZLinkError } from '@zlink/kernel/errors';
import { WeightedSelector } from '@zlink/kernel/internal/selection';
import type { Link } from '@zlink/kernel/internal/transport';
import type { OutboundName } from '@zlink/kernel/internal/wire';
import { type CallMeter, type FlowPlace, meshChannelPlace } from '@zlink/kernel/observe';
import type { Peer } from '../peer/peer.ts';
import type { WhyNoNode } from './explain-channel.ts';
import type { Outbound } from './outbound.ts';

export class ChannelRoute implements CallPath {
  readonly channelName: string;
  readonly label: string;
  readonly terms: CallTerms;
  readonly place: FlowPlace;
  readonly meter: CallMeter | undefined;
  readonly #outbound: Outbound;
  readonly #explain: (channelName: string) => WhyNoNode;
  readonly #selector: WeightedSelector<Link>;

  /** @param explain - why no node can be chosen for this channel */
  constructor(channelName: string, outbound: Outbound, explain: (channelName: string) => WhyNoNode) {
    this.channelName = channelName;
    this.label = `channel "${channelName}"`;
    this.terms = outbound.terms;
    const { meshName, rid, meter } = outbound;
    this.place = meshChannelPlace('source', meshName, channelName, rid);
    this.meter = meter?.forCalls({ topology: 'mesh_node', meshName, surface: 'channel', channelName });
    this.#outbound = outbound;
    this.#explain = explain;
    this.#selector = new WeightedSelector(() => outbound.terms.clock.nowMs());
  }

  /** How often the candidate list has changed. */
  get rebuilds(): number {
    return this.#selector.rebuilds;
  }

  /** Nodes that can be chosen now. */
  get candidateCount(): number {
    return this.#selector.size;
  }

  nameOf(contentType: string, packetName: string): OutboundName {
    return this.#outbound.names.get(this.channelName, contentType, packetName);
  }

  route(call: RoutableCall): void {
    this.#outbound.phase.requireTaken(call);
    const link = this.#selector.next();
    if (link === undefined) throw this.noTarget(); // A4
    call.takeLink(link); // A3
  }

  unroute(): void {
    // No call waits here (A4).
  }

  noTarget(): ZLinkError {
    const { failure, text } = this.#explain(this.channelName);
    this.meter?.selectionFailed(failure);
    return new ZLinkError('NotFound', `${this.label} has no ready server: ${text}`);
  }

  /** The current peer of a RID is this one now, or none that may be chosen (LOC-063). @returns whether that changes anything */
  update(rid: string, peer: Peer | undefined): boolean {
    if (peer?.isReady !== true) return this.#selector.remove(rid); // A1
    return this.#selector.put({ id: rid, weight: peer.weightIn(this.channelName), target: peer.link }); // A2
  }
}

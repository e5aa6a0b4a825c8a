/**
 * One node of one mesh at run time: a single identity and listener that direct messages and all channels share (MESH-001).
 *
 * Composes descriptor, peers, routes and inbound, and tells each of them what has happened. Decides nothing itself.
 *
 * 1. Every link of the node, dialled or accepted, ends in one peer table; all else is told by RID.
 * 2. A new link is used once the transport has admitted it for good, in a later microtask.
 */
import { type CallPath, callTerms, OutboundPhase } from '@zlink/kernel/call';
import { channelSurface, Dispatcher, nodeSurface } from '@zlink/kernel/dispatch';
import { describeValue, type ZLinkError } from '@zlink/kernel/errors';
import { formatEndpoint, type NodeIdentity, newGeneration, newRid } from '@zlink/kernel/identity';
import { ReadinessWaiters } from '@zlink/kernel/internal/completion';
import { type HostParts, listenFor, type ListenerStatus, OwnDescriptor } from '@zlink/kernel/internal/host';
import type { InboundRecord, Intent, Link, LinkGroup, LinkSink, Listener } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState, EndpointKind } from '@zlink/kernel/internal/wire';
import { type MessageCounters, StrayCounters } from '@zlink/kernel/observe';
import { Inbound } from './inbound.ts';
import { type CheckedMesh, type MeshOptions } from './mesh-options.ts';
import { ManualPeers, type PeerAddress } from './peer/manual-peers.ts';
import { Peer, type PeerOwner } from './peer/peer.ts';
import { PeerTable } from './peer/peer-table.ts';
import { listPeers, type PeerStatus } from './peer-status.ts';
import { ChannelRoute } from './route/channel-route.ts';
import { explainChannel } from './route/explain-channel.ts';
import { NodeRoutes } from './route/node-routes.ts';
import type { Outbound } from './route/outbound.ts';

export class MeshNode implements PeerOwner {
  readonly identity: NodeIdentity;
  readonly #meshName: string;
  readonly #parts: HostParts;
  readonly #since = new Date();
  readonly #descriptor: OwnDescriptor;
  readonly #outbound: Outbound;
  readonly #inbound: Inbound;
  readonly #peers = new PeerTable();
  readonly #manual: ManualPeers;
  readonly #channels: ReadonlyMap<string, ChannelRoute>;
  readonly #nodes: NodeRoutes;
  readonly #readiness = new ReadinessWaiters();
  readonly #strays = new StrayCounters();
  readonly #group: LinkGroup = { policy: 'smallerRid', open: (link) => this.#openPeer(link) };
  /** Set by `open`, the only way to get a node. */
  #listener!: Listener;

  private constructor(mesh: CheckedMesh, parts: HostParts) {
    const { meshName, where, options } = mesh;
    this.identity = { rid: options.routingId ?? newRid(options.ridPrefix ?? 'node'), generation: newGeneration() };
    this.#meshName = meshName;
    this.#parts = parts;
    this.#descriptor = new OwnDescriptor(weightsOf(options));
    const phase = new OutboundPhase(where);
    this.#outbound = { where, terms: callTerms(parts, options), names: parts.names, phase };
    this.#inbound = makeInbound(mesh, this.identity.rid, parts);
    this.#manual = new ManualPeers({
      where,
      dial: (address, onState) => this.#dial(address, onState),
      onMember: (rid) => this.#nodes.refresh(rid),
    });
    const explain = (channelName: string): string => explainChannel(channelName, this.#peers, this.#manual.all());
    this.#channels = new Map(
      [...options.channels.keys()].map((name) => [name, new ChannelRoute(name, this.#outbound, explain)]),
    );
    this.#nodes = new NodeRoutes({
      ownRid: this.identity.rid,
      outbound: this.#outbound,
      peers: this.#peers,
      manual: this.#manual,
    });
  }

  /** Binds the node and begins to dial its manual peers. */
  static async open(mesh: CheckedMesh, parts: HostParts): Promise<MeshNode> {
    const node = new MeshNode(mesh, parts);
    const { host, port } = mesh.bind;
    const advertiseHost = mesh.options.advertiseHost ?? parts.advertiseHost;
    node.#listener = await listenFor(mesh.where, parts.transport, {
      kind: EndpointKind.meshNode,
      accepts: EndpointKind.meshNode,
      scope: mesh.meshName,
      identity: node.identity,
      bindAddress: formatEndpoint(host ?? parts.bindHost, port),
      ...(advertiseHost === undefined ? {} : { advertiseHost }),
      maxMessageBytes: 0, // no limit of ours (JOBQ-010)
      descriptor: node.#descriptor.current,
      group: node.#group,
    });
    for (const address of mesh.options.peers) node.#manual.connect(address);
    return node;
  }

  get endpoint(): string {
    return this.#listener.endpoint;
  }

  /** Whether new work may still begin. */
  get isOpen(): boolean {
    return this.#outbound.phase.isOpen;
  }

  /** Routes to nodes, and calls that wait for one, that are kept: bounded by the members. */
  get keptRoutes(): number {
    return this.#nodes.size;
  }

  channel(channelName: string): ChannelRoute | undefined {
    return this.#channels.get(channelName);
  }

  pathTo(rid: string): CallPath | ZLinkError {
    return this.#nodes.to(rid);
  }

  connect(address: PeerAddress): void {
    this.#manual.connect(address);
  }

  disconnect(endpoint: string): void {
    this.#manual.disconnect(endpoint);
  }

  listPeers(): readonly PeerStatus[] {
    return listPeers(this.#manual.all(), this.#peers);
  }

  weightOf(channelName: string): number | undefined {
    return this.#descriptor.weightOf(channelName);
  }

  setWeight(channelName: string, weight: number): void {
    this.#publish(this.#descriptor.setWeight(channelName, weight));
  }

  whenReady(count: number, signal: AbortSignal | undefined): Promise<void> {
    const { phase } = this.#outbound;
    if (!phase.isOpen) return Promise.reject(phase.shuttingDown());
    return this.#readiness.wait(count, this.#peers.countReady(), signal);
  }

  serve(): void {
    this.#inbound.serve();
    this.#publish(this.#descriptor.become(DescriptorState.serving));
  }

  drain(): void {
    const { phase } = this.#outbound;
    phase.drain();
    this.#nodes.refuseUntaken();
    this.#readiness.fail(phase.shuttingDown());
    this.#inbound.drain();
    this.#publish(this.#descriptor.become(DescriptorState.draining));
  }

  drained(): Promise<void> {
    return this.#inbound.drained();
  }

  abort(): void {
    this.#inbound.abort();
  }

  async close(lingerMs: number): Promise<void> {
    const { phase } = this.#outbound;
    phase.close();
    this.#nodes.close();
    this.#readiness.fail(phase.shuttingDown());
    // Intents first: a link that ends must not be dialled again.
    await Promise.all([this.#manual.close(lingerMs), this.#listener.close(lingerMs)]);
  }

  listenerStatus(): ListenerStatus {
    return { kind: 'ROUTE_MESH', name: this.#meshName, endpoint: this.endpoint, since: this.#since };
  }

  counters(): readonly MessageCounters[] {
    return [...this.#inbound.counters(), this.#strays.snapshot(this.#meshName)];
  }

  onMessage(record: InboundRecord, link: Link): void {
    this.#inbound.accept(record, link);
  }

  onCancel(correlation: number, link: Link): void {
    this.#inbound.cancel(correlation, link);
  }

  onStray(): void {
    this.#strays.count('reply');
  }

  onPeerChanged(peer: Peer): void {
    this.#refresh(peer.rid);
  }

  onPeerClosed(peer: Peer): void {
    this.#peers.remove(peer);
    this.#inbound.linkClosed(peer.link);
    this.#refresh(peer.rid);
  }

  #openPeer(link: Link): LinkSink {
    const peer = new Peer(link, this);
    this.#peers.add(peer);
    queueMicrotask(() => this.#refresh(peer.rid)); // 2
    return peer;
  }

  #refresh(rid: string): void {
    const current = this.#peers.refresh(rid);
    for (const channel of this.#channels.values()) channel.update(rid, current);
    this.#nodes.refresh(rid);
    this.#readiness.settle(this.#peers.countReady());
  }

  #dial({ endpoint, expectedRid }: PeerAddress, onState: (intent: Intent) => void): Intent {
    return this.#parts.transport.dial({
      kind: EndpointKind.meshNode,
      expects: EndpointKind.meshNode,
      scope: this.#meshName,
      identity: this.identity,
      descriptor: this.#descriptor.current,
      address: endpoint,
      ...(expectedRid === undefined ? {} : { expectedRid }),
      group: this.#group,
      through: this.#listener,
      onState,
    });
  }

  #publish(descriptor: Descriptor): void {
    this.#listener.update(descriptor);
  }
}

function makeInbound(mesh: CheckedMesh, rid: string, parts: HostParts): Inbound {
  const { meshName, where, options } = mesh;
  const common = { mailboxLimits: options.mailboxLimits, parts };
  const ofNode = `node ${describeValue(rid)} of ${where}`;
  const direct = new Dispatcher({
    ...common,
    owner: meshName,
    where: ofNode,
    surface: nodeSurface(meshName, rid),
    handlers: mesh.direct,
    concurrency: options.concurrency,
  });
  const ofChannels = new Map(
    [...mesh.channels].map(([channelName, { handlers, concurrency }]) => {
      const dispatcher = new Dispatcher({
        ...common,
        owner: channelName,
        where: `channel "${channelName}" (${ofNode})`, // callers learn which of several it was
        surface: channelSurface(channelName, meshName),
        handlers,
        concurrency,
      });
      return [channelName, dispatcher];
    }),
  );
  return new Inbound(direct, ofChannels);
}

function weightsOf(options: MeshOptions): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const [name, { server }] of options.channels) if (server !== undefined) weights.set(name, server.weight);
  return weights;
}

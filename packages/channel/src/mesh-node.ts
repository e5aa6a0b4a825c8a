/**
 * One node of one mesh at run time: a single identity and listener that direct messages and all channels share (MESH-001).
 *
 * Composes own endpoint, peers, routes, inbound and status, and tells each of them what has happened. Decides nothing itself.
 *
 * 1. Every link of the node, dialled or accepted, ends in one peer table; all else is told by RID.
 * 2. A new link is used once the transport has admitted it for good, in a later microtask.
 */
import { type CallPath, callTerms, noteUnexpectedReply, OutboundPhase } from '@zlink/kernel/call';
import { channelSurface, Dispatcher, nodeSurface } from '@zlink/kernel/dispatch';
import { describeValue, type ZLinkError } from '@zlink/kernel/errors';
import { formatEndpoint, type NodeIdentity, newGeneration, newRid } from '@zlink/kernel/identity';
import { ReadinessWaiters } from '@zlink/kernel/internal/completion';
import { type HostParts, listenFor, type ListenerStatus, OwnEndpoint } from '@zlink/kernel/internal/host';
import type { InboundRecord, Intent, Link, LinkGroup, LinkSink, Listener } from '@zlink/kernel/internal/transport';
import { DescriptorState, EndpointKind } from '@zlink/kernel/internal/wire';
import { type MessageBacklog, type MessageCounters, StrayCounters, type TopologyHealth } from '@zlink/kernel/observe';
import { Inbound } from './inbound.ts';
import { type CheckedMesh, type MeshOptions } from './mesh-options.ts';
import { MeshStatus } from './mesh-status.ts';
import { NO_OBJECTS } from './no-objects.ts';
import { type DialAddress, KnownPeers } from './peer/known-peers.ts';
import type { PeerAddress } from './peer/manual-peers.ts';
import { Peer, type PeerOwner } from './peer/peer.ts';
import { PeerTable } from './peer/peer-table.ts';
import { peerRows, type PeerStatus, peerStatus } from './peer-status.ts';
import { ChannelRoute } from './route/channel-route.ts';
import { explainChannel, type WhyNoNode } from './route/explain-channel.ts';
import { NodeRoutes } from './route/node-routes.ts';
import type { Outbound } from './route/outbound.ts';

export class MeshNode implements PeerOwner {
  readonly identity: NodeIdentity;
  readonly status: MeshStatus;
  readonly #meshName: string;
  readonly #parts: HostParts;
  readonly #since = new Date();
  readonly #own: OwnEndpoint<'mesh'>;
  readonly #outbound: Outbound;
  readonly #inbound: Inbound;
  readonly #peers = new PeerTable();
  readonly #known: KnownPeers;
  readonly #channels: ReadonlyMap<string, ChannelRoute>;
  readonly #nodes: NodeRoutes;
  readonly #readiness = new ReadinessWaiters();
  readonly #strays = new StrayCounters();
  readonly #group: LinkGroup = {
    policy: 'smallerRid',
    open: (link) => this.#openPeer(link),
    onRidConflict: () => this.status.conflict(),
  };
  /** Set by `open`, the only way to get a node. */
  #listener!: Listener;

  private constructor(mesh: CheckedMesh, parts: HostParts, health: TopologyHealth) {
    const { meshName, where, options } = mesh;
    this.identity = { rid: options.routingId ?? newRid(options.ridPrefix ?? 'node'), generation: newGeneration() };
    this.#meshName = meshName;
    this.#parts = parts;
    this.#own = new OwnEndpoint({
      kind: 'mesh',
      name: meshName,
      identity: this.identity,
      weights: weightsOf(options),
      listener: () => this.#listener,
      describe: (channels) => ({ ...NO_OBJECTS, channels }),
    });
    const phase = new OutboundPhase(where);
    this.#outbound = {
      meshName,
      rid: this.identity.rid,
      where,
      terms: callTerms(parts, options),
      names: parts.names,
      phase,
      meter: parts.meter,
    };
    this.#inbound = makeInbound(mesh, this.identity.rid, parts);
    this.#known = new KnownPeers({
      where,
      own: this.#own,
      peers: this.#peers,
      dial: (address, onState) => this.#dial(address, onState),
      onChanged: (rid) => this.#reroute(rid),
    });
    const explain = (channelName: string): WhyNoNode => explainChannel(channelName, this.#peers, this.#known);
    this.#channels = new Map(
      [...options.channels.keys()].map((name) => [name, new ChannelRoute(name, this.#outbound, explain)]),
    );
    this.#nodes = new NodeRoutes({
      outbound: this.#outbound,
      peers: this.#peers,
      known: this.#known,
    });
    const { discovery, monitor, clock } = parts;
    const [own, peers, known, channels] = [this.#own, this.#peers, this.#known, this.#channels];
    this.status = new MeshStatus({ meshName, where, own, peers, known, channels, discovery, health, monitor, clock });
    discovery?.onHealth(() => health.refresh());
  }

  /** Binds the node and begins to dial its manual peers. */
  static async open(mesh: CheckedMesh, parts: HostParts, health: TopologyHealth): Promise<MeshNode> {
    const node = new MeshNode(mesh, parts, health);
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
      descriptor: node.#own.current,
      group: node.#group,
    });
    for (const address of mesh.options.peers) node.#known.connect(address);
    return node;
  }

  /** Does nothing without a Location Store. @throws what `Discovery.publish` rejects with */
  async announce(signal: AbortSignal): Promise<void> {
    const { discovery } = this.#parts;
    if (discovery === undefined) return;
    await this.#own.publish(discovery, signal);
    this.#known.discover(discovery, this.#meshName);
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
    this.#known.connect(address);
  }

  disconnect(endpoint: string): void {
    this.#known.disconnect(endpoint);
    this.status.peerChanged({ endpoint });
  }

  listPeers(): readonly PeerStatus[] {
    return Object.freeze(peerRows(this.#known, this.#peers).map(peerStatus));
  }

  weightOf(channelName: string): number | undefined {
    return this.#own.weightOf(channelName);
  }

  setWeight(channelName: string, weight: number): void {
    this.#own.setWeight(channelName, weight);
    const route = this.#channels.get(channelName);
    if (route !== undefined) this.status.channelChanged(route);
  }

  whenReady(count: number, signal: AbortSignal | undefined): Promise<void> {
    const { phase } = this.#outbound;
    if (!phase.isOpen) return Promise.reject(phase.shuttingDown());
    return this.#readiness.wait(count, this.#peers.countReady(), signal);
  }

  serve(): void {
    this.#inbound.serve();
    this.#own.become(DescriptorState.serving);
  }

  drain(): void {
    const { phase } = this.#outbound;
    phase.drain();
    this.#nodes.refuseUntaken();
    this.#readiness.fail(phase.shuttingDown());
    this.#inbound.drain();
    this.#own.become(DescriptorState.draining);
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
    await Promise.all([this.#known.close(lingerMs), this.#listener.close(lingerMs)]);
  }

  listenerStatus(): ListenerStatus {
    return { kind: 'ROUTE_MESH', name: this.#meshName, endpoint: this.endpoint, since: this.#since };
  }

  counters(): readonly MessageCounters[] {
    return [...this.#inbound.counters(), this.#strays.snapshot(this.#meshName, this.#meshName)];
  }

  addBacklog(backlog: MessageBacklog): void {
    this.#inbound.addBacklog(backlog);
  }

  onMessage(record: InboundRecord, link: Link): void {
    this.#inbound.accept(record, link);
  }

  onCancel(correlation: number, link: Link): void {
    this.#inbound.cancel(correlation, link);
  }

  onStray(record: InboundRecord, link: Link): void {
    this.#strays.count('reply');
    noteUnexpectedReply(this.#parts.flow, this.#nodes.place, record, link);
  }

  onPeerChanged(peer: Peer): void {
    this.#refresh(peer.rid);
  }

  onPeerClosed(peer: Peer): void {
    this.#peers.remove(peer);
    this.#inbound.linkClosed(peer.link);
    this.#refresh(peer.rid);
    this.#known.linkClosed(peer.rid);
  }

  #openPeer(link: Link): LinkSink {
    const peer = new Peer(link, this);
    this.#peers.add(peer);
    queueMicrotask(() => this.#refresh(peer.rid)); // 2
    return peer;
  }

  /** A link to this RID has come, has ended, or says something new. */
  #refresh(rid: string): void {
    this.#peers.refresh(rid);
    this.#reroute(rid);
    this.#readiness.settle(this.#peers.countReady());
  }

  /** What is known about this RID has changed, its link or its membership. */
  #reroute(rid: string): void {
    const current = this.#peers.current(rid);
    const isLeftOut = current !== undefined && this.#known.whyLeftOut(current) !== undefined;
    const channels = [...this.#channels.values()];
    const rerouted = channels.filter((channel) => channel.update(rid, isLeftOut ? undefined : current));
    this.#nodes.refresh(rid);
    this.status.peerChanged({ rid }, rerouted);
  }

  #dial({ endpoint, expectedRid, expectedGeneration }: DialAddress, onState: (intent: Intent) => void): Intent {
    let isMade = false;
    const tell = ({ rid }: Intent): void => this.status.peerChanged({ rid: expectedRid ?? rid, endpoint });
    const made = this.#parts.transport.dial({
      kind: EndpointKind.meshNode,
      expects: EndpointKind.meshNode,
      scope: this.#meshName,
      identity: this.identity,
      descriptor: this.#own.current,
      address: endpoint,
      ...(expectedRid === undefined ? {} : { expectedRid }),
      ...(expectedGeneration === undefined ? {} : { expectedGeneration }),
      group: this.#group,
      through: this.#listener,
      onState: (intent) => {
        onState(intent);
        if (isMade) tell(intent);
      },
    });
    isMade = true;
    queueMicrotask(() => tell(made)); // once whoever dials knows the intent, too
    return made;
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
        surface: channelSurface(channelName, rid, meshName),
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

/**
 * One mesh of a host: its description, its stages, and its node while the host runs.
 *
 * Owns the stages. Leaves the description to `mesh-options` and everything at run time to the node.
 */
import type { CallPath } from '@zlink/kernel/call';
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import { isRid, nameRule } from '@zlink/kernel/identity';
import {
  DIALABLE_ENDPOINT,
  type HostParts,
  isDialable,
  type ListenerStatus,
  requireWeight,
  type Topic,
  type TopologySections,
  type ValidationContext,
} from '@zlink/kernel/internal/host';
import { type MessageCounters, type Monitor, type RouteMeshSnapshot, TopologyHealth } from '@zlink/kernel/observe';
import type { DescribedMesh } from './mesh-builder.ts';
import { MeshNode } from './mesh-node.ts';
import { type CheckedMesh, checkMesh, type MeshOptions, newMeshOptions } from './mesh-options.ts';
import { describedChannels } from './mesh-status.ts';
import type { MeshChannelRuntime, MeshPeers, RouteMeshRuntime } from './mesh-runtime.ts';
import { NO_PLACEMENT } from './no-objects.ts';
import { type PeerAddress, peerAddress } from './peer/manual-peers.ts';
import type { PeerStatus } from './peer-status.ts';

/** What a composer of a host deals with: the description, the stages of the topic, and the ways of its calls. */
export class RouteMesh implements DescribedMesh, RouteMeshRuntime, Topic {
  readonly meshName: string;
  readonly options: MeshOptions;
  readonly requireOpen: () => void;
  readonly peers: MeshPeers;
  readonly #where: string;
  readonly #health: TopologyHealth;
  #monitor: Monitor | undefined;
  #dialProblem: string | undefined;
  #checked: CheckedMesh | undefined;
  #node: MeshNode | undefined;
  #isClosed = false;

  /** @param requireOpen - throws once the configuration is frozen (HOSTREG-004) */
  constructor(meshName: string, requireOpen: () => void) {
    this.meshName = meshName;
    this.#where = `mesh "${meshName}"`;
    this.options = newMeshOptions(this.#where);
    this.requireOpen = requireOpen;
    this.#health = new TopologyHealth({
      missing: () => this.#node?.status.missing() ?? [],
      onChanged: (status) =>
        this.#monitor?.tell({ type: 'zlink.runtime.mesh_node.state_changed', meshName, ...status }),
    });
    this.peers = {
      connect: (first: string, second?: string) => this.#connect(peerAddress(first, second)),
      disconnect: (endpoint) => this.#openNode().disconnect(endpoint),
      list: () => this.#listPeers(),
    };
  }

  /** Channels that this node has a role in. */
  get channelNames(): readonly string[] {
    return [...this.options.channels.keys()];
  }

  get routingId(): string {
    return this.#boundNode().identity.rid;
  }

  get endpoint(): string {
    return this.#boundNode().endpoint;
  }

  /** For leak checks: what calls to nodes leave behind, bounded by the members of the mesh (NODE-001). */
  get keptRoutes(): number {
    return this.#boundNode().keptRoutes;
  }

  channel(channelName: string): MeshChannelRuntime {
    const node = this.#boundNode();
    if (node.weightOf(channelName) === undefined) {
      const text = `channel ${describeValue(channelName)} has no server role in ${this.#where} of this process`;
      throw new ZLinkError('NotConfigured', text);
    }
    return Object.freeze({
      get weight() {
        return node.weightOf(channelName) ?? 0;
      },
      setWeight: (weight: number) => {
        requireWeight(`channel "${channelName}" weight`, weight);
        this.#openNode().setWeight(channelName, weight);
      },
    });
  }

  async whenReady(count: number, signal?: AbortSignal): Promise<void> {
    return this.#boundNode().whenReady(count, signal);
  }

  /** The way of a channel's calls, or why there is none: `RequestBuilder` and `SendBuilder` take either. */
  channelPath(channelName: string): CallPath | ZLinkError {
    const route = this.#node?.channel(channelName);
    if (route !== undefined) return route;
    if (this.options.channels.has(channelName)) return this.#notOpen();
    return new ZLinkError('NotFound', `channel ${describeValue(channelName)} is not registered in ${this.#where}`);
  }

  /** The way of direct calls to a node, or why there is none. */
  nodePath(rid: string): CallPath | ZLinkError {
    return this.#node?.pathTo(rid) ?? this.#notOpen();
  }

  validate(context: ValidationContext): void {
    this.#dialProblem = context.dialProblem;
    this.#checked = checkMesh(this.meshName, this.#where, this.options, context);
  }

  async open(parts: HostParts): Promise<void> {
    this.#monitor = parts.monitor;
    if (this.#checked !== undefined) this.#node = await MeshNode.open(this.#checked, parts, this.#health);
  }

  async announce(signal: AbortSignal): Promise<void> {
    await this.#node?.announce(signal);
  }

  serve(): void {
    this.#node?.serve();
    this.#health.become('serving');
  }

  drain(): void {
    this.#node?.drain();
    this.#health.become('stopping');
  }

  async drained(): Promise<void> {
    await this.#node?.drained();
  }

  abort(): void {
    this.#node?.abort();
  }

  async close(lingerMs: number): Promise<void> {
    this.#isClosed = true;
    await this.#node?.close(lingerMs);
    this.#health.become('stopped');
  }

  fail(): void {
    this.#health.become('failed');
  }

  listeners(): readonly ListenerStatus[] {
    return this.#node === undefined ? [] : [this.#node.listenerStatus()];
  }

  counters(): readonly MessageCounters[] {
    return this.#node?.counters() ?? [];
  }

  showIn(sections: TopologySections): void {
    sections.routeMeshes.push(this.#snapshot());
    this.#node?.addBacklog(sections.backlog);
  }

  #snapshot(): RouteMeshSnapshot {
    const { meshName, options } = this;
    const node = this.#node;
    const { rid: nodeRid, generation: lifecycleGeneration } = node?.identity ?? {
      rid: options.routingId ?? '',
      generation: 0n,
    };
    return {
      meshName,
      nodeRid,
      lifecycleGeneration,
      objectRole: 'none',
      ...this.#health.status,
      peers: this.#isClosed ? [] : (node?.status.peers() ?? []),
      channels: node?.status.channels() ?? describedChannels(options),
      placement: NO_PLACEMENT,
    };
  }

  #connect(address: PeerAddress): void {
    const node = this.#openNode();
    const { endpoint, expectedRid } = address;
    if (!isDialable(endpoint)) throw this.#notAllowed('connect', endpoint, DIALABLE_ENDPOINT);
    if (expectedRid !== undefined && !isRid(expectedRid)) {
      throw this.#notAllowed('connect, expected RID', expectedRid, nameRule);
    }
    if (this.#dialProblem !== undefined) {
      throw new ZLinkError('InvalidOperation', `${this.#where} peers connect: ${this.#dialProblem}`);
    }
    node.connect(address);
  }

  #listPeers(): readonly PeerStatus[] {
    return this.#isClosed ? Object.freeze([]) : this.#boundNode().listPeers();
  }

  #boundNode(): MeshNode {
    if (this.#node === undefined) throw this.#notOpen();
    return this.#node;
  }

  /** The node while it begins new work. */
  #openNode(): MeshNode {
    const node = this.#boundNode();
    if (node.isOpen) return node;
    throw new ZLinkError('ShuttingDown', `${this.#where} is shutting down`);
  }

  #notOpen(): ZLinkError {
    return new ZLinkError('InvalidOperation', `${this.#where} is not open: its host has not started`);
  }

  #notAllowed(option: string, value: unknown, allowed: string): ZLinkError {
    const text = `${this.#where} peers ${option}: ${describeValue(value)} is not allowed, allowed: ${allowed}`;
    return new ZLinkError('InvalidOperation', text);
  }
}

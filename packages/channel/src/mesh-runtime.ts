/** What an application holds of a mesh at run time. */
import type { PeerStatus } from './peer-status.ts';

/** The peers that this node was told to connect to, those it has discovered, and those that have connected to it. */
export interface MeshPeers {
  /**
   * Connects to a node until `disconnect`; the endpoint being connected already has no effect.
   *
   * @param endpoint - `tcp://host:port`, port 1..65_535, no wildcard; IPv6 addresses in brackets
   * @throws ZLinkError `InvalidOperation` for a malformed endpoint or RID, or before the host has bound the node;
   *   `AlreadyExists` if the endpoint is connected with another expected RID; `ShuttingDown`
   * @see MESH-002
   */
  connect(endpoint: string): void;
  /** @param expectedRid - only a node with this RID is admitted at the endpoint */
  connect(expectedRid: string, endpoint: string): void;
  /**
   * Withdraws the endpoint. Its connection takes no new work and ends with the work that it has; a node that also dials
   * this one comes back by itself, and one that is discovered, too, stays connected or is connected anew: discovery is not
   * steered by hand. An endpoint that is not connected: no effect.
   *
   * @throws ZLinkError `InvalidOperation` before the host has bound the node; `ShuttingDown`
   * @see MESH-002
   */
  disconnect(endpoint: string): void;
  /**
   * A snapshot: one row per endpoint given by hand, then one per other node that was discovered, then one per node that
   * has connected by itself.
   *
   * @see MESH-002, MESH-003
   */
  list(): readonly PeerStatus[];
}

/** A channel that this node serves. */
export interface MeshChannelRuntime {
  /** Integer 0..10_000. */
  readonly weight: number;
  /**
   * Changes the share of this node; connected peers learn of it at once.
   *
   * @param weight - integer 0..10_000
   * @throws ConfigurationError if the weight is out of range; the old one then stays. ZLinkError `ShuttingDown`
   * @see MESH-005
   */
  setWeight(weight: number): void;
}

/** A mesh at run time. */
export interface RouteMeshRuntime {
  readonly meshName: string;
  /** RID of this node. @throws ZLinkError `InvalidOperation` before the host has bound it */
  readonly routingId: string;
  /** Advertised endpoint of this node. @throws ZLinkError `InvalidOperation` before the host has bound it */
  readonly endpoint: string;
  readonly peers: MeshPeers;
  /**
   * @throws ZLinkError `NotConfigured` if this node has no server role in the channel, `InvalidOperation` before the host
   *   has bound it
   */
  channel(channelName: string): MeshChannelRuntime;
  /**
   * Resolves when at least `count` peers are ready: connected and serving, whatever they serve.
   *
   * @param count - integer from 0; several connections to one node count once
   * @param signal - ends the waiting
   * @throws ZLinkError `ShuttingDown` when the host ends first, `InvalidOperation` for a count out of range or before the
   *   host starts; or the signal's reason
   */
  whenReady(count: number, signal?: AbortSignal): Promise<void>;
}

/** What applications hold of `mesh`: nothing else of it can be reached (HOSTREG-005). */
export function runtimeOf(mesh: RouteMeshRuntime): RouteMeshRuntime {
  const { peers } = mesh;
  return Object.freeze({
    meshName: mesh.meshName,
    get routingId() {
      return mesh.routingId;
    },
    get endpoint() {
      return mesh.endpoint;
    },
    peers: Object.freeze({
      connect: (first: string, second?: string) => {
        if (second === undefined) peers.connect(first);
        else peers.connect(first, second);
      },
      disconnect: (endpoint: string) => peers.disconnect(endpoint),
      list: () => peers.list(),
    }),
    channel: (channelName: string) => mesh.channel(channelName),
    whenReady: (count: number, signal?: AbortSignal) => mesh.whenReady(count, signal),
  });
}

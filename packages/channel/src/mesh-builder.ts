/** How an application describes a node of a mesh. */
import type { NodeContext, RequestHandler, SendHandler } from '@zlink/kernel/dispatch';
import type { PacketKey } from '@zlink/kernel/message';
import { channelBuilderOf, type MeshChannelBuilder } from './channel-roles.ts';
import type { MeshOptions } from './mesh-options.ts';
import { peerAddress } from './peer/manual-peers.ts';

/**
 * This process's node of one mesh.
 *
 * Values are checked when the host starts, all mistakes together. Afterwards every method throws ZLinkError
 * `InvalidOperation` (HOSTREG-004). A node needs no channel, handler or peer to start (MESH-004).
 */
export interface RouteMeshBuilder {
  /**
   * @param port - integer 0..65_535; 0 (default): any free one, the advertised endpoint carries the real one
   * @see NET-002
   */
  listen(port?: number): this;
  /** @param endpoint - `tcp://host:port`: the interface to bind and the port; not together with `setBindHost` */
  listen(endpoint: string): this;
  /**
   * @param host - interface to bind: a name, an IP address or `*`; default: the host's `network.bindHost` (127.0.0.1)
   * @see NET-001
   */
  setBindHost(host: string): this;
  /**
   * @param host - name or IP address that peers dial, no wildcard; default: the host's `network.advertiseHost`, else the
   *   bind host, which must then be no wildcard
   * @see NET-001
   */
  setAdvertiseHost(host: string): this;
  /**
   * Gives the node an identity that survives restarts. Not on a host with a Location Store: there every start has its own.
   *
   * @param rid - 1..255 bytes of UTF-8 without NUL; default: a fresh `<prefix>-<uuid>` per start
   * @see NET-003, HOSTREG-003
   */
  routingId(rid: string): this;
  /**
   * @param prefix - what a fresh RID begins with: `[A-Za-z0-9._-]{1,64}`; default `node`; not together with `routingId`
   * @see NET-003
   */
  setRoutingIdPrefix(prefix: string): this;
  /** A channel of this mesh; every ChannelName leads to one path of the process. @see MESH-004, CHAN-001 */
  channel(channelName: string): MeshChannelBuilder;
  /**
   * Serves one-way messages that were sent to this very node.
   *
   * @param packet - a descriptor, or a class whose name is the packet name; once per node
   * @param handler - a function, or a class of which every message gets its own instance
   * @see NODE-002, DISP-001
   */
  addRouteSendHandler<T>(packet: PacketKey<T>, handler: SendHandler<T, NodeContext>): this;
  /**
   * Serves requests to this very node; what the handler returns is the reply, a ZLinkError it throws is the caller's error.
   *
   * @param packet - as `addRouteSendHandler`; no descriptor of a one-way message
   * @param handler - as `addRouteSendHandler`
   * @see NODE-002, DISP-001
   */
  addRouteRequestHandler<T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, NodeContext>): this;
  /**
   * Connects to another node; repeatable. Both nodes may name each other, and a node may be discovered, too: one
   * connection is kept.
   *
   * @param endpoint - `tcp://host:port`, port 1..65_535, no wildcard; IPv6 addresses in brackets
   * @see MESH-002
   */
  connect(endpoint: string): this;
  /** @param expectedRid - only a node with this RID is admitted at the endpoint */
  connect(expectedRid: string, endpoint: string): this;
  /**
   * Bounds the wait for acceptance, and the wait of a direct call for a node that is not ready.
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the host's `sendTimeoutMs` (1_000)
   * @see CALL-003, NODE-001
   */
  setSendTimeoutMs(ms: number): this;
  /**
   * Bounds a whole request.
   *
   * @param ms - milliseconds, integer 1..2_147_483_647; default: the host's `requestTimeoutMs` (30_000)
   * @see CALL-003
   */
  setRequestTimeoutMs(ms: number): this;
  /**
   * Handlers of direct messages that may overlap; they start in order of arrival.
   *
   * @param n - integer 1..2_147_483_647; default 256; 1: strictly one after another
   * @see DISP-005
   */
  concurrency(n: number): this;
  /**
   * Bounds what waits and runs in the node queue, and in each channel queue of the node.
   *
   * @param limits - `messages`: integer from 1, default 65_536; `bytes`: integer from 1, default 268_435_456
   * @see JOBQ-006
   */
  setMailboxLimits(limits: { readonly messages?: number; readonly bytes?: number }): this;
}

/** What the builder of a mesh needs of it. */
export interface DescribedMesh {
  readonly options: MeshOptions;
  /** Throws once the configuration is frozen. */
  requireOpen(): void;
}

/** The builder that applications hold: nothing of the mesh can be reached through it (HOSTREG-005). */
export function builderOf(mesh: DescribedMesh): RouteMeshBuilder {
  const { options } = mesh;
  const requireOpen = (): void => mesh.requireOpen();
  const set = <K extends keyof MeshOptions>(name: K, value: MeshOptions[K]): RouteMeshBuilder => {
    requireOpen();
    options[name] = value;
    return builder;
  };
  const builder: RouteMeshBuilder = {
    listen: (portOrEndpoint: number | string = 0) => set('listen', portOrEndpoint),
    setBindHost: (host) => set('bindHost', host),
    setAdvertiseHost: (host) => set('advertiseHost', host),
    routingId: (rid) => set('routingId', rid),
    setRoutingIdPrefix: (prefix) => set('ridPrefix', prefix),
    setSendTimeoutMs: (ms) => set('sendTimeoutMs', ms),
    setRequestTimeoutMs: (ms) => set('requestTimeoutMs', ms),
    concurrency: (n) => set('concurrency', n),
    setMailboxLimits: (limits) => set('mailboxLimits', { ...limits }),
    channel: (channelName) => {
      requireOpen();
      let roles = options.channels.get(channelName);
      if (roles === undefined) options.channels.set(channelName, (roles = { count: 0, server: undefined }));
      return channelBuilderOf(`channel "${channelName}"`, roles, requireOpen);
    },
    connect: (first: string, second?: string) => {
      requireOpen();
      options.peers.push(peerAddress(first, second));
      return builder;
    },
    addRouteSendHandler: <T>(packet: PacketKey<T>, handler: SendHandler<T, NodeContext>) => {
      requireOpen();
      options.handlers.addSend(packet, handler);
      return builder;
    },
    addRouteRequestHandler: <T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, NodeContext>) => {
      requireOpen();
      options.handlers.addRequest(packet, handler);
      return builder;
    },
  };
  return Object.freeze(builder);
}

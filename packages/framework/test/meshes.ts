/** Nodes of `MESH`, in one process, over real sockets. Their end is that of all hosts of a test. */
import type { Host, HostOptions, NodeContext, PeerStatus, RouteMeshBuilder } from '@zlink/framework';
import { until } from '@zlink/testing';
import { makeHost } from './hosts.ts';
import { Ask, CHANNEL, MESH } from './packets.ts';

export interface NodeSetup {
  readonly options?: HostOptions;
  /** Weight of the server role in `CHANNEL`; without one the node is its client. */
  readonly weight?: number;
  /** Serves `Ask` to the node itself and in the channel; by default both are answered with the node's RID. */
  readonly answer?: (asked: unknown, context?: NodeContext) => unknown;
  readonly connect?: readonly (Host | string)[];
  /** What else the node has. */
  readonly with?: (mesh: RouteMeshBuilder, host: Host) => void;
}

/** A node on a free port; not started. */
export function makeNode(rid: string, setup: NodeSetup = {}): Host {
  const host = makeHost(setup.options);
  const mesh = host.addRouteMesh(MESH).routingId(rid);
  const answer = setup.answer ?? (() => rid);
  mesh.addRouteRequestHandler(Ask, answer);
  const channel = mesh.channel(CHANNEL);
  if (setup.weight === undefined) channel.client();
  else
    channel
      .server()
      .setWeight(setup.weight)
      .addRequestHandler(Ask, (asked) => answer(asked));
  for (const peer of setup.connect ?? []) mesh.connect(typeof peer === 'string' ? peer : meshEndpointOf(peer));
  setup.with?.(mesh, host);
  return host;
}

export async function startNode(rid: string, setup: NodeSetup = {}): Promise<Host> {
  const host = makeNode(rid, setup);
  await host.start();
  return host;
}

/** As `startNode`, with every node that it connects to ready. */
export async function joinNode(rid: string, setup: NodeSetup): Promise<Host> {
  const host = await startNode(rid, setup);
  await host.routeMesh(MESH).whenReady(setup.connect?.length ?? 0);
  return host;
}

export function meshEndpointOf(host: Host): string {
  return host.routeMesh(MESH).endpoint;
}

export function peersOf(host: Host): readonly PeerStatus[] {
  return host.routeMesh(MESH).peers.list();
}

export function askNode(host: Host, rid: string, value: unknown = 1): Promise<unknown> {
  return host.routeClient.requestToNode(MESH, rid, Ask(value)).submit();
}

export function askChannel(host: Host, value: unknown = 1): Promise<unknown> {
  return host.routeClient.requestToChannel(CHANNEL, Ask(value)).submit();
}

/** The row of a peer once it says why it is not ready. */
export async function refusedPeer(host: Host): Promise<PeerStatus> {
  await until(() => peersOf(host)[0]?.reason !== undefined, 'an attempt has failed');
  return peersOf(host)[0]!; // the line above has seen it
}

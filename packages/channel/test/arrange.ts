/** The usual set-up: nodes of one mesh, some of which serve one channel. */
import type { MeshChannelServerBuilder, RouteMeshBuilder } from '@zlink/channel';
import type { ChannelContext, NodeContext, RequestHandler } from '@zlink/kernel/dispatch';
import type { Cluster } from './cluster.ts';
import { Ask } from './packets.ts';
import type { TestHost, TestHostOptions } from './test-host.ts';

export const MESH = 'game';
export const CHANNEL = 'match';

export interface NodeSetup {
  /** Default: the host's name; empty: a fresh one. With a Location Store it is only what the RID begins with. */
  readonly rid?: string;
  readonly listen?: number | string;
  /** Serves the channel with this weight; without one it only calls it. */
  readonly weight?: number;
  /** Serves `Ask` of the channel; by default the answer is the host's name. */
  readonly answer?: RequestHandler<unknown, unknown, ChannelContext>;
  /** Serves `Ask` of the node; by default the answer is the host's name. */
  readonly answerDirect?: RequestHandler<unknown, unknown, NodeContext>;
  /** Nodes (or endpoints) to connect to. */
  readonly connect?: readonly (TestHost | string)[];
  /** What else the node has. */
  readonly with?: (mesh: RouteMeshBuilder) => void;
  /** What else its channel server has. */
  readonly server?: (server: MeshChannelServerBuilder) => void;
  readonly host?: TestHostOptions;
}

export function describeNode(cluster: Cluster, name: string, setup: NodeSetup = {}): TestHost {
  const host = cluster.host(name, setup.host);
  const mesh = host.builder(MESH);
  const { listen = 0 } = setup;
  if (typeof listen === 'number') mesh.listen(listen);
  else mesh.listen(listen);
  const { rid = name } = setup;
  if (setup.host?.discovery !== undefined) mesh.setRoutingIdPrefix(rid);
  else if (rid !== '') mesh.routingId(rid);
  mesh.addRouteRequestHandler(Ask, setup.answerDirect ?? (() => name));
  if (setup.weight === undefined) mesh.channel(CHANNEL).client();
  else {
    const server = mesh.channel(CHANNEL).server().setWeight(setup.weight);
    server.addRequestHandler(Ask, setup.answer ?? (() => name));
    setup.server?.(server);
  }
  for (const peer of setup.connect ?? []) mesh.connect(typeof peer === 'string' ? peer : endpointOf(peer));
  setup.with?.(mesh);
  return host;
}

/** A node that serves; whether its peers are connected is another question. */
export async function startNode(cluster: Cluster, name: string, setup: NodeSetup = {}): Promise<TestHost> {
  return describeNode(cluster, name, setup).start();
}

/** As `startNode`, with everyone it connects to ready. */
export async function joinNode(cluster: Cluster, name: string, setup: NodeSetup = {}): Promise<TestHost> {
  const host = await startNode(cluster, name, setup);
  await cluster.passing(host.runtime(MESH).whenReady(setup.connect?.length ?? 0));
  return host;
}

export function endpointOf(host: TestHost, meshName = MESH): string {
  return host.runtime(meshName).endpoint;
}

export function ridOf(host: TestHost, meshName = MESH): string {
  return host.runtime(meshName).routingId;
}

/** Names of the nodes that `count` requests to the channel reach, one after the other. */
export async function ask(caller: TestHost, count: number): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let i = 0; i < count; i++) answers.push(await caller.requestToChannel(MESH, CHANNEL, Ask(i)).submit());
  return answers;
}

/** The answer of one node to a direct request. */
export function askNode(caller: TestHost, rid: string, given: unknown = 1): Promise<unknown> {
  return caller.requestToNode(MESH, rid, Ask(given)).submit();
}

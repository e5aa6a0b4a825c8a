/** The usual set-up: servers and clients of one channel. */
import type { ClientServerClientBuilder, ClientServerServerBuilder } from '@zlink/clientserver';
import type { ChannelContext, RequestHandler } from '@zlink/kernel/dispatch';
import type { Board } from '@zlink/testing/internal';
import type { ServerStatus } from '../src/server-status.ts';
import type { Cluster } from './cluster.ts';
import { Ask } from './packets.ts';
import type { TestHost, TestHostOptions } from './test-host.ts';

export const CHANNEL = 'billing';

export interface ServerSetup {
  readonly rid?: string;
  readonly weight?: number;
  readonly port?: number;
  /** Serves `Ask`; by default the answer is the host's name. */
  readonly answer?: RequestHandler<unknown, unknown, ChannelContext>;
  /** What else the server has. */
  readonly with?: (server: ClientServerServerBuilder) => void;
  readonly host?: TestHostOptions;
}

export function configureServer(cluster: Cluster, name: string, setup: ServerSetup = {}): TestHost {
  const host = cluster.host(name, setup.host);
  const server = host
    .channel(CHANNEL)
    .server()
    .listen(setup.port ?? 0);
  server.routingId(setup.rid ?? name).setWeight(setup.weight ?? 100);
  server.addRequestHandler(Ask, setup.answer ?? (() => name));
  setup.with?.(server);
  return host;
}

export async function startServer(cluster: Cluster, name: string, setup: ServerSetup = {}): Promise<TestHost> {
  return configureServer(cluster, name, setup).start();
}

export interface ClientSetup {
  readonly name?: string;
  readonly with?: (client: ClientServerClientBuilder) => void;
  readonly host?: TestHostOptions;
}

/** A client that dials these servers (or addresses); not ready yet. */
export async function dialingClient(
  cluster: Cluster,
  servers: readonly (TestHost | string)[],
  setup: ClientSetup = {},
): Promise<TestHost> {
  const host = cluster.host(setup.name ?? 'client', setup.host);
  const client = host.channel(CHANNEL).client();
  for (const server of servers) client.connect(typeof server === 'string' ? server : endpointOf(server));
  setup.with?.(client);
  return host.start();
}

/** As `dialingClient`, with every server ready. */
export async function startClient(
  cluster: Cluster,
  servers: readonly (TestHost | string)[],
  setup: ClientSetup = {},
): Promise<TestHost> {
  const host = await dialingClient(cluster, servers, setup);
  await cluster.passing(host.channel(CHANNEL).whenReady(servers.length));
  return host;
}

export function endpointOf(server: TestHost): string {
  const { endpoint } = server.channel(CHANNEL);
  if (endpoint === undefined) throw new Error(`${server.name} has no server`);
  return endpoint;
}

/** Names of the servers that `count` requests reach, one after the other. */
export async function ask(client: TestHost, count: number): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (let i = 0; i < count; i++) answers.push(await client.request(CHANNEL, Ask(i)).submit());
  return answers;
}

/** A server that publishes itself on the board. */
export async function publishingServer(
  cluster: Cluster,
  board: Board<'clientServer'>,
  name: string,
  setup: ServerSetup = {},
): Promise<TestHost> {
  const discovery = board.discovery(cluster.clock);
  return startServer(cluster, name, { ...setup, host: { discovery, ...setup.host } });
}

/** A client that looks at the board, and dials these servers besides; not ready yet. */
export async function findingClient(
  cluster: Cluster,
  board: Board<'clientServer'>,
  servers: readonly (TestHost | string)[] = [],
  setup: ClientSetup = {},
): Promise<TestHost> {
  const discovery = board.discovery(cluster.clock);
  return dialingClient(cluster, servers, { ...setup, host: { discovery, ...setup.host } });
}

export function serversOf(client: TestHost): readonly ServerStatus[] {
  return client.channel(CHANNEL).servers();
}

/**
 * Hosts of one test, in one process, over real sockets.
 *
 * Owns the end of every test: all hosts are shut down, and each message they took has ended one way. Sockets, timers and
 * transports that are left over fail the suite by its leak guard.
 */
import {
  type ClientServerClientBuilder,
  type ClientServerServerBuilder,
  createHost,
  type Host,
  type HostOptions,
  type Logger,
  type MessageCounters,
} from '@zlink/framework';
import { unbalancedCounters, unfinishedCounters, until } from '@zlink/testing';
import { Ask, CHANNEL } from './packets.ts';

/** What a busy machine may add to a time limit; what has no end of its own takes longer. */
export const slackMs = 10_000;

/** The send timeout of who calls before its target is ready and is to be served: the default is no more than a second. */
export const patientMs = 30_000;

/** Where nobody listens, whatever other processes do meanwhile. */
export const NOBODY = 'tcp://127.0.0.1:1';

const hosts: Host[] = [];

const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

/** A host beside the others of the test; not started. */
export function makeHost(options: HostOptions = {}): Host {
  return keep(createHost({ logger: silent, ...options, testing: { allowSeveralHosts: true } }));
}

/** The host ends with the others of the test. */
export function keep(host: Host): Host {
  hosts.push(host);
  return host;
}

afterEach(async () => {
  const ended = hosts.splice(0);
  const results = await Promise.all(ended.map((host) => host.shutdown({ deadlineMs: 5_000 })));
  const counters = ended.map((host) => host.query.counters());
  const drained = counters.filter((_, at) => results[at]?.outcome === 'stopped');
  expect([...unbalancedCounters(counters.flat()), ...unfinishedCounters(drained.flat())]).toEqual([]);
});

export interface ServerSetup {
  readonly options?: HostOptions;
  /** Serves `Ask`; by default it gives back what it gets. */
  readonly answer?: Parameters<typeof addAsk>[1];
  /** What else the server has. */
  readonly with?: (server: ClientServerServerBuilder) => void;
}

function addAsk(server: ClientServerServerBuilder, answer: (asked: unknown) => unknown): void {
  server.addRequestHandler(Ask, answer);
}

/** A server of `CHANNEL` on a free port; not started. */
export function makeServer(setup: ServerSetup = {}): Host {
  const host = makeHost(setup.options);
  const server = host.addClientServerChannel(CHANNEL).server();
  addAsk(server, setup.answer ?? ((asked) => asked));
  setup.with?.(server);
  return host;
}

export async function startServer(setup: ServerSetup = {}): Promise<Host> {
  const host = makeServer(setup);
  await host.start();
  return host;
}

export interface ClientSetup {
  readonly options?: HostOptions;
  readonly with?: (client: ClientServerClientBuilder) => void;
}

/** A client of `CHANNEL` that dials these servers (or addresses); nothing is ready yet. */
export async function startDialing(servers: readonly (Host | string)[], setup: ClientSetup = {}): Promise<Host> {
  const host = makeHost(setup.options);
  const client = host.addClientServerChannel(CHANNEL).client();
  for (const server of servers) client.connect(typeof server === 'string' ? server : endpointOf(server));
  setup.with?.(client);
  await host.start();
  return host;
}

/** As `startDialing`, with every server ready. */
export async function startClient(servers: readonly (Host | string)[], setup: ClientSetup = {}): Promise<Host> {
  const host = await startDialing(servers, setup);
  await host.clientServerChannel(CHANNEL).whenReady(servers.length);
  return host;
}

/** One server and one client that is ready. */
export async function startPair(setup: ServerSetup = {}): Promise<{ readonly server: Host; readonly client: Host }> {
  const server = await startServer(setup);
  return { server, client: await startClient([server]) };
}

export function endpointOf(server: Host): string {
  const { endpoint } = server.clientServerChannel(CHANNEL);
  if (endpoint === undefined) throw new Error('the host has no server');
  return endpoint;
}

export function portOf(endpoint: string): number {
  return Number(endpoint.slice(endpoint.lastIndexOf(':') + 1));
}

/** Asks one server for an answer. */
export function ask(client: Host, value: unknown, signal?: AbortSignal): Promise<unknown> {
  return client.routeClient.requestToChannel(CHANNEL, Ask(value)).submit(signal);
}

export function counters(server: Host, verb: 'send' | 'request'): MessageCounters {
  const found = server.query.counters().find((entry) => entry.verb === verb);
  if (found === undefined) throw new Error('the host has no server');
  return found;
}

/** Waits until the server has `count` messages of this verb in its hands or done. */
export async function accepted(server: Host, verb: 'send' | 'request', count: number): Promise<void> {
  await until(() => counters(server, verb).accepted >= count, `${count} messages of verb ${verb} are accepted`);
}

/** The usual set-up: publishers and subscribers of one channel. */
import type { PublisherStatus } from '@zlink/fanout';
import type { FanoutContext } from '@zlink/kernel/dispatch';
import type { Sendable } from '@zlink/kernel/message';
import { until } from '@zlink/testing';
import type { Board } from '@zlink/testing/internal';
import type { Cluster } from './cluster.ts';
import { News } from './packets.ts';
import type { TestHost, TestHostOptions } from './test-host.ts';

export const CHANNEL = 'news';

export interface PublisherSetup {
  readonly port?: number;
  readonly rid?: string;
  readonly host?: TestHostOptions;
}

export async function startPublisher(cluster: Cluster, name: string, setup: PublisherSetup = {}): Promise<TestHost> {
  const host = cluster.host(name, setup.host);
  const channel = host.channel(CHANNEL).enablePublisher(setup.port ?? 0);
  if (setup.rid !== undefined) channel.routingId(setup.rid);
  return host.start();
}

export interface SubscriberSetup {
  readonly host?: TestHostOptions;
  /** Handles `News`; by default the numbers are kept. */
  readonly handler?: (event: { text?: string; seq?: number }, context: FanoutContext) => void | Promise<void>;
  /** What else the channel has. */
  readonly with?: (host: TestHost) => void;
}

export interface Subscriber {
  readonly host: TestHost;
  /** `seq` of every event in the order of handling. */
  readonly seen: (number | undefined)[];
}

/** Told of these publishers (or addresses), or, without any, finding them; not ready yet. */
export async function startSubscriber(
  cluster: Cluster,
  name: string,
  publishers: readonly (TestHost | string)[],
  setup: SubscriberSetup = {},
): Promise<Subscriber> {
  const host = cluster.host(name, setup.host);
  const seen: (number | undefined)[] = [];
  const channel = host.channel(CHANNEL);
  for (const publisher of publishers)
    channel.connect(typeof publisher === 'string' ? publisher : endpointOf(publisher));
  if (publishers.length === 0) channel.enableSubscriber();
  channel.addHandler(News, setup.handler ?? (({ seq }) => void seen.push(seq)));
  setup.with?.(host);
  await host.start();
  return { host, seen };
}

export async function findingSubscriber(
  cluster: Cluster,
  board: Board<'fanout'>,
  name: string,
  setup: SubscriberSetup = {},
): Promise<Subscriber> {
  return startSubscriber(cluster, name, [], {
    ...setup,
    host: { discovery: board.discovery(cluster.clock), ...setup.host },
  });
}

export async function publishingHost(
  cluster: Cluster,
  board: Board<'fanout'>,
  name: string,
  setup: PublisherSetup = {},
): Promise<TestHost> {
  const discovery = board.discovery(cluster.clock);
  return startPublisher(cluster, name, { rid: name, ...setup, host: { discovery, ...setup.host } });
}

export function endpointOf(publisher: TestHost): string {
  const { endpoint } = publisher.runtime(CHANNEL);
  if (endpoint === undefined) throw new Error(`${publisher.name} has no publisher`);
  return endpoint;
}

export function publish(publisher: TestHost, event: Sendable): Promise<void> {
  return publisher.client.publish(CHANNEL, event).submit();
}

/** Publishes these numbers, all in one turn. */
export async function publishNumbers(publisher: TestHost, first: number, last: number): Promise<void> {
  for (let seq = first; seq <= last; seq++) await publish(publisher, News({ seq }));
}

export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

export async function seenAll({ host, seen }: Subscriber, count: number): Promise<void> {
  await until(() => seen.length >= count, `${host.name} handles ${count} events`);
}

export function statusOf({ host }: Subscriber): readonly PublisherStatus[] {
  return host.runtime(CHANNEL).publishers();
}

export function stateOf(subscriber: Subscriber): string | undefined {
  return statusOf(subscriber)[0]?.state;
}

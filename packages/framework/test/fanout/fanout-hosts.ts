/**
 * Hosts of one fanout channel, in one process, over real sockets.
 *
 * Owns what subscribers have seen. Leaves the end of hosts to hosts.ts.
 */
import {
  type FanoutChannelBuilder,
  type FanoutContext,
  type Host,
  type HostOptions,
  message,
  type MessageCounters,
  type PublisherStatus,
} from '@zlink/framework';
import { until } from '@zlink/testing';
import { makeHost } from '../hosts.ts';

export const NEWS = 'news';

export interface Numbered {
  readonly seq: number;
  /** Makes an event as large as a test needs it. */
  readonly text?: string;
}

export const Item = message<Numbered>('news.item');

export interface PublisherSetup {
  readonly options?: HostOptions;
  readonly port?: number;
}

/** A host that publishes to `NEWS`. */
export async function startPublisher({ options, port }: PublisherSetup = {}): Promise<Host> {
  const host = makeHost(options);
  host.addFanoutChannel(NEWS).enablePublisher(port);
  await host.start();
  return host;
}

export interface Seen {
  readonly seq: number;
  readonly topic: string;
}

export interface SubscriberSetup {
  readonly options?: HostOptions;
  /** Runs before an `Item` counts as seen. */
  readonly handle?: (item: Numbered, context: FanoutContext) => void | Promise<void>;
  /** What else the channel has. */
  readonly with?: (channel: FanoutChannelBuilder) => void;
}

export class Subscriber {
  readonly host: Host;
  readonly seen: Seen[] = [];

  /** Finds its publishers, or connects to those it is given, if any are; not started. */
  constructor(host: Host, publishers: readonly (Host | string)[] | undefined, setup: SubscriberSetup) {
    this.host = host;
    const channel = host.addFanoutChannel(NEWS);
    if (publishers === undefined) channel.enableSubscriber();
    else for (const one of publishers) channel.connect(typeof one === 'string' ? one : endpointOf(one));
    channel.addHandler(Item, async (item, context) => {
      await setup.handle?.(item, context);
      this.seen.push({ seq: item.seq, topic: context.topicText });
    });
    setup.with?.(channel);
  }

  get numbers(): readonly number[] {
    return this.seen.map(({ seq }) => seq);
  }

  get publishers(): readonly PublisherStatus[] {
    return this.host.fanoutChannel(NEWS).publishers();
  }

  get counters(): MessageCounters {
    const found = this.host.query.counters().find(({ owner }) => owner === NEWS);
    if (found === undefined) throw new Error('the host does not subscribe');
    return found;
  }

  async sees(count: number, giveUpMs?: number): Promise<void> {
    await until(() => this.seen.length >= count, `${count} events are seen`, giveUpMs);
  }

  /** Until that number is the last one seen. */
  async reaches(seq: number, giveUpMs?: number): Promise<void> {
    await until(() => this.seen.at(-1)?.seq === seq, `number ${seq} is seen`, giveUpMs);
  }

  async ready(count: number, giveUpMs?: number): Promise<void> {
    const ready = () => this.publishers.filter(({ state }) => state === 'ready').length;
    await until(() => ready() === count, `${count} publishers are ready`, giveUpMs);
  }
}

/** Connected to nothing yet, perhaps: `Host.fanoutClient.ready` waits for that. */
export async function startSubscriber(
  publishers: readonly (Host | string)[],
  setup: SubscriberSetup = {},
): Promise<Subscriber> {
  const subscriber = new Subscriber(makeHost(setup.options), publishers, setup);
  await subscriber.host.start();
  return subscriber;
}

/** A publisher and a subscriber that gets all it publishes from here on. */
export async function startPair(
  setup: SubscriberSetup = {},
): Promise<{ readonly publisher: Host; readonly subscriber: Subscriber }> {
  const publisher = await startPublisher();
  const subscriber = await startSubscriber([publisher], setup);
  await publisher.fanoutClient.ready(NEWS, 1);
  return { publisher, subscriber };
}

export function endpointOf(publisher: Host): string {
  const { endpoint } = publisher.fanoutChannel(NEWS);
  if (endpoint === undefined) throw new Error('the host does not publish');
  return endpoint;
}

/** All in one turn. */
export async function publish(publisher: Host, from: number, to: number, text?: string): Promise<void> {
  for (const seq of range(from, to)) {
    await publisher.fanoutClient.publish(NEWS, Item({ seq, ...(text === undefined ? {} : { text }) })).submit();
  }
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

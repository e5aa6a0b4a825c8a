/** Fanout as an application uses it: a host, a fanout channel, handlers and publishes, all options default. */
import { createHost, type Host, message } from '@zlink/framework';
import type { Cargo, Entry, Message } from '../cargo.ts';
import { CHANNEL } from './bench-host.ts';
import type { PublisherEnd, PublishingSide, SubscriberEnd } from './publishing-side.ts';

const entry = message<Entry>('entry');

export const frameworkFanout: PublishingSide = {
  async openPublisher() {
    const host = createHost();
    host.addFanoutChannel(CHANNEL).enablePublisher();
    await host.start();
    return new HostPublisher(host);
  },

  async openSubscriber(cargo: Cargo, address: string, onEvent: () => void): Promise<SubscriberEnd> {
    const host = createHost();
    host
      .addFanoutChannel(CHANNEL)
      .connect(address)
      .addHandler(entry, (received) => {
        cargo.check(received);
        onEvent();
      });
    await host.start();
    return { close: async () => void (await host.shutdown()) };
  },
};

class HostPublisher implements PublisherEnd {
  readonly address: string;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    this.address = host.fanoutChannel(CHANNEL).endpoint ?? '';
  }

  ready(subscriberCount: number): Promise<void> {
    return this.#host.fanoutClient.ready(CHANNEL, subscriberCount);
  }

  publish(event: Message): Promise<void> {
    return this.#host.fanoutClient.publish(CHANNEL, entry(event as Entry)).submit(); // its cargo is JSON
  }

  async close(): Promise<void> {
    await this.#host.shutdown();
  }
}

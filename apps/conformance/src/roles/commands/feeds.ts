/** What the driver asks of a host about fanout: its events, and who is connected with whom. */
import type { Host, PublisherStatus } from '@zlink/framework';
import { FEED } from '../../contracts.ts';
import { endOf, publish } from '../calls.ts';
import type { CallEnd, PublishPlan } from '../plan.ts';
import { waitLimitMs } from '../../wait-limit.ts';

export class FeedCommands {
  readonly #host: () => Host;

  constructor(host: () => Host) {
    this.#host = host;
  }

  publish(channel: string, plan: PublishPlan): Promise<CallEnd> {
    return endOf(async () => {
      await publish(this.#host(), channel, plan);
      return undefined;
    });
  }

  /** Each in a turn of its own unless `together`. */
  async publishMany(channel: string, plan: PublishPlan, count: number, together = false): Promise<CallEnd> {
    return endOf(async () => {
      const all: Promise<void>[] = [];
      for (let number = 0; number < count; number++) {
        const mark = String(number);
        all.push(publish(this.#host(), channel, { ...plan, payload: { ...plan.payload, mark } }));
        if (!together) await new Promise<void>((resolve) => setImmediate(resolve));
      }
      await Promise.all(all);
      return undefined;
    });
  }

  subscribersReady(channel: string, count: number, withinMs = waitLimitMs): Promise<CallEnd> {
    return endOf(async () => {
      await this.#host().fanoutClient.ready(channel, count, AbortSignal.timeout(withinMs));
      return undefined;
    });
  }

  publishers(channel = FEED): readonly PublisherStatus[] {
    return this.#host().fanoutChannel(channel).publishers();
  }

  connect(endpoint: string): void {
    this.#host().fanoutChannel(FEED).connections.connect(endpoint);
  }

  disconnect(endpoint: string): void {
    this.#host().fanoutChannel(FEED).connections.disconnect(endpoint);
  }

  connections(): readonly string[] {
    return this.#host().fanoutChannel(FEED).connections.list();
  }
}

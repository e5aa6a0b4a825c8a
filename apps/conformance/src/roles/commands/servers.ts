/** What the driver asks of a host about ClientServer channels: the servers that it knows, and the one that it is. */
import type { Host, ServerStatus } from '@zlink/framework';
import { CHANNEL } from '../../contracts.ts';
import { caught } from '../facts.ts';
import type { ErrorFacts } from '../plan.ts';
import { waitLimitMs } from '../../wait-limit.ts';

export class ServerCommands {
  readonly #host: () => Host;

  constructor(host: () => Host) {
    this.#host = host;
  }

  ready(count: number, channel = CHANNEL): Promise<void> {
    return this.#host().clientServerChannel(channel).whenReady(count, AbortSignal.timeout(waitLimitMs));
  }

  list(channel = CHANNEL): readonly ServerStatus[] {
    return this.#host().clientServerChannel(channel).servers();
  }

  /** Of the server here. */
  setWeight(weight: number): ErrorFacts | undefined {
    const host = this.#host();
    return caught(() => host.clientServerChannel(CHANNEL).setWeight(weight));
  }

  /** So many changes of the own weight, each in a turn of its own. */
  async churn(count: number): Promise<void> {
    const channel = this.#host().clientServerChannel(CHANNEL);
    for (let number = 1; number <= count; number++) {
      channel.setWeight((number % 1_000) + 1);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

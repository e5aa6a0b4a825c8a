/**
 * What a peer of a fanout contest does: publishes, or counts what it gets.
 *
 * Owns its one end. Leaves the channel to the coordinator to `answering.ts`.
 */
import { type Cargo, createCargo } from '../cargo.ts';
import { machineNowMs } from '../machine-clock.ts';
import { Meter } from '../meter.ts';
import type { Performance } from '../question.ts';
import { loadPublishingSide } from '../sides/load-side.ts';
import type { PublisherEnd, SubscriberEnd } from '../sides/publishing-side.ts';
import type { FanoutCommands } from './commands.ts';

export class FanoutStage implements Performance<FanoutCommands> {
  readonly #meter = new Meter(machineNowMs);
  #publisher: { readonly end: PublisherEnd; readonly cargo: Cargo } | undefined;
  #subscriber: SubscriberEnd | undefined;

  async openPublisher(options: FanoutCommands['openPublisher']['args']): Promise<{ readonly address: string }> {
    const side = await loadPublishingSide(options.side);
    const cargo = createCargo(options.cargo);
    const end = await side.openPublisher(cargo);
    this.#publisher = { end, cargo };
    return { address: end.address };
  }

  async openSubscriber(options: FanoutCommands['openSubscriber']['args']): Promise<undefined> {
    const side = await loadPublishingSide(options.side);
    this.#subscriber = await side.openSubscriber(createCargo(options.cargo), options.address, this.#meter.tick);
    return undefined;
  }

  async ready({ subscriberCount }: FanoutCommands['ready']['args']): Promise<undefined> {
    await this.#requirePublisher().end.ready(subscriberCount);
    return undefined;
  }

  async arm({ count }: FanoutCommands['arm']['args']): Promise<undefined> {
    this.#meter.arm(count);
    return undefined;
  }

  async counted(): Promise<FanoutCommands['counted']['result']> {
    return { lastAtMs: await this.#meter.finished() };
  }

  /** Each event as soon as the one before was taken, as a program that awaits each does. */
  async stream({ count }: FanoutCommands['stream']['args']): Promise<FanoutCommands['stream']['result']> {
    const { end, cargo } = this.#requirePublisher();
    const startedAtMs = machineNowMs();
    for (let id = 0; id < count; id++) await end.publish(cargo.make(id));
    return { startedAtMs };
  }

  async close(): Promise<undefined> {
    await this.#subscriber?.close();
    await this.#publisher?.end.close();
    return undefined;
  }

  #requirePublisher(): { readonly end: PublisherEnd; readonly cargo: Cargo } {
    if (this.#publisher === undefined) throw new Error('this peer does not publish');
    return this.#publisher;
  }
}

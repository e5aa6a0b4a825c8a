/**
 * One fanout channel of a host: its publisher and its subscriber, from configuration to close.
 *
 * Owns the two roles and their stages. Leaves each role's work to `publisher/` and `subscriber/`.
 */
import { ZLinkError } from '@zlink/kernel/errors';
import type {
  HostParts,
  ListenerStatus,
  Topic,
  TopologySections,
  ValidationContext,
} from '@zlink/kernel/internal/host';
import { type RandomSource, systemRandom } from '@zlink/kernel/internal/time';
import { type MessageCounters, type Monitor, TopologyHealth } from '@zlink/kernel/observe';
import type { EventPath } from './event-path.ts';
import { FanoutBuilder } from './fanout-builder.ts';
import { type CheckedFanout, checkFanout, type FanoutOptions, newFanoutOptions } from './fanout-options.ts';
import type { FanoutConnections, FanoutRuntime } from './fanout-runtime.ts';
import type { PublisherStatus } from './publisher-status.ts';
import { ChannelPublisher } from './publisher/channel-publisher.ts';
import { ChannelSubscriber } from './subscriber/channel-subscriber.ts';

/** What a composer of a host deals with: the description, the stages of the topic, and the way of its publishes. */
export class FanoutChannel implements FanoutRuntime, Topic {
  readonly channelName: string;
  readonly builder: FanoutBuilder;
  readonly connections: FanoutConnections;
  readonly #where: string;
  readonly #options: FanoutOptions;
  readonly #random: RandomSource;
  readonly #health: TopologyHealth;
  #monitor: Monitor | undefined;
  #checked: CheckedFanout | undefined;
  #publisher: ChannelPublisher | undefined;
  #subscriber: ChannelSubscriber | undefined;

  /**
   * @param requireOpen - throws once the configuration is frozen (HOSTREG-004)
   * @param random - for the jitter of dialling again
   */
  constructor(channelName: string, requireOpen: () => void, random: RandomSource = systemRandom) {
    this.channelName = channelName;
    this.#where = `fanout channel "${channelName}"`;
    this.#options = newFanoutOptions(this.#where);
    this.#random = random;
    this.#health = new TopologyHealth({
      missing: () => this.#subscriber?.status.missing() ?? [],
      onChanged: () => this.#monitor?.changed(),
    });
    this.builder = new FanoutBuilder(this.#options, requireOpen);
    this.connections = Object.freeze({
      connect: (endpoint: string) => this.#requireSubscriber().connect(endpoint),
      disconnect: (endpoint: string) => this.#requireSubscriber().disconnect(endpoint),
      list: () => this.#subscriber?.list() ?? [],
    });
  }

  get endpoint(): string | undefined {
    return this.#publisher?.endpoint;
  }

  publishers(): readonly PublisherStatus[] {
    return this.#subscriber?.publishers() ?? [];
  }

  /** The way of this channel's publishes, or why this process has none. */
  get path(): EventPath | ZLinkError {
    if (this.#publisher !== undefined) return this.#publisher;
    if (this.#options.publisher.listen !== undefined) return this.#notOpen();
    return this.#notConfigured('publisher', 'enablePublisher()');
  }

  validate(context: ValidationContext): void {
    this.#checked = checkFanout(this.channelName, this.#where, this.#options, context);
  }

  async open(parts: HostParts): Promise<void> {
    this.#monitor = parts.monitor;
    const { publisher, subscriber } = this.#checked ?? {};
    if (publisher !== undefined) {
      this.#publisher = await ChannelPublisher.open(this.channelName, publisher, parts);
    }
    if (subscriber !== undefined) {
      const options = { channelName: this.channelName, ...subscriber, health: this.#health };
      this.#subscriber = new ChannelSubscriber(options, parts, this.#random);
    }
  }

  async announce(signal: AbortSignal): Promise<void> {
    await this.#publisher?.announce(signal);
    this.#subscriber?.discover();
  }

  serve(): void {
    this.#publisher?.serve();
    this.#subscriber?.serve();
    this.#health.become('serving');
  }

  drain(): void {
    this.#subscriber?.drain();
    this.#publisher?.drain();
    this.#health.become('stopping');
  }

  async drained(): Promise<void> {
    await this.#subscriber?.drained();
  }

  abort(): void {
    this.#subscriber?.abort();
  }

  async close(lingerMs: number): Promise<void> {
    await Promise.all([this.#subscriber?.close(), this.#publisher?.close(lingerMs)]);
    this.#health.become('stopped');
  }

  fail(): void {
    this.#health.become('failed');
  }

  listeners(): readonly ListenerStatus[] {
    return this.#publisher === undefined ? [] : [this.#publisher.listenerStatus()];
  }

  /** Of received events; publishing leaves no count (MON-007). */
  counters(): readonly MessageCounters[] {
    return this.#subscriber === undefined ? [] : [this.#subscriber.counters()];
  }

  /** Publishers show nothing: they know of no subscriber (MON-007). */
  showIn(sections: TopologySections): void {
    this.#subscriber?.addBacklog(sections.backlog);
    const { isAutomatic, endpoints } = this.#options;
    if (!isAutomatic && endpoints.length === 0) return;
    const publishers = this.#subscriber?.status.publishers() ?? [];
    sections.fanoutChannels.push({ channelName: this.channelName, ...this.#health.status, publishers });
  }

  #requireSubscriber(): ChannelSubscriber {
    if (this.#subscriber !== undefined) return this.#subscriber;
    const { isAutomatic, endpoints } = this.#options;
    if (isAutomatic || endpoints.length > 0) throw this.#notOpen();
    throw this.#notConfigured('subscriber', 'connect(endpoint)');
  }

  #notOpen(): ZLinkError {
    return new ZLinkError('InvalidOperation', `${this.#where} is not open: its host has not started`);
  }

  #notConfigured(role: string, call: string): ZLinkError {
    const text = `${this.#where} has no ${role} in this process, call .${call} on it before start()`;
    return new ZLinkError('NotConfigured', text);
  }
}

/**
 * The subscriber of one channel: its publishers, each with a subscription of its own, and the handlers that they share.
 *
 * Owns the stages and the receive flow of all subscriptions. Leaves each publisher to its intent, which publishers there are
 * to the source, and running handlers to the dispatch.
 *
 * S1 Nothing is received before the host serves, and nothing any more once it drains; handlers that have started end.
 * S2 While the flow is PAUSED no subscription reads (CORE-016).
 */
import type { HandlerTable } from '@zlink/kernel/dispatch';
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import { DIALABLE_ENDPOINT, type HostParts, isDialable } from '@zlink/kernel/internal/host';
import type { RandomSource } from '@zlink/kernel/internal/time';
import type { MessageBacklog, MessageCounters, TopologyHealth } from '@zlink/kernel/observe';
import type { FanoutConnections } from '../fanout-runtime.ts';
import { FanoutStatus } from '../fanout-status.ts';
import type { PublisherStatus } from '../publisher-status.ts';
import { DiscoveredPublishers } from './discovered-publishers.ts';
import { EventDispatch } from './event-dispatch.ts';
import { ManualPublishers } from './manual-publishers.ts';
import { type IntentParts, PublisherIntent, type PublisherTarget } from './publisher-intent.ts';
import type { PublisherSource } from './publisher-source.ts';

export interface SubscriberOptions {
  readonly channelName: string;
  /** By rank. */
  readonly handlers: readonly HandlerTable[];
  /** Given by hand; undefined: they are discovered. */
  readonly endpoints: readonly string[] | undefined;
  readonly health: TopologyHealth;
}

export class ChannelSubscriber implements FanoutConnections {
  readonly status: FanoutStatus;
  readonly #channelName: string;
  readonly #where: string;
  readonly #parts: HostParts;
  readonly #intentParts: IntentParts;
  readonly #dispatch: EventDispatch;
  readonly #intents = new Set<PublisherIntent>();
  readonly #manual: ManualPublishers | undefined;
  readonly #unfollow: () => void;
  #source: PublisherSource | undefined;
  #isDraining = false;
  /** Set by the first who ends the subscriptions. */
  #closing: Promise<void> | undefined;

  constructor(options: SubscriberOptions, parts: HostParts, random: RandomSource) {
    const { channelName, handlers, endpoints, health } = options;
    this.#channelName = channelName;
    this.#where = `fanout channel "${channelName}"`;
    this.#parts = parts;
    const { events, clock, wheel, permits, log } = parts;
    this.#intentParts = { events, clock, wheel, permits, log, random };
    this.#dispatch = new EventDispatch(channelName, handlers, parts);
    this.#manual =
      endpoints === undefined ? undefined : new ManualPublishers(endpoints, (to, onState) => this.#dial(to, onState));
    this.#source = this.#manual;
    this.#unfollow = permits.onFlow(() => this.#onFlow());
    this.status = new FanoutStatus({
      channelName,
      monitor: parts.monitor,
      discovery: endpoints === undefined ? parts.discovery : undefined,
      health,
      publishers: () => this.publishers(),
    });
  }

  /** Begins to look for publishers; who was told of some need not. */
  discover(): void {
    const { discovery } = this.#parts;
    if (discovery === undefined || this.#manual !== undefined) return;
    this.#source = new DiscoveredPublishers(
      discovery,
      this.#channelName,
      (to, onState) => this.#dial(to, onState),
      () => this.status.changed(),
    );
  }

  serve(): void {
    this.#source?.serve(); // S1
  }

  connect(endpoint: string): void {
    this.#requireManual().connect(requireEndpoint(endpoint));
  }

  disconnect(endpoint: string): void {
    this.#requireManual().disconnect(endpoint);
    this.status.changed();
  }

  list(): readonly string[] {
    return this.#manual?.endpoints ?? [];
  }

  publishers(): readonly PublisherStatus[] {
    return this.#source?.rows() ?? [];
  }

  drain(): void {
    this.#isDraining = true;
    void this.#unsubscribe(); // S1
  }

  drained(): Promise<void> {
    return this.#dispatch.idle();
  }

  abort(): void {
    this.#dispatch.abortAll();
  }

  async close(): Promise<void> {
    this.#isDraining = true;
    await this.#unsubscribe();
  }

  counters(): MessageCounters {
    return this.#dispatch.counters();
  }

  addBacklog(backlog: MessageBacklog): void {
    this.#dispatch.addBacklog(backlog);
  }

  #unsubscribe(): Promise<void> {
    this.#unfollow();
    return (this.#closing ??= this.#source?.close() ?? Promise.resolve());
  }

  #dial(target: PublisherTarget, onState: () => void): PublisherIntent {
    const options = {
      channelName: this.#channelName,
      target,
      dispatch: this.#dispatch,
      onState: (intent: PublisherIntent) => {
        const isMade = this.#intents.has(intent);
        if (intent.linkState === 'closed') this.#intents.delete(intent);
        onState();
        if (isMade) this.status.changed();
      },
    };
    const intent = new PublisherIntent(options, this.#intentParts);
    this.#intents.add(intent);
    queueMicrotask(() => this.status.changed()); // once its source knows it, too
    return intent;
  }

  #onFlow(): void {
    for (const intent of this.#intents) intent.settleReading(); // S2
  }

  #requireManual(): ManualPublishers {
    if (this.#isDraining) throw new ZLinkError('ShuttingDown', `${this.#where} is shutting down`);
    if (this.#manual !== undefined) return this.#manual;
    const text = `${this.#where} finds its publishers by discovery, which is not steered by hand`;
    throw new ZLinkError('InvalidOperation', text);
  }
}

function requireEndpoint(endpoint: string): string {
  if (isDialable(endpoint)) return endpoint;
  const text = `endpoint: ${describeValue(endpoint)} is not allowed, allowed: ${DIALABLE_ENDPOINT}`;
  throw new ZLinkError('InvalidOperation', text);
}

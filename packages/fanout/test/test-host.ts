/**
 * A host composed by hand: the parts that channels share, and the stages that a composer calls.
 *
 * Owns what the framework owns in a real process: parts, channels by name, the order of stages. Everything in here but
 * the event transport and the clock is what runs in production.
 */
import { builderOf, createFanoutClient, FanoutChannel, type FanoutChannelBuilder, runtimeOf } from '@zlink/fanout';
import type { FanoutClient, FanoutRuntime } from '@zlink/fanout';
import { type Codec, CodecRegistry } from '@zlink/kernel/codec';
import { type Filter, freezeFilters, LastHandler, type ServiceProvider } from '@zlink/kernel/dispatch';
import { Problems, ZLinkError } from '@zlink/kernel/errors';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import { JobPermits, type JobPermitLimits } from '@zlink/kernel/internal/execution';
import type { HostParts, ListenerStatus, TopologySections } from '@zlink/kernel/internal/host';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import { DeadlineWheel } from '@zlink/kernel/internal/time';
import type { EventTransport } from '@zlink/kernel/internal/transport';
import { NameIndex } from '@zlink/kernel/internal/wire';
import {
  type FanoutSnapshot,
  type Logger,
  type MessageCounters,
  MessageFlow,
  type MessageFlowOptions,
  type MonitoringFact,
  RateLimitedLog,
} from '@zlink/kernel/observe';
import {
  createMemoryEngine,
  createMemoryEventTransport,
  type ManualClock,
  type MemoryNetwork,
  seededRandom,
} from '@zlink/testing';

export interface TestHostOptions {
  readonly permits?: Partial<JobPermitLimits>;
  readonly codecs?: readonly Codec[];
  readonly filters?: readonly Filter[];
  readonly services?: ServiceProvider;
  /** Messages that one subscriber may leave unread. */
  readonly markCount?: number;
  /** As with a Location Store; default: without. */
  readonly discovery?: Discovery;
  /** How messages are followed; default: as a host does without options. */
  readonly diagnostics?: Partial<MessageFlowOptions>;
}

export type LogRecord = Readonly<Record<string, unknown>>;

const LINGER_MS = 1_000;

export class TestHost {
  readonly name: string;
  readonly parts: HostParts;
  /** What it has told its monitor. */
  readonly facts: { readonly fact: MonitoringFact; readonly error: unknown }[] = [];
  readonly events: EventTransport;
  readonly client: FanoutClient;
  /** What the logger got at `debug`: phases of messages. */
  readonly records: LogRecord[] = [];
  /** Warnings that were logged. */
  readonly log: LogRecord[] = [];
  /** Errors that were logged: none is expected, whatever peers do. */
  readonly errors: LogRecord[] = [];
  readonly unhandled: { readonly error: unknown; readonly where: string }[] = [];
  readonly #channels = new Map<string, FanoutChannel>();
  #stage: 'configuring' | 'open' | 'closed' = 'configuring';

  constructor(name: string, network: MemoryNetwork, clock: ManualClock, options: TestHostOptions) {
    this.name = name;
    const { markCount } = options;
    this.events = createMemoryEventTransport(network, { name, ...(markCount === undefined ? {} : { markCount }) });
    const logger = this.#logger();
    const onError = (error: unknown): void => logger.error({ eventId: 'test.deadline_failed', error });
    const permits = new JobPermits({
      max: 256,
      pauseThresholdPercent: 80,
      resumeThresholdPercent: 60,
      ...options.permits,
    });
    const problems = new Problems();
    const codecs = new CodecRegistry();
    for (const codec of options.codecs ?? []) codecs.add(codec);
    const log = new RateLimitedLog(logger, clock);
    this.parts = {
      clock,
      wheel: new DeadlineWheel({ clock, onError }),
      permits,
      codecs: codecs.freeze(problems),
      names: new NameIndex(),
      transport: createLinkTransport(createMemoryEngine(network, { name }), {
        clock,
        permits,
        budgetBytes: 67_108_864,
        maxWindowBytes: 1_048_576,
        random: seededRandom(1),
        logger,
      }),
      events: this.events,
      monitor: { changed: () => undefined, tell: (fact, { error } = {}) => this.facts.push({ fact, error }) },
      filters: freezeFilters(options.filters ?? [], options.services, problems),
      lastHandler: new LastHandler(),
      services: options.services,
      log,
      // Records are written as they are made.
      flow: new MessageFlow({ clock, logger, log, nextTurn: (turn) => turn(), ...options.diagnostics }),
      meter: undefined,
      exposeErrorMessages: false,
      onUnhandled: (error, { where }) => this.unhandled.push({ error, where }),
      requestTimeoutMs: 30_000,
      sendTimeoutMs: 1_000,
      discovery: options.discovery,
      bindHost: '127.0.0.1',
      advertiseHost: undefined,
    };
    problems.throwIfAny();
    this.client = createFanoutClient({
      toChannel: (channelName) =>
        this.#channels.get(channelName)?.path ??
        new ZLinkError('NotFound', `channel "${channelName}" is not registered`),
    });
  }

  channel(channelName: string): FanoutChannelBuilder {
    return builderOf(this.#channel(channelName));
  }

  runtime(channelName: string): FanoutRuntime {
    return runtimeOf(this.#channel(channelName));
  }

  /** @throws ConfigurationError with every mistake; nothing was bound then */
  async open(): Promise<this> {
    const problems = new Problems();
    for (const channel of this.#channels.values()) {
      channel.validate({
        problems,
        bindHost: '127.0.0.1',
        advertiseHost: undefined,
        services: this.parts.services,
        hasLocationStore: this.parts.discovery !== undefined,
      });
    }
    problems.throwIfAny();
    this.#stage = 'open';
    for (const channel of this.#channels.values()) await channel.open(this.parts);
    return this;
  }

  async announce(): Promise<this> {
    for (const channel of this.#channels.values()) await channel.announce(new AbortController().signal);
    return this;
  }

  serve(): this {
    for (const channel of this.#channels.values()) channel.serve();
    return this;
  }

  async start(): Promise<this> {
    await this.open();
    await this.announce();
    return this.serve();
  }

  drain(): void {
    for (const channel of this.#channels.values()) channel.drain();
  }

  async drained(): Promise<void> {
    for (const channel of this.#channels.values()) await channel.drained();
  }

  abort(): void {
    for (const channel of this.#channels.values()) channel.abort();
  }

  /** Ends channels, transports and time; what accepted work holds must have been let go before. */
  async close(lingerMs = LINGER_MS): Promise<void> {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    await Promise.all([...this.#channels.values()].map((channel) => channel.close(lingerMs)));
    await this.events.close();
    await this.parts.transport.close();
    this.parts.log.close();
  }

  listeners(): readonly ListenerStatus[] {
    return [...this.#channels.values()].flatMap((channel) => channel.listeners());
  }

  /** Of received events. */
  counters(channelName: string): MessageCounters {
    const [counters] = this.#channel(channelName).counters();
    if (counters === undefined) throw new Error(`${this.name} does not subscribe to ${channelName}`);
    return counters;
  }

  /** What its channel shows; undefined without a subscriber. */
  showOf(channelName: string): FanoutSnapshot | undefined {
    const sections: TopologySections = { routeMeshes: [], clientServerChannels: [], fanoutChannels: [] };
    this.#channel(channelName).showIn(sections);
    return sections.fanoutChannels[0];
  }

  /** What must hold once everything has ended, as differences from it. */
  leftovers(): string[] {
    const { permits, wheel } = this.parts;
    const left: string[] = [];
    if (permits.inUse !== 0) left.push(`${this.name}: ${permits.inUse} permits in use`);
    if (wheel.size !== 0) left.push(`${this.name}: ${wheel.size} deadlines`);
    for (const channel of this.#channels.values()) {
      for (const counters of channel.counters()) left.push(...unbalanced(this.name, counters));
    }
    for (const record of this.errors) left.push(`${this.name}: logged ${JSON.stringify(record)}`);
    wheel.close();
    return left;
  }

  #channel(channelName: string): FanoutChannel {
    let channel = this.#channels.get(channelName);
    if (channel === undefined) {
      const requireOpen = (): void => {
        if (this.#stage !== 'configuring') throw new ZLinkError('InvalidOperation', 'the configuration is frozen');
      };
      channel = new FanoutChannel(channelName, requireOpen, seededRandom(1));
      this.#channels.set(channelName, channel);
    }
    return channel;
  }

  #logger(): Logger {
    const keepIn = (records: LogRecord[]) => (record: object) => {
      records.push(record as LogRecord); // records are plain objects
    };
    return { debug: keepIn(this.records), info: () => undefined, warn: keepIn(this.log), error: keepIn(this.errors) };
  }
}

function unbalanced(host: string, counters: MessageCounters): string[] {
  const { owner, verb, accepted, handled, failed, dropped, running, queued } = counters;
  const ended = Object.values(dropped).reduce((sum, count) => sum + count, handled + failed);
  if (accepted === ended && running === 0 && queued === 0) return [];
  return [`${host}: ${verb}s of ${owner}: ${accepted} accepted, ${ended} ended, ${running} run, ${queued} wait`];
}

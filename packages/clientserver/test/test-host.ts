/**
 * A host composed by hand: the parts that channels share, and the stages that a composer calls.
 *
 * Owns what the framework owns in a real process: parts, channels by name, the order of stages. Everything in here but
 * the engine and the clock is what runs in production.
 */
import { ClientServerChannel } from '@zlink/clientserver';
import { RequestBuilder, SendBuilder } from '@zlink/kernel/call';
import { type Codec, CodecRegistry } from '@zlink/kernel/codec';
import { type Filter, freezeFilters, LastHandler } from '@zlink/kernel/dispatch';
import { Problems, ZLinkError } from '@zlink/kernel/errors';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import { JobPermits, type JobPermitLimits } from '@zlink/kernel/internal/execution';
import type { HostParts } from '@zlink/kernel/internal/host';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import { DeadlineWheel } from '@zlink/kernel/internal/time';
import type { PipeEngine } from '@zlink/kernel/internal/transport';
import { NameIndex } from '@zlink/kernel/internal/wire';
import { resolveOutbound, type Sendable } from '@zlink/kernel/message';
import {
  type HostMeter,
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
  readonly requestTimeoutMs?: number;
  readonly sendTimeoutMs?: number;
  /** Largest receive window of one link. */
  readonly maxWindowBytes?: number;
  readonly exposeErrorMessages?: boolean;
  /** As with a Location Store; default: without. */
  readonly discovery?: Discovery;
  /** How messages are followed; default: as a host does without options. */
  readonly diagnostics?: Partial<MessageFlowOptions>;
  readonly meter?: HostMeter;
}

export type LogRecord = Readonly<Record<string, unknown>>;

const BUDGET_BYTES = 67_108_864;
const MAX_WINDOW_BYTES = 1_048_576;
const LINGER_MS = 1_000;

export class TestHost {
  readonly name: string;
  readonly parts: HostParts;
  /** What it has told its monitor. */
  readonly facts: { readonly fact: MonitoringFact; readonly error: unknown }[] = [];
  /** What the logger got at `debug`: phases of messages. */
  readonly records: LogRecord[] = [];
  /** Warnings that were logged. */
  readonly log: LogRecord[] = [];
  /** Errors that were logged: none is expected, whatever peers do. */
  readonly errors: LogRecord[] = [];
  readonly unhandled: { readonly error: unknown; readonly where: string }[] = [];
  readonly #engine: PipeEngine;
  readonly #channels = new Map<string, ClientServerChannel>();
  #stage: 'configuring' | 'open' | 'closed' = 'configuring';

  constructor(name: string, network: MemoryNetwork, clock: ManualClock, options: TestHostOptions) {
    this.name = name;
    this.#engine = createMemoryEngine(network, { name });
    const logger = this.#logger();
    const permits = new JobPermits({
      max: 256,
      pauseThresholdPercent: 80,
      resumeThresholdPercent: 60,
      ...options.permits,
    });
    const onError = (error: unknown): void => logger.error({ eventId: 'test.deadline_failed', error });
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
      transport: createLinkTransport(this.#engine, {
        clock,
        permits,
        budgetBytes: BUDGET_BYTES,
        maxWindowBytes: options.maxWindowBytes ?? MAX_WINDOW_BYTES,
        random: seededRandom(1),
        logger,
      }),
      events: createMemoryEventTransport(network, { name }),
      monitor: { changed: () => undefined, tell: (fact, { error } = {}) => this.facts.push({ fact, error }) },
      filters: freezeFilters(options.filters ?? [], undefined, problems),
      lastHandler: new LastHandler(),
      services: undefined,
      log,
      // Records are written as they are made.
      flow: new MessageFlow({ clock, logger, log, nextTurn: (turn) => turn(), ...options.diagnostics }),
      meter: options.meter,
      exposeErrorMessages: options.exposeErrorMessages ?? false,
      onUnhandled: (error, { where }) => this.unhandled.push({ error, where }),
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
      sendTimeoutMs: options.sendTimeoutMs ?? 1_000,
      discovery: options.discovery,
      bindHost: '127.0.0.1',
      advertiseHost: undefined,
    };
    problems.throwIfAny();
  }

  get isClosed(): boolean {
    return this.#stage === 'closed';
  }

  channel(channelName: string): ClientServerChannel {
    let channel = this.#channels.get(channelName);
    if (channel === undefined) {
      channel = new ClientServerChannel(channelName, () => {
        if (this.#stage !== 'configuring') throw new ZLinkError('InvalidOperation', 'the configuration is frozen');
      });
      this.#channels.set(channelName, channel);
    }
    return channel;
  }

  /** @throws ConfigurationError with every mistake; nothing was bound then */
  async open(): Promise<this> {
    const problems = new Problems();
    for (const channel of this.#channels.values()) {
      channel.validate({
        problems,
        bindHost: '127.0.0.1',
        advertiseHost: undefined,
        services: undefined,
        hasLocationStore: this.parts.discovery !== undefined,
      });
    }
    problems.throwIfAny();
    this.#stage = 'open';
    for (const channel of this.#channels.values()) await channel.open(this.parts);
    return this;
  }

  async announce(signal: AbortSignal = new AbortController().signal): Promise<this> {
    for (const channel of this.#channels.values()) await channel.announce(signal);
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

  send(channelName: string, message: Sendable): SendBuilder {
    return new SendBuilder(this.channel(channelName).path, resolveOutbound(message));
  }

  request<R>(channelName: string, request: Sendable<R>): RequestBuilder<R> {
    return new RequestBuilder<R>(this.channel(channelName).path, resolveOutbound(request));
  }

  drain(): void {
    for (const channel of this.#channels.values()) channel.drain();
  }

  async drained(): Promise<void> {
    for (const channel of this.#channels.values()) await channel.drained();
  }

  /** Ends channels, transport and time; what accepted work holds must have been let go before. */
  async close(lingerMs = LINGER_MS): Promise<void> {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    await Promise.all([...this.#channels.values()].map((channel) => channel.close(lingerMs)));
    await this.parts.transport.close();
    await this.parts.events.close();
    this.parts.log.close();
  }

  /** The process is gone from one moment to the next: no goodbye. */
  async kill(): Promise<void> {
    await this.#engine.close();
    await this.parts.events.close();
  }

  counters(channelName: string, verb: 'send' | 'request' | 'stray'): MessageCounters {
    const counters = this.channel(channelName).counters();
    const found = counters.find((entry) => entry.verb === verb);
    if (found === undefined) throw new Error(`${this.name} counts no ${verb} of ${channelName}`);
    return found;
  }

  /** What must hold once everything has ended, as differences from it. */
  leftovers(): string[] {
    const { permits, wheel, transport } = this.parts;
    const left: string[] = [];
    if (permits.inUse !== 0) left.push(`${this.name}: ${permits.inUse} permits in use`);
    if (wheel.size !== 0) left.push(`${this.name}: ${wheel.size} deadlines`);
    if (transport.status.links !== 0) left.push(`${this.name}: ${transport.status.links} links`);
    for (const channel of this.#channels.values()) {
      for (const counters of channel.counters()) left.push(...unbalanced(this.name, counters));
    }
    for (const record of this.errors) left.push(`${this.name}: logged ${JSON.stringify(record)}`);
    wheel.close();
    return left;
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

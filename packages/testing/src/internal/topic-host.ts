/**
 * A host composed by hand: the parts that topics of one kind share, and the stages that a composer calls.
 *
 * Owns what the framework owns in a real process: parts, topics by name, the order of stages. Everything in here but the
 * transports and the clock is what runs in production. Leaves to the tests of each kind how applications describe and use
 * it: they extend this class, because their hosts are this one with a few more methods, and forwarding would repeat it.
 */
import { type Codec, CodecRegistry } from '@zlink/kernel/codec';
import { type Filter, freezeFilters, LastHandler, type ServiceProvider } from '@zlink/kernel/dispatch';
import { Problems, ZLinkError } from '@zlink/kernel/errors';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import { JobPermits, type JobPermitLimits } from '@zlink/kernel/internal/execution';
import type { HostParts, ListenerStatus, Topic } from '@zlink/kernel/internal/host';
import { createLinkTransport } from '@zlink/kernel/internal/link';
import { DeadlineWheel } from '@zlink/kernel/internal/time';
import type { PipeEngine } from '@zlink/kernel/internal/transport';
import { NameIndex } from '@zlink/kernel/internal/wire';
import {
  type HostMeter,
  type Logger,
  type MessageCounters,
  MessageFlow,
  type MessageFlowOptions,
  type MonitoringFact,
  RateLimitedLog,
} from '@zlink/kernel/observe';
import type { ManualClock } from '../manual-clock.ts';
import { createMemoryEngine } from '../memory-engine.ts';
import { createMemoryEventTransport } from '../memory-event-transport.ts';
import type { MemoryNetwork } from '../memory-network.ts';
import { unbalancedCounters, unfinishedCounters } from '../message-balance.ts';
import { seededRandom } from '../seeded-random.ts';

/** Where a host lives. */
export interface TopicHostPlace {
  readonly name: string;
  readonly network: MemoryNetwork;
  readonly clock: ManualClock;
}

export interface TopicHostOptions {
  readonly permits?: Partial<JobPermitLimits>;
  readonly codecs?: readonly Codec[];
  readonly filters?: readonly Filter[];
  readonly services?: ServiceProvider;
  readonly requestTimeoutMs?: number;
  readonly sendTimeoutMs?: number;
  /** Largest receive window of one link. */
  readonly maxWindowBytes?: number;
  /** Messages that one subscriber may leave unread. */
  readonly markCount?: number;
  /** Seed of the transport's randomness, which spreads reconnecting. */
  readonly seed?: number;
  readonly dialProblem?: string;
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
const PERMITS: JobPermitLimits = { max: 256, pauseThresholdPercent: 80, resumeThresholdPercent: 60 };

export class TopicHost<T extends Topic> {
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
  readonly #makeTopic: (name: string, requireConfiguring: () => void) => T;
  readonly #topics = new Map<string, T>();
  readonly #dialProblem: string | undefined;
  #stage: 'configuring' | 'open' | 'closed' = 'configuring';

  constructor(
    { name, network, clock }: TopicHostPlace,
    options: TopicHostOptions,
    makeTopic: (name: string, requireConfiguring: () => void) => T,
  ) {
    this.name = name;
    this.#engine = createMemoryEngine(network, { name });
    this.#makeTopic = makeTopic;
    this.#dialProblem = options.dialProblem;
    const { services, markCount } = options;
    const logger = this.#logger();
    const permits = new JobPermits({ ...PERMITS, ...options.permits });
    const onError = (error: unknown): void => void this.errors.push({ error });
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
        random: seededRandom(options.seed ?? 1),
        logger,
      }),
      events: createMemoryEventTransport(network, { name, ...(markCount === undefined ? {} : { markCount }) }),
      monitor: { changed: () => undefined, tell: (fact, { error } = {}) => this.facts.push({ fact, error }) },
      discovery: options.discovery,
      filters: freezeFilters(options.filters ?? [], services, problems),
      lastHandler: new LastHandler(),
      services,
      log,
      // Records are written as they are made.
      flow: new MessageFlow({ clock, logger, log, nextTurn: (turn) => turn(), ...options.diagnostics }),
      meter: options.meter,
      exposeErrorMessages: options.exposeErrorMessages ?? false,
      onUnhandled: (error, { where }) => this.unhandled.push({ error, where }),
      requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
      sendTimeoutMs: options.sendTimeoutMs ?? 1_000,
      bindHost: '127.0.0.1',
      advertiseHost: undefined,
    };
    problems.throwIfAny();
  }

  get isClosed(): boolean {
    return this.#stage === 'closed';
  }

  /** @throws ConfigurationError with every mistake; nothing was bound then */
  validate(): void {
    const problems = new Problems();
    const { bindHost, advertiseHost, services, discovery } = this.parts;
    const hasLocationStore = discovery !== undefined;
    const dialProblem = this.#dialProblem;
    for (const topic of this.topics)
      topic.validate({ problems, bindHost, advertiseHost, services, hasLocationStore, dialProblem });
    problems.throwIfAny();
  }

  async open(): Promise<this> {
    this.validate();
    this.#stage = 'open';
    for (const topic of this.topics) await topic.open(this.parts);
    return this;
  }

  async announce(signal: AbortSignal = new AbortController().signal): Promise<this> {
    for (const topic of this.topics) await topic.announce(signal);
    return this;
  }

  serve(): this {
    for (const topic of this.topics) topic.serve();
    return this;
  }

  async start(): Promise<this> {
    return (await (await this.open()).announce()).serve();
  }

  drain(): void {
    for (const topic of this.topics) topic.drain();
  }

  async drained(): Promise<void> {
    for (const topic of this.topics) await topic.drained();
  }

  abort(): void {
    for (const topic of this.topics) topic.abort();
  }

  /** Ends topics, transports and time; what accepted work holds must have been let go before. */
  async close(lingerMs = LINGER_MS): Promise<void> {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    await Promise.all(this.topics.map((topic) => topic.close(lingerMs)));
    await this.parts.transport.close();
    await this.parts.events.close();
    this.parts.log.close();
  }

  /** The process is gone from one moment to the next: no goodbye. */
  async kill(): Promise<void> {
    await this.#engine.close();
    await this.parts.events.close();
  }

  listeners(): readonly ListenerStatus[] {
    return this.topics.flatMap((topic) => topic.listeners());
  }

  counters(owner: string, verb: 'send' | 'request' | 'stray' = 'send'): MessageCounters {
    const found = this.#counters().find((entry) => entry.owner === owner && entry.verb === verb);
    if (found === undefined) throw new Error(`${this.name} counts no ${verb} of ${owner}`);
    return found;
  }

  /** What must hold once everything has ended, as differences from it. */
  leftovers(): readonly string[] {
    const { permits, wheel, transport } = this.parts;
    const left: string[] = [];
    if (permits.inUse !== 0) left.push(`${permits.inUse} permits in use`);
    if (wheel.size !== 0) left.push(`${wheel.size} deadlines`);
    if (transport.status.links !== 0) left.push(`${transport.status.links} links`);
    left.push(...unbalancedCounters(this.#counters()), ...unfinishedCounters(this.#counters()));
    for (const record of this.errors) left.push(`logged ${JSON.stringify(record)}`);
    wheel.close();
    return left.map((what) => `${this.name}: ${what}`);
  }

  protected get topics(): readonly T[] {
    return [...this.#topics.values()];
  }

  protected findTopic(name: string): T | undefined {
    return this.#topics.get(name);
  }

  /** The one with that name, made when it is first asked for. */
  protected topic(name: string): T {
    let topic = this.#topics.get(name);
    if (topic === undefined) {
      topic = this.#makeTopic(name, () => {
        if (this.#stage !== 'configuring') throw new ZLinkError('InvalidOperation', 'the configuration is frozen');
      });
      this.#topics.set(name, topic);
    }
    return topic;
  }

  #counters(): readonly MessageCounters[] {
    return this.topics.flatMap((topic) => topic.counters());
  }

  #logger(): Logger {
    const keepIn = (records: LogRecord[]) => (record: object) => {
      records.push(record as LogRecord); // records are plain objects
    };
    return { debug: keepIn(this.records), info: () => undefined, warn: keepIn(this.log), error: keepIn(this.errors) };
  }
}

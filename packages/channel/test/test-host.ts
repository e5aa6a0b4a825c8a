/**
 * A host composed by hand: the parts that meshes share, and the stages that a composer calls.
 *
 * Owns what the framework owns in a real process: parts, meshes by name, the order of stages. Everything in here but the
 * engine and the clock is what runs in production.
 */
import {
  builderOf,
  type PeerStatus,
  RouteMesh,
  type RouteMeshBuilder,
  type RouteMeshRuntime,
  runtimeOf,
} from '@zlink/channel';
import { RequestBuilder, SendBuilder } from '@zlink/kernel/call';
import { CodecRegistry } from '@zlink/kernel/codec';
import { type Filter, freezeFilters, LastHandler } from '@zlink/kernel/dispatch';
import { Problems, ZLinkError } from '@zlink/kernel/errors';
import type { Discovery } from '@zlink/kernel/internal/discovery';
import { JobPermits, type JobPermitLimits } from '@zlink/kernel/internal/execution';
import type { HostParts, ValidationContext } from '@zlink/kernel/internal/host';
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
  readonly filters?: readonly Filter[];
  readonly requestTimeoutMs?: number;
  readonly sendTimeoutMs?: number;
  /** Largest receive window of one link. */
  readonly maxWindowBytes?: number;
  /** Seed of the transport's randomness, which spreads reconnecting. */
  readonly seed?: number;
  readonly dialProblem?: string;
  /** Default: a host without a Location Store. */
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
  readonly #meshes = new Map<string, RouteMesh>();
  readonly #dialProblem: string | undefined;
  #stage: 'configuring' | 'open' | 'closed' = 'configuring';

  constructor(name: string, network: MemoryNetwork, clock: ManualClock, options: TestHostOptions) {
    this.name = name;
    this.#engine = createMemoryEngine(network, { name });
    this.#dialProblem = options.dialProblem;
    const logger = this.#logger();
    const permits = new JobPermits({
      max: 256,
      pauseThresholdPercent: 80,
      resumeThresholdPercent: 60,
      ...options.permits,
    });
    const onError = (error: unknown): void => logger.error({ eventId: 'test.deadline_failed', error });
    const problems = new Problems();
    const log = new RateLimitedLog(logger, clock);
    this.parts = {
      clock,
      wheel: new DeadlineWheel({ clock, onError }),
      permits,
      codecs: new CodecRegistry().freeze(problems),
      names: new NameIndex(),
      transport: createLinkTransport(this.#engine, {
        clock,
        permits,
        budgetBytes: BUDGET_BYTES,
        maxWindowBytes: options.maxWindowBytes ?? MAX_WINDOW_BYTES,
        random: seededRandom(options.seed ?? 1),
        logger,
      }),
      events: createMemoryEventTransport(network, { name }),
      monitor: { changed: () => undefined, tell: (fact, { error } = {}) => this.facts.push({ fact, error }) },
      discovery: options.discovery,
      filters: freezeFilters(options.filters ?? [], undefined, problems),
      lastHandler: new LastHandler(),
      services: undefined,
      log,
      // Records are written as they are made.
      flow: new MessageFlow({ clock, logger, log, nextTurn: (turn) => turn(), ...options.diagnostics }),
      meter: options.meter,
      exposeErrorMessages: false,
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

  mesh(meshName: string): RouteMesh {
    let mesh = this.#meshes.get(meshName);
    if (mesh === undefined) {
      mesh = new RouteMesh(meshName, () => {
        if (this.#stage !== 'configuring') throw new ZLinkError('InvalidOperation', 'the configuration is frozen');
      });
      this.#meshes.set(meshName, mesh);
    }
    return mesh;
  }

  /** What an application describes a mesh with. */
  builder(meshName: string): RouteMeshBuilder {
    return builderOf(this.mesh(meshName));
  }

  /** What an application holds of it at run time. */
  runtime(meshName: string): RouteMeshRuntime {
    return runtimeOf(this.mesh(meshName));
  }

  peers(meshName: string): readonly PeerStatus[] {
    return this.runtime(meshName).peers.list();
  }

  /** @throws ConfigurationError with every mistake; nothing was bound then */
  validate(): void {
    const problems = new Problems();
    const context: ValidationContext = {
      problems,
      bindHost: '127.0.0.1',
      advertiseHost: undefined,
      services: undefined,
      hasLocationStore: this.parts.discovery !== undefined,
      dialProblem: this.#dialProblem,
    };
    for (const mesh of this.#meshes.values()) mesh.validate(context);
    problems.throwIfAny();
  }

  async open(): Promise<this> {
    this.validate();
    this.#stage = 'open';
    for (const mesh of this.#meshes.values()) await mesh.open(this.parts);
    return this;
  }

  async announce(signal = new AbortController().signal): Promise<this> {
    for (const mesh of this.#meshes.values()) await mesh.announce(signal);
    return this;
  }

  serve(): this {
    for (const mesh of this.#meshes.values()) mesh.serve();
    return this;
  }

  async start(): Promise<this> {
    return (await (await this.open()).announce()).serve();
  }

  sendToNode(meshName: string, rid: string, message: Sendable): SendBuilder {
    return new SendBuilder(this.mesh(meshName).nodePath(rid), resolveOutbound(message));
  }

  requestToNode<R>(meshName: string, rid: string, request: Sendable<R>): RequestBuilder<R> {
    return new RequestBuilder<R>(this.mesh(meshName).nodePath(rid), resolveOutbound(request));
  }

  sendToChannel(meshName: string, channelName: string, message: Sendable): SendBuilder {
    return new SendBuilder(this.mesh(meshName).channelPath(channelName), resolveOutbound(message));
  }

  requestToChannel<R>(meshName: string, channelName: string, request: Sendable<R>): RequestBuilder<R> {
    return new RequestBuilder<R>(this.mesh(meshName).channelPath(channelName), resolveOutbound(request));
  }

  drain(): void {
    for (const mesh of this.#meshes.values()) mesh.drain();
  }

  async drained(): Promise<void> {
    for (const mesh of this.#meshes.values()) await mesh.drained();
  }

  /** Ends meshes, transport and time; what accepted work holds must have been let go before. */
  async close(lingerMs = LINGER_MS): Promise<void> {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    await Promise.all([...this.#meshes.values()].map((mesh) => mesh.close(lingerMs)));
    await this.parts.transport.close();
    await this.parts.events.close();
    this.parts.log.close();
  }

  /** The process is gone from one moment to the next: no goodbye. */
  async kill(): Promise<void> {
    await this.#engine.close();
    await this.parts.events.close();
  }

  counters(owner: string, verb: 'send' | 'request' | 'stray'): MessageCounters {
    const all = [...this.#meshes.values()].flatMap((mesh) => mesh.counters());
    const found = all.find((entry) => entry.owner === owner && entry.verb === verb);
    if (found === undefined) throw new Error(`${this.name} counts no ${verb} of ${owner}`);
    return found;
  }

  /** What must hold once everything has ended, as differences from it. */
  leftovers(): string[] {
    const { permits, wheel, transport } = this.parts;
    const left: string[] = [];
    if (permits.inUse !== 0) left.push(`${this.name}: ${permits.inUse} permits in use`);
    if (wheel.size !== 0) left.push(`${this.name}: ${wheel.size} deadlines`);
    if (transport.status.links !== 0) left.push(`${this.name}: ${transport.status.links} links`);
    for (const mesh of this.#meshes.values()) {
      for (const counters of mesh.counters()) left.push(...unbalanced(this.name, counters));
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

/**
 * One host of a role process, and everything that the driver can ask of it.
 *
 * Owns the host from its description to its end. Leaves IPC to the process, and what parts do to the parts.
 *
 * 1. The methods of this class are the protocol: arguments and results are plain data.
 * 2. A call that was begun is kept until its end was asked for.
 */
import {
  createHost,
  type DiagnosticsLevel,
  type Host,
  type ListenerStatus,
  type LocationStore,
  type Logger,
  type MessageCounters,
  type PeerStatus,
  type PublisherStatus,
  type RelocationStore,
  type RuntimeSnapshot,
  type ServerStatus,
  type ShutdownResult,
} from '@zlink/framework';
import { CHANNEL, FEED, MESH, MESH_CHANNEL } from '../contracts.ts';
import { burst, build, endOf, publish, submit } from './calls.ts';
import { extensionOf } from './codecs.ts';
import { Desk } from './desk.ts';
import { errorFacts } from './facts.ts';
import { describePart } from './parts/index.ts';
import { Composition } from './parts/composition.ts';
import { createScopes } from './parts/scopes.ts';
import type {
  BurstEnd,
  CallEnd,
  CallPlan,
  ErrorFacts,
  HostPlan,
  JournalEntry,
  PublishPlan,
  StorePlan,
} from './plan.ts';
import type { MetricRow, SpanFacts, SpannedCall, Telemetry } from './parts/telemetry.ts';
import { type ProbeName, runProbe } from './probes.ts';
import type { LogFacts } from './protocol.ts';
import { type ObservedItem, Watch } from './watch.ts';

export interface HostFacts {
  readonly state: string;
  readonly listeners: readonly ListenerStatus[];
  readonly maxJobs: number;
  /** Of the conformance channel, mesh and feed, where the host has them. */
  readonly endpoint?: string;
  readonly meshEndpoint?: string;
  readonly meshRid?: string;
  readonly feedEndpoint?: string;
}

export type StartEnd =
  | { readonly ok: true; readonly facts: HostFacts; readonly ms: number }
  | { readonly ok: false; readonly error: ErrorFacts; readonly state: string; readonly ms: number };

export type ShutdownEnd =
  | { readonly ok: true; readonly result: ShutdownResult; readonly state: string; readonly ms: number }
  | { readonly ok: false; readonly error: ErrorFacts; readonly ms: number };

export interface StoreSource {
  location(plan: StorePlan): Promise<LocationStore>;
  relocation(plan: StorePlan): Promise<RelocationStore>;
}

export interface RoleHostParts {
  readonly plan: HostPlan;
  readonly logger: Logger;
  readonly stores: StoreSource;
  /** Whether other hosts share the process. */
  readonly isShared: boolean;
}

interface BegunCall {
  readonly end: Promise<CallEnd>;
  readonly abort: AbortController;
}

export class RoleHost {
  readonly #parts: RoleHostParts;
  readonly #desk: Desk;
  readonly #begun = new Map<number, BegunCall>();
  readonly #unhandled: string[] = [];
  readonly #watch = new Watch();
  #telemetry: Telemetry | undefined;
  #host: Host | undefined;

  constructor(parts: RoleHostParts) {
    this.#parts = parts;
    this.#desk = new Desk(parts.plan.name);
  }

  async start(timeoutMs?: number): Promise<StartEnd> {
    const startedAtMs = performance.now();
    try {
      if (this.#host === undefined) await this.#describe();
      await this.#running.start(timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs));
      return { ok: true, facts: this.facts(), ms: performance.now() - startedAtMs };
    } catch (error) {
      const ms = performance.now() - startedAtMs;
      return { ok: false, error: errorFacts(error), state: this.#host?.state ?? 'undescribed', ms };
    }
  }

  /** Describes the host and does not start it. */
  describeOnly(): Promise<void> {
    return this.#describe();
  }

  /** A start of the host that has started before. */
  async startAgain(): Promise<ErrorFacts | undefined> {
    try {
      await this.#running.start();
      return undefined;
    } catch (error) {
      return errorFacts(error);
    }
  }

  async #describe(): Promise<void> {
    const { plan, logger, stores, isShared } = this.#parts;
    const { options = {}, store, codec = 'json', parts } = plan;
    const wantsScopes = parts.some((part) => part.role === 'classServer' || (part.role === 'filter' && part.asClass));
    const told = parts.find((part) => part.role === 'telemetry');
    if (told !== undefined) this.#telemetry = (await import('./parts/telemetry.ts')).keep(told);
    const host = createHost({
      ...options,
      logger: this.#telemetry?.loggerBefore(logger) ?? logger,
      ...(this.#telemetry === undefined ? {} : { telemetry: this.#telemetry.options }),
      onUnhandled: (error, { where }) => void this.#unhandled.push(`${where}: ${errorFacts(error).message}`),
      ...(wantsScopes ? { services: createScopes(this.#desk) } : {}),
      testing: { allowSeveralHosts: isShared },
    });
    this.#host = host;
    this.#desk.serve(host);
    const extension = await extensionOf(codec);
    if (extension !== undefined) host.codecs().use(extension);
    if (store !== undefined) host.addLocationStore(await stores.location(store));
    if (store?.kind === 'redis' && store.relocation === true) host.addRelocationStore(await stores.relocation(store));
    const composition = new Composition(host, this.#desk);
    for (const part of parts) describePart(composition, part);
  }

  facts(): HostFacts {
    const host = this.#running;
    const { parts } = this.#parts.plan;
    const has = (role: string, name: string): boolean =>
      parts.some((part) => part.role === role && (!('channel' in part) || (part.channel ?? name) === name));
    const mesh = has('node', MESH) ? attempt(() => host.routeMesh(MESH)) : undefined;
    const endpoint = has('server', CHANNEL)
      ? host.clientServerChannel(CHANNEL).endpoint
      : has('classServer', CHANNEL)
        ? host.clientServerChannel(CHANNEL).endpoint
        : undefined;
    const feedEndpoint = has('publisher', FEED) ? host.fanoutChannel(FEED).endpoint : undefined;
    return {
      state: host.state,
      listeners: [...host.query.listeners()],
      maxJobs: host.effectiveMaxQueuedApplicationJobs,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(mesh === undefined ? {} : { meshEndpoint: mesh.endpoint, meshRid: mesh.routingId }),
      ...(feedEndpoint === undefined ? {} : { feedEndpoint }),
    };
  }

  state(): string {
    return this.#running.state;
  }

  call(plan: CallPlan): Promise<CallEnd> {
    return endOf(() => submit(this.#running, plan));
  }

  burst(plan: CallPlan, count: number): Promise<BurstEnd> {
    return burst(this.#running, plan, count);
  }

  /** 2 */
  begin(id: number, plan: CallPlan): void {
    const abort = new AbortController();
    this.#begun.set(id, { end: endOf(() => submit(this.#running, plan, abort.signal)), abort });
  }

  abort(id: number): void {
    this.#begun.get(id)?.abort.abort();
  }

  async end(id: number): Promise<CallEnd> {
    const begun = this.#begun.get(id);
    if (begun === undefined) throw new Error(`call ${id} was not begun`);
    const end = await begun.end;
    this.#begun.delete(id);
    return end;
  }

  /** A call whose signal has aborted before, and one that is submitted twice. */
  async misuse(
    plan: CallPlan,
  ): Promise<{ readonly aborted: CallEnd; readonly twice: CallEnd; readonly once: CallEnd }> {
    const aborted = await endOf(() => submit(this.#running, plan, AbortSignal.abort(new Error('before submit'))));
    const call = build(this.#running, plan);
    const once = endOf(async () => (await call.submit()) ?? undefined);
    const twice = await endOf(async () => (await call.submit()) ?? undefined);
    return { aborted, twice, once: await once };
  }

  publish(channel: string, plan: PublishPlan): Promise<CallEnd> {
    return endOf(async () => {
      await publish(this.#running, channel, plan);
      return undefined;
    });
  }

  /** Each in a turn of its own unless `together`. */
  async publishMany(channel: string, plan: PublishPlan, count: number, together = false): Promise<CallEnd> {
    return endOf(async () => {
      const all: Promise<void>[] = [];
      for (let number = 0; number < count; number++) {
        const mark = String(number);
        all.push(publish(this.#running, channel, { ...plan, payload: { ...plan.payload, mark } }));
        if (!together) await new Promise<void>((resolve) => setImmediate(resolve));
      }
      await Promise.all(all);
      return undefined;
    });
  }

  subscribersReady(channel: string, count: number, withinMs: number): Promise<CallEnd> {
    return endOf(async () => {
      await this.#running.fanoutClient.ready(channel, count, AbortSignal.timeout(withinMs));
      return undefined;
    });
  }

  serversReady(count: number, withinMs: number, channel = CHANNEL): Promise<void> {
    return this.#running.clientServerChannel(channel).whenReady(count, AbortSignal.timeout(withinMs));
  }

  peersReady(count: number, withinMs: number, mesh = MESH): Promise<void> {
    return this.#running.routeMesh(mesh).whenReady(count, AbortSignal.timeout(withinMs));
  }

  servers(channel = CHANNEL): readonly ServerStatus[] {
    return this.#running.clientServerChannel(channel).servers();
  }

  peers(mesh = MESH): readonly PeerStatus[] {
    return this.#running.routeMesh(mesh).peers.list();
  }

  publishers(channel = FEED): readonly PublisherStatus[] {
    return this.#running.fanoutChannel(channel).publishers();
  }

  connectPeer(endpoint: string, expectedRid?: string): ErrorFacts | undefined {
    const { peers } = this.#running.routeMesh(MESH);
    return caught(() => (expectedRid === undefined ? peers.connect(endpoint) : peers.connect(expectedRid, endpoint)));
  }

  disconnectPeer(endpoint: string): void {
    this.#running.routeMesh(MESH).peers.disconnect(endpoint);
  }

  connectFeed(endpoint: string): void {
    this.#running.fanoutChannel(FEED).connections.connect(endpoint);
  }

  disconnectFeed(endpoint: string): void {
    this.#running.fanoutChannel(FEED).connections.disconnect(endpoint);
  }

  feedConnections(): readonly string[] {
    return this.#running.fanoutChannel(FEED).connections.list();
  }

  /** Of the server here, or of this node in its channel. */
  setWeight(weight: number, of: 'server' | 'node' = 'server'): ErrorFacts | undefined {
    const host = this.#running;
    return caught(() => {
      if (of === 'server') host.clientServerChannel(CHANNEL).setWeight(weight);
      else host.routeMesh(MESH).channel(MESH_CHANNEL).setWeight(weight);
    });
  }

  weight(): number {
    return this.#running.routeMesh(MESH).channel(MESH_CHANNEL).weight;
  }

  setRouteTiming(timing: { routeCacheMaxAgeMs?: number; messageFollowDurationMs?: number }): ErrorFacts | undefined {
    return caught(() => this.#running.setRouteTiming(timing));
  }

  counters(): readonly MessageCounters[] {
    return this.#running.query.counters();
  }

  inbound(): { readonly permitsInUse: number; readonly max: number; readonly flow: string } {
    return this.#running.query.inboundDispatch();
  }

  journal(): readonly JournalEntry[] {
    return this.#desk.journal;
  }

  /** The journal, once it has so many entries of that kind. */
  async seen(count: number, what?: string): Promise<readonly JournalEntry[]> {
    await this.#desk.seen(count, what);
    return this.#desk.journal;
  }

  quieten(): void {
    this.#desk.quieten();
  }

  release(mark?: string): number {
    return this.#desk.release(mark);
  }

  snapshot(): RuntimeSnapshot {
    return this.#running.query.snapshot();
  }

  keepSnapshot(): void {
    this.#watch.keep(this.#running.query.snapshot());
  }

  keptSnapshots(): readonly { readonly snapshot: RuntimeSnapshot; readonly isFrozen: boolean }[] {
    return this.#watch.kept();
  }

  /** Begins to observe; nothing is read yet. */
  watch(id: string, what: 'snapshots' | 'events'): void {
    this.#watch.begin(id, this.#running.query, what);
  }

  /** The next items; fewer only if the iteration ends. */
  read(id: string, count: number): Promise<readonly ObservedItem[]> {
    return this.#watch.read(id, count);
  }

  unwatch(id: string, how: 'signal' | 'return' | 'throw'): Promise<void> {
    return this.#watch.end(id, how);
  }

  /** So many changes of the own weight, each in a turn of its own. */
  async churn(count: number): Promise<void> {
    const channel = this.#running.clientServerChannel(CHANNEL);
    for (let number = 1; number <= count; number++) {
      channel.setWeight((number % 1_000) + 1);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  setLevel(level: DiagnosticsLevel): ErrorFacts | undefined {
    return caught(() => (this.#running.diagnosticsLevel = level));
  }

  metrics(): Promise<readonly MetricRow[]> {
    return this.#kept.rows();
  }

  spans(): readonly SpanFacts[] {
    return this.#kept.spans();
  }

  /** Records of messages, in the order in which they were logged. */
  records(): readonly LogFacts[] {
    return this.#kept.records;
  }

  recordCount(): number {
    return this.#kept.records.length;
  }

  forgetRecords(): void {
    this.#kept.records.length = 0;
  }

  /** A call within a span of the application; the ids of that span, and of the one that is active behind the call. */
  callInSpan(name: string, plan: CallPlan): Promise<SpannedCall> {
    return this.#kept.within(name, () => this.call(plan));
  }

  unhandled(): readonly string[] {
    return this.#unhandled;
  }

  /** Nothing else runs in this process for so long. */
  block(ms: number): void {
    const endsAtMs = performance.now() + ms;
    while (performance.now() < endsAtMs);
  }

  memory(): { readonly rssBytes: number } {
    return { rssBytes: process.memoryUsage().rss };
  }

  async shutdown(options: { readonly deadlineMs?: number; readonly abortAfterMs?: number } = {}): Promise<ShutdownEnd> {
    const startedAtMs = performance.now();
    const { deadlineMs, abortAfterMs } = options;
    try {
      const result = await this.#running.shutdown({
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        ...(abortAfterMs === undefined ? {} : { signal: AbortSignal.timeout(abortAfterMs) }),
      });
      return { ok: true, result, state: this.#running.state, ms: performance.now() - startedAtMs };
    } catch (error) {
      return { ok: false, error: errorFacts(error), ms: performance.now() - startedAtMs };
    }
  }

  /** Ends whatever state the scenario has left it in; the counters are those at rest. */
  async leave(deadlineMs: number): Promise<readonly MessageCounters[]> {
    this.#desk.release();
    await this.#host?.shutdown({ deadlineMs });
    this.#desk.release();
    this.#telemetry?.end();
    return this.#host?.query.counters() ?? [];
  }

  probe(name: ProbeName, ...args: readonly unknown[]): Promise<unknown> {
    return runProbe({ host: this.#running, desk: this.#desk }, name, args);
  }

  get #kept(): Telemetry {
    if (this.#telemetry === undefined) throw new Error(`host ${this.#parts.plan.name} has no telemetry part`);
    return this.#telemetry;
  }

  get #running(): Host {
    if (this.#host === undefined) throw new Error(`host ${this.#parts.plan.name} was not described`);
    return this.#host;
  }
}

function caught(run: () => void): ErrorFacts | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return errorFacts(error);
  }
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/**
 * A host: everything ZLink does in one process, described first, then started, then shut down.
 *
 * Owns the order of stages. Leaves all work to topics and hosted services. Half of the file is the public face with its words;
 * the fields are what one start has reached, so that its undoing finds it.
 *
 * H1 One start: every mistake is reported before anything is bound; a failure releases whatever was reached (HOST-002).
 * H2 After `start` has been called the description is frozen (HOSTREG-004).
 * H3 One shutdown: all callers share its result; it ends at its deadline, come what may (DRAIN-005 to DRAIN-007).
 */
import {
  builderOf as meshBuilderOf,
  type RouteMeshBuilder,
  type RouteMeshRuntime,
  runtimeOf as meshRuntimeOf,
} from '@zlink/channel';
import { builderOf, type ClientServerChannelBuilder, type ClientServerRuntime, runtimeOf } from '@zlink/clientserver';
import {
  builderOf as fanoutBuilderOf,
  createFanoutClient,
  type FanoutChannelBuilder,
  type FanoutClient,
  type FanoutRuntime,
  runtimeOf as fanoutRuntimeOf,
} from '@zlink/fanout';
import { createRouteClient, isTimeoutMs, MAX_TIMEOUT_MS, type RouteClient } from '@zlink/kernel/call';
import { type CodecExtension, CodecRegistry } from '@zlink/kernel/codec';
import { type Filter, freezeFilters } from '@zlink/kernel/dispatch';
import { ConfigurationError, describeValue, Problems, ZLinkError } from '@zlink/kernel/errors';
import {
  HostLifecycle,
  hostSections,
  measuredShutdown,
  queryOf,
  type RuntimeQuery,
  Shutdown,
  surroundingsIn,
  tearDown,
  UNDO_MS,
  type Wiring,
} from '@zlink/kernel/internal/host';
import { disposeUnused } from '@zlink/kernel/internal/discovery';
import { type Clock, systemClock, systemDateMs } from '@zlink/kernel/internal/time';
import {
  type HostedService,
  HostedServices,
  type HostState,
  type ShutdownResult,
  STOPPED,
} from '@zlink/kernel/lifecycle';
import type { LocationStore, RelocationStore } from '@zlink/kernel/location';
import { type DiagnosticsLevel, errorText, type HostMeter, StatusBoard } from '@zlink/kernel/observe';
import { describedLevel, requireLevel } from './options/diagnostics-options.ts';
import {
  DEFAULT_SHUTDOWN_DEADLINE_MS,
  type HostOptions,
  type ResolvedHostOptions,
  resolveHostOptions,
} from './options/host-options.ts';
import { changeRouteTiming, describedRouteTiming, type RouteTiming } from './options/location-options.ts';
import { advertiseHint } from './options/own-addresses.ts';
import { warnOfLoopback, warnOfProcessLocalStore } from './options/start-warnings.ts';
import { checkStores, type RegisteredStores } from './options/store-options.ts';
import { claimProcess, type ProcessClaim } from './process-claim.ts';
import { TopicIndex } from './topic-index.ts';
import { unlessAborted } from './unless-aborted.ts';
import { type CheckedDescription, wire } from './wiring.ts';

/** Registers codec extensions; chainable. */
export interface HostCodecs {
  /** @throws ZLinkError `InvalidOperation` once the host has started */
  use(extension: CodecExtension): HostCodecs;
}

export interface Host extends AsyncDisposable {
  /** Registers codecs beside JSON. @throws ZLinkError `InvalidOperation` once the host has started. @see CODEC-001 */
  codecs(): HostCodecs;
  /**
   * Runs around the handlers of channels, nodes and fanout, in order of registration.
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see DISP-006
   */
  addFilter(filter: Filter): this;
  /** Starts and stops with the host. @throws ZLinkError `InvalidOperation` once the host has started. @see SVC-001 */
  addHostedService(service: HostedService): this;
  /**
   * Where hosts find each other; one at most. The host opens it and disposes of it.
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see LOC-001, LOC-003
   */
  addLocationStore(store: LocationStore): this;
  /**
   * Where objects lie while they move; one at most. The host opens it and disposes of it.
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see LOC-001, LOC-003
   */
  addRelocationStore(store: RelocationStore): this;
  /**
   * A channel whose clients call servers.
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CS-001
   */
  addClientServerChannel(channelName: string): ClientServerChannelBuilder;
  /**
   * This process's node of a mesh: direct messages between nodes, and channels among them.
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see MESH-001
   */
  addRouteMesh(meshName: string): RouteMeshBuilder;
  /**
   * A channel whose events reach every subscriber that is connected.
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see FAN-001
   */
  addFanoutChannel(channelName: string): FanoutChannelBuilder;
  /**
   * Validates everything, opens stores, binds, starts hosted services, then serves.
   *
   * @param signal - gives the start up; what was reached is released
   * @throws ConfigurationError with every mistake, if this or another host runs in the process (HOSTREG-001), or if what a
   *   store holds is none of ours; nothing was bound then. Or if the RID of a mesh node is taken (NET-003)
   * @throws ZLinkError `Unavailable` if a store could not be reached for 10 s (LOC-004); nothing was bound then
   * @throws ZLinkError `AlreadyExists` if an address is in use; `InvalidOperation` if this machine does not have it, or if
   *   the host has ended; `InternalFailure` if a hosted service failed; or the signal's reason
   */
  start(signal?: AbortSignal): Promise<void>;
  /**
   * Takes no new work, lets accepted work end, releases everything; all callers share one result (DRAIN-005, DRAIN-007).
   *
   * @param options - `deadlineMs`: integer 1..2_147_483_647, default `shutdownDeadlineMs`; `signal` ends this caller's
   *   waiting only
   * @throws ZLinkError `InvalidOperation` if `deadlineMs` is out of range; or the signal's reason
   */
  shutdown(options?: { readonly deadlineMs?: number; readonly signal?: AbortSignal }): Promise<ShutdownResult>;
  /**
   * Changes what may change while the host runs: for new entries and new moves.
   * @throws ConfigurationError if a value is out of range or does not go with the other one; the old ones then stay
   * @see LOC-005
   */
  setRouteTiming(timing: Partial<RouteTiming>): void;
  readonly state: HostState;
  /**
   * How much is recorded of messages. A change counts from the next step of every message on.
   * @throws ZLinkError `InvalidOperation` if it is set to what is no level
   * @see TRACE-010
   */
  diagnosticsLevel: DiagnosticsLevel;
  /** Messages that may wait for their handlers; 0 before start. @see JOBQ-001 */
  readonly effectiveMaxQueuedApplicationJobs: number;
  /** Calls from here; before `start` they end with `InvalidOperation`, after `shutdown` with `ShuttingDown`. @see CALL-005 */
  readonly routeClient: RouteClient;
  /** Publishes from here; as with calls, not before `start` and not after `shutdown`. @see FAN-002 */
  readonly fanoutClient: FanoutClient;
  readonly query: RuntimeQuery;
  /** That channel at run time. @throws ZLinkError `NotFound` if no such channel is registered. @see CHAN-001, CS-011 */
  clientServerChannel(channelName: string): ClientServerRuntime;
  /** That mesh at run time. @throws ZLinkError `NotFound` if no such mesh is registered. @see MESH-002, MESH-005 */
  routeMesh(meshName: string): RouteMeshRuntime;
  /** That channel at run time. @throws ZLinkError `NotFound` if no such channel is registered. @see FAN-005 */
  fanoutChannel(channelName: string): FanoutRuntime;
}

/** Describes a host; nothing happens before `start`. */
export function createHost(options: HostOptions = {}): Host {
  return new ZLinkHost(options);
}

class ZLinkHost implements Host {
  readonly routeClient: RouteClient;
  readonly fanoutClient: FanoutClient;
  readonly query: RuntimeQuery;
  readonly #options: HostOptions;
  readonly #codecs = new CodecRegistry();
  readonly #filters: Filter[] = [];
  readonly #services: HostedService[] = [];
  readonly #registered: RegisteredStores = { location: [], relocation: [] };
  readonly #topics = new TopicIndex();
  readonly #clock: Clock;
  readonly #board: StatusBoard;
  readonly #life: HostLifecycle;
  #resolved: ResolvedHostOptions | undefined;
  #routeTiming: RouteTiming | undefined;
  #level: DiagnosticsLevel;
  #wiring: Wiring | undefined;
  #hosted: HostedServices | undefined;
  #claim: ProcessClaim | undefined;
  readonly #startAbort = new AbortController();
  /** Ends the wait for services that a given up start has to stop. */
  readonly #undoDeadline = new AbortController();
  #starting: Promise<void> | undefined;
  #shutdown: Promise<ShutdownResult> | undefined;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#level = describedLevel(options);
    this.routeClient = createRouteClient({
      toChannel: (channelName) => this.#noCalls() ?? this.#topics.toChannel(channelName),
      toNode: (meshName, rid) => this.#noCalls() ?? this.#topics.toNode(meshName, rid),
    });
    this.fanoutClient = createFanoutClient({
      toChannel: (channelName) => this.#noCalls() ?? this.#topics.toFanout(channelName),
    });
    const { topics } = this.#topics;
    const { testing } = (options as HostOptions | null) ?? {}; // whether they are right is found by the start
    const system = { clock: systemClock, dateMs: systemDateMs };
    const { clock, dateMs } = surroundingsIn(testing?.surroundings) ?? system;
    this.#clock = clock;
    this.#board = new StatusBoard({
      sections: () => hostSections(this.#life.facts(this.#level), topics, this.#wiring),
      lifecycleGeneration: () => this.#life.generation,
      date: () => new Date(dateMs()),
      clock,
    });
    this.#life = new HostLifecycle(this.#board, dateMs);
    this.query = queryOf({
      topics,
      board: this.#board,
      wiring: () => this.#wiring,
      isOver: () => this.#life.isOver,
    });
  }

  get state(): HostState {
    return this.#life.state;
  }

  get diagnosticsLevel(): DiagnosticsLevel {
    return this.#level;
  }

  set diagnosticsLevel(level: DiagnosticsLevel) {
    requireLevel(level);
    this.#level = level;
    if (this.#wiring !== undefined) this.#wiring.parts.flow.level = level;
    this.#board.changed();
  }

  get effectiveMaxQueuedApplicationJobs(): number {
    return this.#wiring?.parts.permits.max ?? 0;
  }

  codecs(): HostCodecs {
    this.#requireOpen();
    const facade: HostCodecs = Object.freeze({
      use: (extension: CodecExtension) => {
        this.#codecs.use(extension);
        return facade;
      },
    });
    return facade;
  }

  addFilter(filter: Filter): this {
    this.#requireOpen();
    this.#filters.push(filter);
    return this;
  }

  addHostedService(service: HostedService): this {
    this.#requireOpen();
    this.#services.push(service);
    return this;
  }

  addLocationStore(store: LocationStore): this {
    this.#requireOpen();
    this.#registered.location.push(store);
    return this;
  }

  addRelocationStore(store: RelocationStore): this {
    this.#requireOpen();
    this.#registered.relocation.push(store);
    return this;
  }

  setRouteTiming(timing: Partial<RouteTiming>): void {
    this.#routeTiming = changeRouteTiming(this.#routeTiming ?? describedRouteTiming(this.#options.location), timing);
  }

  addClientServerChannel(channelName: string): ClientServerChannelBuilder {
    this.#requireOpen();
    return builderOf(this.#topics.addClientServer(channelName, this.#requireOpen));
  }

  clientServerChannel(channelName: string): ClientServerRuntime {
    return runtimeOf(this.#topics.clientServer(channelName));
  }

  addRouteMesh(meshName: string): RouteMeshBuilder {
    this.#requireOpen();
    return meshBuilderOf(this.#topics.addMesh(meshName, this.#requireOpen));
  }

  routeMesh(meshName: string): RouteMeshRuntime {
    return meshRuntimeOf(this.#topics.mesh(meshName));
  }

  addFanoutChannel(channelName: string): FanoutChannelBuilder {
    this.#requireOpen();
    return fanoutBuilderOf(this.#topics.addFanout(channelName, this.#requireOpen));
  }

  fanoutChannel(channelName: string): FanoutRuntime {
    return fanoutRuntimeOf(this.#topics.fanout(channelName));
  }

  start(signal?: AbortSignal): Promise<void> {
    if (this.state !== 'configuring') return Promise.reject(this.#startedBefore());
    this.#life.begin();
    // Not within this call: what is started may end the host again, and then waits for this promise.
    this.#starting = Promise.resolve().then(() => this.#start(signal));
    return this.#starting;
  }

  async shutdown(options: { deadlineMs?: number; signal?: AbortSignal } = {}): Promise<ShutdownResult> {
    const { deadlineMs, signal } = options;
    if (deadlineMs !== undefined && !isTimeoutMs(deadlineMs)) {
      const text = `deadlineMs: ${describeValue(deadlineMs)} is not allowed, allowed: integer 1..${MAX_TIMEOUT_MS}`;
      throw new ZLinkError('InvalidOperation', text);
    }
    signal?.throwIfAborted();
    const shutdown = this.#shutdown ?? this.#stopOnce(deadlineMs); // H3
    return signal === undefined ? shutdown : unlessAborted(shutdown, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const onAbort = (): void => this.#startAbort.abort(signal?.reason);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      await this.#reachServing(this.#startAbort.signal);
    } catch (error) {
      // A shutdown during the start has its own end.
      if (this.state === 'starting') for (const topic of this.#topics.topics) topic.fail();
      await this.#undoStart(); // H1
      if (this.state === 'starting') this.#life.become('error', error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #reachServing(abort: AbortSignal): Promise<void> {
    const description = this.#validate();
    const { logger, onUnhandled, allowSeveralHosts } = description.options;
    this.#claim = claimProcess(allowSeveralHosts);
    abort.throwIfAborted();
    this.#board.logTo(description.options.log);
    const { parts, stores } = (this.#wiring = wire(description, this.#board, () => this.query.counters()));
    parts.flow.level = this.#level; // may have been set since
    const { topics } = this.#topics;
    warnOfProcessLocalStore(description.stores, logger);
    await stores.open(abort);
    abort.throwIfAborted();
    for (const topic of topics) {
      await topic.open(parts);
      abort.throwIfAborted();
    }
    warnOfLoopback(this.query.listeners(), this.#options, description.stores, logger);
    for (const topic of topics) {
      await topic.announce(abort);
      abort.throwIfAborted();
    }
    this.#hosted = new HostedServices(this.#services, {
      onStarting: (signal) => parts.flow.beginWith(signal, 'lifecycle'),
      onStopFailed(error, where) {
        logger.warn({ eventId: 'zlink.runtime.hosted_service_failed', where, error: errorText(error) }); // HOST-006
        onUnhandled(error, { where });
      },
    });
    await this.#hosted.start(abort);
    abort.throwIfAborted();
    for (const topic of topics) topic.serve();
    await unlessAborted(stores.settled(), abort); // who sees it serve finds it in the store, too
    abort.throwIfAborted();
    this.#life.become('serving');
  }

  #validate(): CheckedDescription {
    const problems = new Problems();
    const options = resolveHostOptions(this.#options, problems);
    const { bindHost, advertiseHost, services, security } = options;
    const dialProblem =
      security !== undefined && security.serverPublicKey === undefined
        ? 'security.serverPublicKey is missing, without it no server can be dialled'
        : undefined;
    const stores = checkStores(this.#registered, problems);
    const hasLocationStore = this.#registered.location.length > 0;
    const context = { problems, bindHost, advertiseHost, services, hasLocationStore, dialProblem };
    this.#topics.validate({ ...context, advertiseHint: advertiseHint() });
    const filters = freezeFilters(this.#filters, services, problems);
    const codecs = this.#codecs.freeze(problems);
    problems.throwIfAny();
    this.#resolved = options;
    return { options, stores, codecs, filters };
  }

  /** Frees whatever a start has reached. */
  async #undoStart(): Promise<void> {
    const deadline = this.#undoDeadline.signal;
    for (const topic of this.#topics.topics) topic.abort(); // they may have served for a moment
    await this.#hosted?.requestStop(deadline);
    await this.#hosted?.stop(deadline);
    const deadlineAtMs = this.#clock.nowMs() + (deadline.aborted ? 0 : UNDO_MS);
    if (this.#wiring === undefined) await this.#disposeUnused();
    else await tearDown(this.#topics.topics, this.#wiring, deadlineAtMs);
    this.#claim?.release();
  }

  /** Stores of a host that has ended before it opened them; there is no log yet to tell of failures (LOC-003). */
  async #disposeUnused(): Promise<void> {
    await disposeUnused([...this.#registered.location, ...this.#registered.relocation], UNDO_MS, this.#clock);
  }

  #stopOnce(deadlineMs = this.#resolved?.shutdownDeadlineMs ?? DEFAULT_SHUTDOWN_DEADLINE_MS): Promise<ShutdownResult> {
    let settle: (result: Promise<ShutdownResult>) => void = () => undefined;
    this.#shutdown = new Promise((resolve) => (settle = resolve)); // first: a logger that hears of it may ask for it, too
    settle(this.#stop(deadlineMs));
    return this.#shutdown;
  }

  async #stop(deadlineMs: number): Promise<ShutdownResult> {
    const from = this.state;
    if (from === 'configuring') return this.#neverStarted();
    this.#life.drain(deadlineMs);
    const meter = (): HostMeter | undefined => this.#wiring?.parts.meter;
    const end = (): Promise<ShutdownResult> => this.#end(from, deadlineMs);
    // What has failed to start is freed already.
    const result = from === 'error' ? STOPPED : await measuredShutdown(end, this.#clock, meter);
    this.#claim?.release();
    this.#life.end(result);
    this.#board.stop();
    return result;
  }

  async #end(from: HostState, deadlineMs: number): Promise<ShutdownResult> {
    if (from === 'starting' || this.#hosted === undefined || this.#wiring === undefined) {
      return this.#giveStartUp(deadlineMs);
    }
    return new Shutdown(this.#topics.topics, this.#hosted, this.#wiring, deadlineMs).run();
  }

  async #giveStartUp(deadlineMs: number): Promise<ShutdownResult> {
    const timer = this.#clock.setTimer(() => this.#undoDeadline.abort(), deadlineMs);
    this.#startAbort.abort(new ZLinkError('ShuttingDown', 'host was shut down while it started'));
    await this.#starting?.catch(() => undefined); // its caller gets the error
    this.#clock.clearTimer(timer);
    return this.#undoDeadline.signal.aborted ? { outcome: 'forceStopped', reason: 'deadlineExceeded' } : STOPPED;
  }

  async #neverStarted(): Promise<ShutdownResult> {
    this.#life.endUnstarted();
    await this.#disposeUnused();
    this.#board.stop();
    return STOPPED;
  }

  /** Why this host takes no calls, if so (CALL-005). */
  #noCalls(): ZLinkError | undefined {
    if (this.#hosted !== undefined && !this.#life.isOver) return undefined; // HOST-004: services may call
    if (this.state === 'configuring' || this.state === 'starting') {
      return new ZLinkError('InvalidOperation', `host takes no calls yet: it is ${this.state}, await start() first`);
    }
    return new ZLinkError('ShuttingDown', `host takes no calls any more: it is ${this.state}`);
  }

  /** HOSTREG-001 */
  #startedBefore(): Error {
    const text = `host: it was started before and is ${this.state}; a host starts once, make another with createHost()`;
    return this.#life.isOver ? new ZLinkError('InvalidOperation', text) : new ConfigurationError([text]);
  }

  readonly #requireOpen = (): void => {
    if (this.state === 'configuring') return; // H2
    throw new ZLinkError(
      'InvalidOperation',
      'the description of a host is frozen once it has started: describe it before start()',
    );
  };
}

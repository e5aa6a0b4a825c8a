/**
 * One ClientServer channel of a host: its roles, from configuration to close.
 *
 * Owns the two roles and their stages. Leaves each role's work to `client/` and `server/`.
 */
import type { CallPath } from '@zlink/kernel/call';
import { type HandlerTable, requireServices } from '@zlink/kernel/dispatch';
import { ZLinkError } from '@zlink/kernel/errors';
import {
  checkName,
  type HostParts,
  type ListenerStatus,
  type Topic,
  type TopologySections,
  type ValidationContext,
} from '@zlink/kernel/internal/host';
import { type MessageCounters, type Monitor, TopologyHealth, type TopologyStage } from '@zlink/kernel/observe';
import { ChannelStatus } from './channel-status.ts';
import { ChannelClient } from './client/channel-client.ts';
import {
  ClientBuilder,
  type ClientOptions,
  type ClientServerClientBuilder,
  defaultClientOptions,
  validateClient,
} from './client/client-options.ts';
import { ChannelServer } from './server/channel-server.ts';
import {
  type ClientServerServerBuilder,
  defaultServerOptions,
  ServerBuilder,
  type ServerOptions,
  validateServer,
} from './server/server-options.ts';
import type { ServerStatus } from './server-status.ts';

/**
 * Chooses the roles that this process has in a channel. A role asked for a second time is a mistake that the host reports
 * at its start.
 */
export interface ClientServerChannelBuilder {
  /**
   * This process starts sends and requests. Without this role they end with `NotConfigured`.
   *
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CS-001
   */
  client(): ClientServerClientBuilder;
  /**
   * This process serves them; at least one handler is needed.
   *
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CS-001, HOSTREG-006
   */
  server(): ClientServerServerBuilder;
}

/** A channel at run time. */
export interface ClientServerRuntime {
  readonly channelName: string;
  /** Advertised endpoint of the server in this process; undefined without one, or before the host has bound it. */
  readonly endpoint: string | undefined;
  /**
   * Changes the weight of the server in this process; connected clients learn of it at once.
   *
   * @param weight - integer 0..10_000
   * @throws ConfigurationError if the weight is out of range; the old one then stays
   * @throws ZLinkError `NotConfigured` if this process has no server role, `InvalidOperation` before the host has bound it,
   *   `ShuttingDown`
   * @see CS-011
   */
  setWeight(weight: number): void;
  /**
   * Every address that this process dials: its own server first, then in the order of configuration, then servers that were
   * found through a Location Store and that none of these leads to. @see CS-002
   */
  servers(): readonly ServerStatus[];
  /**
   * Resolves when at least `count` servers are ready: connected and serving, whatever their weight.
   *
   * @param count - integer from 0; several addresses of one server count once
   * @param signal - ends the waiting
   * @throws ZLinkError `NotConfigured` without a client role, `ShuttingDown` when the host ends first, `InvalidOperation`
   *   for a count out of range or before the host starts; or the signal's reason
   * @see CS-004
   */
  whenReady(count: number, signal?: AbortSignal): Promise<void>;
}

const NO_SOURCE =
  'there is no server to dial: call connect(endpoint), or register a location store with host.addLocationStore(store)';

/** A role as it was described: what its builder collects, and what the application holds. */
interface DescribedRole<Options, Builder> {
  readonly options: Options;
  readonly builder: Builder;
}

/** What a composer of a host deals with: the description, the stages of the topic, and the way of its calls. */
export class ClientServerChannel implements ClientServerChannelBuilder, ClientServerRuntime, Topic {
  readonly channelName: string;
  readonly #where: string;
  readonly #requireOpen: () => void;
  readonly #duplicates: string[] = [];
  #clientRole: DescribedRole<ClientOptions, ClientBuilder> | undefined;
  #serverRole: DescribedRole<ServerOptions, ServerBuilder> | undefined;
  #handlers: HandlerTable | undefined;
  readonly #health: TopologyHealth;
  #monitor: Monitor | undefined;
  #client: ChannelClient | undefined;
  #server: ChannelServer | undefined;
  /** Undefined until it is bound. */
  #status: ChannelStatus | undefined;

  /** @param requireOpen - throws once the configuration is frozen (HOSTREG-004) */
  constructor(channelName: string, requireOpen: () => void) {
    this.channelName = channelName;
    this.#where = `channel "${channelName}"`;
    this.#requireOpen = requireOpen;
    this.#health = new TopologyHealth({
      missing: () => this.#status?.missing() ?? [],
      onChanged: (status) =>
        this.#monitor?.tell({ type: 'zlink.runtime.client_server.state_changed', channelName, ...status }),
    });
  }

  client(): ClientServerClientBuilder {
    this.#requireOpen();
    if (this.#clientRole !== undefined) this.#duplicates.push('client');
    return (this.#clientRole ??= this.#describeClient()).builder;
  }

  server(): ClientServerServerBuilder {
    this.#requireOpen();
    if (this.#serverRole !== undefined) this.#duplicates.push('server');
    return (this.#serverRole ??= this.#describeServer()).builder;
  }

  get endpoint(): string | undefined {
    return this.#server?.endpoint;
  }

  setWeight(weight: number): void {
    if (this.#server === undefined) throw this.#missing('server');
    this.#server.setWeight(weight);
    this.#status?.changed();
  }

  servers(): readonly ServerStatus[] {
    return this.#client?.servers() ?? [];
  }

  whenReady(count: number, signal?: AbortSignal): Promise<void> {
    if (this.#client === undefined) return Promise.reject(this.#missing('client'));
    return this.#client.whenReady(count, signal);
  }

  /** The way of this channel's calls, or why this process has none: `RequestBuilder` and `SendBuilder` take either. */
  get path(): CallPath | ZLinkError {
    return this.#client ?? this.#missing('client');
  }

  validate(context: ValidationContext): void {
    const { problems } = context;
    checkName('channel name', this.channelName, problems);
    for (const role of this.#duplicates) problems.note(`${this.#where}: the ${role} role is registered twice`);
    if (this.#clientRole === undefined && this.#serverRole === undefined) {
      problems.note(`${this.#where}: neither a client nor a server role is registered, call .client() or .server()`);
    }
    if (this.#clientRole !== undefined) this.#validateClient(this.#clientRole.options, context);
    if (this.#serverRole !== undefined) this.#validateServer(this.#serverRole.options, context);
  }

  async open(parts: HostParts): Promise<void> {
    this.#monitor = parts.monitor;
    const status = this.#makeStatus(parts);
    if (this.#serverRole !== undefined && this.#handlers !== undefined) {
      this.#server = await ChannelServer.open(this.channelName, this.#serverRole.options, this.#handlers, parts);
    }
    if (this.#clientRole !== undefined) {
      const { options } = this.#clientRole;
      this.#client = new ChannelClient(this.channelName, options, parts, (subject) => status.changed(subject));
      this.#client.start(options.endpoints, this.#server?.local);
    }
    this.#status = status;
    status.changed();
  }

  async announce(signal: AbortSignal): Promise<void> {
    await this.#server?.announce(signal);
    this.#client?.discover();
  }

  serve(): void {
    this.#server?.serve();
    this.#become('serving');
  }

  drain(): void {
    this.#client?.drain();
    this.#server?.drain();
    this.#become('stopping');
  }

  async drained(): Promise<void> {
    await this.#server?.drained();
  }

  abort(): void {
    this.#server?.abort();
  }

  async close(lingerMs: number): Promise<void> {
    await this.#client?.close(lingerMs);
    await this.#server?.close(lingerMs);
    this.#become('stopped');
  }

  fail(): void {
    this.#become('failed');
  }

  listeners(): readonly ListenerStatus[] {
    return this.#server === undefined ? [] : [this.#server.listenerStatus()];
  }

  counters(): readonly MessageCounters[] {
    const counters = [...(this.#server?.counters() ?? [])];
    if (this.#client !== undefined) counters.push(this.#client.counters());
    return counters;
  }

  showIn(sections: TopologySections): void {
    this.#server?.addBacklog(sections.backlog);
    sections.clientServerChannels.push({
      channelName: this.channelName,
      role: this.#serverRole === undefined ? 'client' : this.#clientRole === undefined ? 'server' : 'client_and_server',
      ...this.#health.status,
      servers: this.#status?.servers() ?? [],
    });
  }

  #makeStatus({ monitor, discovery }: HostParts): ChannelStatus {
    return new ChannelStatus({
      channelName: this.channelName,
      monitor,
      discovery,
      health: this.#health,
      client: () => this.#client,
      server: () => this.#server,
    });
  }

  #become(stage: TopologyStage): void {
    this.#health.become(stage);
    this.#status?.changed();
  }

  #describeClient(): DescribedRole<ClientOptions, ClientBuilder> {
    const options = defaultClientOptions();
    return { options, builder: new ClientBuilder(options, this.#requireOpen) };
  }

  #describeServer(): DescribedRole<ServerOptions, ServerBuilder> {
    const options = defaultServerOptions(this.#where);
    return { options, builder: new ServerBuilder(options, this.#requireOpen) };
  }

  #validateClient(options: ClientOptions, context: ValidationContext): void {
    const { problems, dialProblem } = context;
    const where = `${this.#where} client`;
    validateClient(options, where, problems);
    if (dialProblem !== undefined) problems.note(`${where}: ${dialProblem}`);
    const hasSource = options.endpoints.length > 0 || this.#serverRole !== undefined || context.hasLocationStore;
    if (!hasSource) problems.note(`${where}: ${NO_SOURCE}`);
  }

  #validateServer(options: ServerOptions, context: ValidationContext): void {
    const { problems, services } = context;
    validateServer(options, `${this.#where} server`, context);
    this.#handlers = options.handlers.freeze(problems);
    requireServices(this.#handlers.classes(), this.#where, services, problems);
    if (options.handlers.isEmpty) {
      problems.note(`${this.#where} server: no handler is registered, call addRequestHandler or addSendHandler`);
    }
  }

  #missing(role: 'client' | 'server'): ZLinkError {
    const isDescribed = (role === 'client' ? this.#clientRole : this.#serverRole) !== undefined;
    if (isDescribed) {
      return new ZLinkError('InvalidOperation', `${this.#where} is not open: its host has not started`);
    }
    const text = `${this.#where} has no ${role} role in this process, call .${role}() on it before start()`;
    return new ZLinkError('NotConfigured', text);
  }
}

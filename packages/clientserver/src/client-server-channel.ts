/**
 * One ClientServer channel of a host: its roles, from configuration to close.
 *
 * Owns the two roles and their stages. Leaves each role's work to `client/` and `server/`.
 */
import type { CallPath } from '@zlink/kernel/call';
import { type HandlerTable, requireServices } from '@zlink/kernel/dispatch';
import { ZLinkError } from '@zlink/kernel/errors';
import { isName } from '@zlink/kernel/identity';
import type { HostParts, ListenerStatus, Topic, ValidationContext } from '@zlink/kernel/internal/host';
import type { MessageCounters } from '@zlink/kernel/observe';
import { ChannelClient } from './client/channel-client.ts';
import { ClientBuilder, type ClientServerClientBuilder, validateClient } from './client/client-options.ts';
import { ChannelServer } from './server/channel-server.ts';
import { type ClientServerServerBuilder, ServerBuilder, validateServer } from './server/server-options.ts';
import type { ServerStatus } from './server-status.ts';

/**
 * Chooses the roles that this process has in a channel. A role asked for a second time is a mistake that the host reports
 * at its start.
 */
export interface ClientServerChannelBuilder {
  /** Starts sends and requests. @throws ZLinkError `InvalidOperation` once the host has started. @see CS-001 */
  client(): ClientServerClientBuilder;
  /** Serves them. @throws ZLinkError `InvalidOperation` once the host has started. @see CS-001 */
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
   * @throws ZLinkError `NotConfigured` if this process has no server role, `InvalidOperation` before the host has bound it
   * @see CS-011
   */
  setWeight(weight: number): void;
  /** Every address that this process dials: its own server first, then in the order of configuration. @see CS-002 */
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

/** What a composer of a host deals with: the description, the stages of the topic, and the way of its calls. */
export class ClientServerChannel implements ClientServerChannelBuilder, ClientServerRuntime, Topic {
  readonly channelName: string;
  readonly #where: string;
  readonly #requireOpen: () => void;
  readonly #duplicates: string[] = [];
  #clientBuilder: ClientBuilder | undefined;
  #serverBuilder: ServerBuilder | undefined;
  #handlers: HandlerTable | undefined;
  #client: ChannelClient | undefined;
  #server: ChannelServer | undefined;

  /** @param requireOpen - throws once the configuration is frozen (HOSTREG-004) */
  constructor(channelName: string, requireOpen: () => void) {
    this.channelName = channelName;
    this.#where = `channel "${channelName}"`;
    this.#requireOpen = requireOpen;
  }

  client(): ClientServerClientBuilder {
    this.#requireOpen();
    if (this.#clientBuilder !== undefined) this.#duplicates.push('client');
    return (this.#clientBuilder ??= new ClientBuilder(this.#requireOpen));
  }

  server(): ClientServerServerBuilder {
    this.#requireOpen();
    if (this.#serverBuilder !== undefined) this.#duplicates.push('server');
    return (this.#serverBuilder ??= new ServerBuilder(this.#where, this.#requireOpen));
  }

  get endpoint(): string | undefined {
    return this.#server?.endpoint;
  }

  setWeight(weight: number): void {
    if (this.#server === undefined) throw this.#missing('server');
    this.#server.setWeight(weight);
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
    if (!isName(this.channelName)) problems.add('channel name', this.channelName, '1..255 bytes of UTF-8 without NUL');
    for (const role of this.#duplicates) problems.note(`${this.#where}: the ${role} role is registered twice`);
    if (this.#clientBuilder === undefined && this.#serverBuilder === undefined) {
      problems.note(`${this.#where}: neither a client nor a server role is registered`);
    }
    if (this.#clientBuilder !== undefined) this.#validateClient(this.#clientBuilder, context);
    if (this.#serverBuilder !== undefined) {
      validateServer(this.#serverBuilder.options, `${this.#where} server`, context);
      this.#handlers = this.#serverBuilder.options.handlers.freeze(problems);
      requireServices(this.#handlers.classes(), this.#where, context.services, problems);
      if (this.#handlers.size === 0) problems.note(`${this.#where} server: no handler is registered`);
    }
  }

  async open(parts: HostParts): Promise<void> {
    if (this.#serverBuilder !== undefined && this.#handlers !== undefined) {
      this.#server = await ChannelServer.open(this.channelName, this.#serverBuilder.options, this.#handlers, parts);
    }
    if (this.#clientBuilder !== undefined) {
      this.#client = new ChannelClient(this.channelName, this.#clientBuilder.options, parts);
      this.#client.start(this.#clientBuilder.options.endpoints, this.#server?.local);
    }
  }

  serve(): void {
    this.#server?.serve();
  }

  drain(): void {
    this.#client?.drain();
    this.#server?.drain();
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
  }

  listeners(): readonly ListenerStatus[] {
    return this.#server === undefined ? [] : [this.#server.listenerStatus()];
  }

  counters(): readonly MessageCounters[] {
    const counters = [...(this.#server?.counters() ?? [])];
    if (this.#client !== undefined) counters.push(this.#client.counters());
    return counters;
  }

  #validateClient(builder: ClientBuilder, context: ValidationContext): void {
    validateClient(builder.options, `${this.#where} client`, context.problems);
    if (context.dialProblem !== undefined) context.problems.note(`${this.#where} client: ${context.dialProblem}`);
    const hasSource = builder.options.endpoints.length > 0 || this.#serverBuilder !== undefined;
    if (!hasSource && !context.hasLocationStore) {
      context.problems.note(`${this.#where} client: no endpoint is given and no location store is registered`);
    }
  }

  #missing(role: 'client' | 'server'): ZLinkError {
    const isDescribed = (role === 'client' ? this.#clientBuilder : this.#serverBuilder) !== undefined;
    return isDescribed
      ? new ZLinkError('InvalidOperation', `${this.#where} is not open: its host has not started`)
      : new ZLinkError('NotConfigured', `${this.#where} has no ${role} role in this process`);
  }
}

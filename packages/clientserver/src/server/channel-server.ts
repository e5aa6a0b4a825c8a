/**
 * The server role of one channel: a listener whose links feed one dispatcher.
 *
 * Owns what is published of the server, and when. Leaves links to the transport, handlers to the dispatcher.
 *
 * V1 Clients choose this server only while its state is serving (CS-004); messages that arrive before or after are
 *    answered, never left hanging (CS-008, HOST-004).
 * V2 With a Location Store it takes new messages only while its run can prove its lease; what was accepted goes on (CS-010).
 *    A draining one has no need of the lease, which its host gives up while links still linger: it says what V1 says.
 */
import { channelSurface, Dispatcher, type HandlerTable, type Refusal } from '@zlink/kernel/dispatch';
import { describeValue, ZLinkError } from '@zlink/kernel/errors';
import { formatEndpoint, isWildcardHost, newGeneration, newRid, parseEndpoint } from '@zlink/kernel/identity';
import type { Admission, Discovery } from '@zlink/kernel/internal/discovery';
import {
  type HostParts,
  listenFor,
  type ListenerStatus,
  OwnEndpoint,
  requireWeight,
} from '@zlink/kernel/internal/host';
import type { InboundRecord, Link, LinkSink, Listener } from '@zlink/kernel/internal/transport';
import { DescriptorState, EndpointKind } from '@zlink/kernel/internal/wire';
import type { MessageBacklog, MessageCounters, ServerSnapshot } from '@zlink/kernel/observe';
import type { LocalServer } from '../local-server.ts';
import type { ServerOptions } from './server-options.ts';

export class ChannelServer implements LinkSink {
  readonly #channelName: string;
  readonly #where: string;
  readonly #since: Date;
  readonly #dispatcher: Dispatcher;
  readonly #own: OwnEndpoint<'clientServer'>;
  /** Undefined without a Location Store. */
  readonly #discovery: Discovery | undefined;
  readonly #admission: Admission | undefined;
  /** Set by `open`, the only way to get a server. */
  #listener!: Listener;
  #isClosed = false;

  private constructor(channelName: string, options: ServerOptions, handlers: HandlerTable, parts: HostParts) {
    this.#channelName = channelName;
    this.#where = `channel "${channelName}"`;
    const identity = { rid: options.routingId ?? newRid('server'), generation: newGeneration() };
    this.#since = new Date();
    this.#dispatcher = new Dispatcher({
      owner: channelName,
      where: `${this.#where} (server ${describeValue(identity.rid)})`, // callers learn which of several it was
      surface: channelSurface(channelName, identity.rid),
      handlers,
      concurrency: options.concurrency,
      maxMessageBytes: options.maxMessageBytes,
      parts,
    });
    this.#dispatcher.stopIntake('Unavailable'); // V1: before the first client can come
    this.#own = new OwnEndpoint({
      kind: 'clientServer',
      name: channelName,
      identity,
      weights: new Map([[channelName, options.weight]]),
      listener: () => this.#listener,
      describe: ([membership]) => ({ weight: membership?.weight ?? 0 }),
    });
    this.#discovery = parts.discovery;
    this.#admission = parts.discovery?.admission;
  }

  static async open(
    channelName: string,
    options: ServerOptions,
    handlers: HandlerTable,
    parts: HostParts,
  ): Promise<ChannelServer> {
    const server = new ChannelServer(channelName, options, handlers, parts);
    const advertiseHost = options.advertiseHost ?? parts.advertiseHost;
    server.#listener = await listenFor(`${server.#where} server`, parts.transport, {
      kind: EndpointKind.channelServer,
      accepts: EndpointKind.channelClient,
      scope: channelName,
      identity: server.#own.identity,
      bindAddress: formatEndpoint(options.bindHost ?? parts.bindHost, options.port),
      ...(advertiseHost === undefined ? {} : { advertiseHost }),
      maxMessageBytes: options.maxMessageBytes,
      descriptor: server.#own.current,
      group: { policy: 'every', open: () => server },
    });
    return server;
  }

  get endpoint(): string {
    return this.#listener.endpoint;
  }

  /** How a client of the same process reaches this server. */
  get local(): LocalServer {
    const bound = parseEndpoint(this.#listener.boundAddress);
    const host = bound === undefined || isWildcardHost(bound.host) ? loopbackFor(bound?.host) : bound.host;
    return { address: formatEndpoint(host, bound?.port ?? 0), ...this.#own.identity };
  }

  /** Publishes it, in whatever state it is; without a Location Store nobody is told but the links. */
  async announce(signal: AbortSignal): Promise<void> {
    if (this.#discovery !== undefined) await this.#own.publish(this.#discovery, signal);
  }

  serve(): void {
    this.#dispatcher.resumeIntake();
    this.#own.become(DescriptorState.serving);
  }

  setWeight(weight: number): void {
    requireWeight(`${this.#where} weight`, weight);
    if (this.#own.current.state >= DescriptorState.draining) {
      throw new ZLinkError('ShuttingDown', `${this.#where} is shutting down`);
    }
    this.#own.setWeight(this.#channelName, weight);
  }

  drain(): void {
    this.#dispatcher.stopIntake('Rejected'); // V1
    this.#own.become(DescriptorState.draining);
  }

  drained(): Promise<void> {
    return this.#dispatcher.idle();
  }

  abort(): void {
    this.#dispatcher.abortAll();
  }

  close(lingerMs: number): Promise<void> {
    this.#isClosed = true;
    return this.#listener.close(lingerMs);
  }

  listenerStatus(): ListenerStatus {
    return { kind: 'CLIENT_SERVER', name: this.#channelName, endpoint: this.endpoint, since: this.#since };
  }

  /** As a client sees it (MON-006). */
  snapshot(): readonly ServerSnapshot[] {
    const { identity, current } = this.#own;
    const isStarting = current.state === DescriptorState.starting;
    return [
      {
        endpoint: this.endpoint,
        serverRid: identity.rid,
        state: this.#isClosed ? 'closed' : isStarting ? 'admitted' : 'ready',
        weight: this.#own.weightOf(this.#channelName) ?? 0,
        draining: current.state >= DescriptorState.draining,
        local: true,
        lifecycleGeneration: identity.generation,
      },
    ];
  }

  counters(): readonly MessageCounters[] {
    return this.#dispatcher.counters();
  }

  addBacklog(backlog: MessageBacklog): void {
    this.#dispatcher.addBacklog(backlog);
  }

  onRecord(record: InboundRecord, link: Link): void {
    // V2: one clock read per message, as a timer may be late by as long as the process stood still; nothing without a store.
    const isFenced = this.#admission?.isOpen === false && this.#own.current.state < DescriptorState.draining;
    if (isFenced) return this.#dispatcher.refuse(record, link, FENCED);
    this.#dispatcher.accept(record, link);
  }

  onUnmatched(): void {
    // A server starts no requests: whatever a client answers is nothing to us (CS-001).
  }

  onCancel(correlation: number, link: Link): void {
    this.#dispatcher.cancel(link, correlation);
  }

  onUpdate(): void {
    // Clients publish nothing a server acts on.
  }

  onFinishing(): void {
    // Accepted requests are answered on a finishing link like on any other.
  }

  onClosed(link: Link): void {
    this.#dispatcher.linkClosed(link);
  }
}

const FENCED: Refusal = {
  reason: 'not_serving',
  kind: 'Unavailable',
  text:
    'takes nothing new: its host has not reached the location store in time (owner lease); ' +
    'the handler did not run; it goes on by itself when the store is back',
};

function loopbackFor(host: string | undefined): string {
  return host?.includes(':') === true ? '::1' : '127.0.0.1';
}

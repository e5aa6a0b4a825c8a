/**
 * The server role of one channel: a listener whose links feed one dispatcher.
 *
 * Owns the server's descriptor: weight, state and revision. Leaves links to the transport, handlers to the dispatcher.
 *
 * V1 The revision rises with every change, so that a late older descriptor never wins (CS-005).
 * V2 Clients choose this server only while its state is serving (CS-004); messages that arrive before or after are
 *    answered, never left hanging (CS-008, HOST-004).
 */
import { channelSurface, Dispatcher, type HandlerTable } from '@zlink/kernel/dispatch';
import { ConfigurationError, describeValue } from '@zlink/kernel/errors';
import { formatEndpoint, isWildcardHost, newGeneration, newRid, parseEndpoint } from '@zlink/kernel/identity';
import { type HostParts, isWeight, listenFor, type ListenerStatus, WEIGHT_RANGE } from '@zlink/kernel/internal/host';
import type { InboundRecord, Link, LinkSink, Listener } from '@zlink/kernel/internal/transport';
import { type Descriptor, DescriptorState, EndpointKind, ObjectRole } from '@zlink/kernel/internal/wire';
import type { MessageCounters } from '@zlink/kernel/observe';
import type { LocalServer } from '../local-server.ts';
import type { ServerOptions } from './server-options.ts';

export class ChannelServer implements LinkSink {
  readonly #channelName: string;
  readonly #where: string;
  readonly #rid: string;
  readonly #since: Date;
  readonly #dispatcher: Dispatcher;
  #descriptor: Descriptor;
  /** Set by `open`, the only way to get a server. */
  #listener!: Listener;

  private constructor(channelName: string, options: ServerOptions, handlers: HandlerTable, parts: HostParts) {
    this.#channelName = channelName;
    this.#where = `channel "${channelName}"`;
    this.#rid = options.routingId ?? newRid('server');
    this.#since = new Date();
    this.#dispatcher = new Dispatcher({
      owner: channelName,
      where: `${this.#where} (server ${describeValue(this.#rid)})`, // callers learn which of several it was
      surface: channelSurface(channelName),
      handlers,
      concurrency: options.concurrency,
      maxMessageBytes: options.maxMessageBytes,
      parts,
    });
    this.#dispatcher.stopIntake('Unavailable'); // V2: before the first client can come
    this.#descriptor = describe(1n, DescriptorState.starting, channelName, options.weight);
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
      identity: { rid: server.#rid, generation: newGeneration() },
      bindAddress: formatEndpoint(options.bindHost ?? parts.bindHost, options.port),
      ...(advertiseHost === undefined ? {} : { advertiseHost }),
      maxMessageBytes: options.maxMessageBytes,
      descriptor: server.#descriptor,
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
    return { address: formatEndpoint(host, bound?.port ?? 0), rid: this.#rid };
  }

  get weight(): number {
    return this.#descriptor.channels[0]?.weight ?? 0;
  }

  serve(): void {
    this.#dispatcher.resumeIntake();
    this.#publish(DescriptorState.serving, this.weight);
  }

  setWeight(weight: number): void {
    if (!isWeight(weight)) {
      const value = describeValue(weight);
      throw new ConfigurationError([`${this.#where} weight: ${value} is not allowed, allowed: ${WEIGHT_RANGE}`]);
    }
    this.#publish(this.#descriptor.state, weight);
  }

  drain(): void {
    this.#dispatcher.stopIntake('Rejected'); // V2
    this.#publish(DescriptorState.draining, this.weight);
  }

  drained(): Promise<void> {
    return this.#dispatcher.idle();
  }

  abort(): void {
    this.#dispatcher.abortAll();
  }

  close(lingerMs: number): Promise<void> {
    return this.#listener.close(lingerMs);
  }

  listenerStatus(): ListenerStatus {
    return { kind: 'CLIENT_SERVER', name: this.#channelName, endpoint: this.endpoint, since: this.#since };
  }

  counters(): readonly MessageCounters[] {
    return this.#dispatcher.counters();
  }

  onRecord(record: InboundRecord, link: Link): void {
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

  #publish(state: DescriptorState, weight: number): void {
    this.#descriptor = describe(this.#descriptor.revision + 1n, state, this.#channelName, weight); // V1
    this.#listener.update(this.#descriptor);
  }
}

function describe(revision: bigint, state: DescriptorState, channelName: string, weight: number): Descriptor {
  return { revision, state, objectRole: ObjectRole.none, channels: [{ name: channelName, weight }] };
}

function loopbackFor(host: string | undefined): string {
  return host?.includes(':') === true ? '::1' : '127.0.0.1';
}

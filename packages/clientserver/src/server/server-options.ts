/** Configuration of a channel's server role: what the builder collects and what start makes of it. */
import { type ChannelContext, HandlerRegistry, type RequestHandler, type SendHandler } from '@zlink/kernel/dispatch';
import { checkAdvertiseHost, checkBindHost, isHost, isRid, isWildcardHost } from '@zlink/kernel/identity';
import type { ValidationContext } from '@zlink/kernel/internal/host';
import type { PacketKey } from '@zlink/kernel/message';

export interface ServerOptions {
  port: number;
  bindHost: string | undefined;
  advertiseHost: string | undefined;
  weight: number;
  concurrency: number;
  maxMessageBytes: number;
  routingId: string | undefined;
  readonly handlers: HandlerRegistry<ChannelContext>;
}

/**
 * Part of a channel server that RouteMesh and ClientServer share.
 *
 * Values are checked when the host starts, all mistakes together. Afterwards every method throws ZLinkError
 * `InvalidOperation` (HOSTREG-004).
 */
export interface ChannelServerBuilder {
  /**
   * Share of new messages relative to other servers of the channel; 0: none, the server runs on.
   *
   * @param weight - integer 0..10_000; default 100
   * @see CS-003, WRR-001
   */
  setWeight(weight: number): this;
  /**
   * Handlers that may overlap; they start in order of arrival.
   *
   * @param n - integer 1..2_147_483_647; default 256; 1: strictly one after another
   * @see DISP-005
   */
  concurrency(n: number): this;
  /**
   * Serves one-way messages of a packet. What it throws is recorded and answered to nobody.
   *
   * @param packet - a descriptor, or a class whose name is the packet name; once per server
   * @param handler - a function, or a class of which every message gets its own instance
   * @see DISP-001, DISP-004
   */
  addSendHandler<T>(packet: PacketKey<T>, handler: SendHandler<T, ChannelContext>): this;
  /**
   * Serves requests of a packet; what the handler returns is the reply, a ZLinkError it throws is the caller's error.
   *
   * @param packet - as `addSendHandler`; no descriptor of a one-way message
   * @param handler - as `addSendHandler`
   * @see DISP-001, CS-007
   */
  addRequestHandler<T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, ChannelContext>): this;
}

/** The server role of a ClientServer channel. */
export interface ClientServerServerBuilder extends ChannelServerBuilder {
  /**
   * @param port - integer 0..65_535; 0 (default): any free one, the advertised endpoint carries the real one
   * @see NET-002
   */
  listen(port?: number): this;
  /**
   * @param host - interface to bind: a name, an IP address or `*`; default: the host's `network.bindHost` (127.0.0.1)
   * @see NET-001
   */
  setBindHost(host: string): this;
  /**
   * @param host - name or IP address that clients dial, no wildcard; default: the host's `network.advertiseHost`, else the
   *   bind host, which must then be no wildcard
   * @see NET-001
   */
  setAdvertiseHost(host: string): this;
  /**
   * Largest message (payload and metadata) that is taken; a larger one is refused whole.
   *
   * @param bytes - integer from 0; 0: no limit; default 16_777_216
   * @see CS-003
   */
  maxMessageSize(bytes: number): this;
  /**
   * Gives the server an identity that survives restarts.
   *
   * @param rid - 1..255 bytes of UTF-8 without NUL; default: a fresh `server-<uuid>` per start
   * @see CS-013, CS-009
   */
  routingId(rid: string): this;
}

const DEFAULT_MAX_MESSAGE_BYTES = 16_777_216;

export class ServerBuilder implements ClientServerServerBuilder {
  readonly options: ServerOptions;
  readonly #requireOpen: () => void;

  constructor(where: string, requireOpen: () => void) {
    this.#requireOpen = requireOpen;
    this.options = {
      port: 0,
      bindHost: undefined,
      advertiseHost: undefined,
      weight: 100,
      concurrency: 256,
      maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES,
      routingId: undefined,
      handlers: new HandlerRegistry(where),
    };
  }

  listen(port = 0): this {
    return this.#set('port', port);
  }

  setBindHost(host: string): this {
    return this.#set('bindHost', host);
  }

  setAdvertiseHost(host: string): this {
    return this.#set('advertiseHost', host);
  }

  setWeight(weight: number): this {
    return this.#set('weight', weight);
  }

  concurrency(n: number): this {
    return this.#set('concurrency', n);
  }

  maxMessageSize(bytes: number): this {
    return this.#set('maxMessageBytes', bytes);
  }

  routingId(rid: string): this {
    return this.#set('routingId', rid);
  }

  addSendHandler<T>(packet: PacketKey<T>, handler: SendHandler<T, ChannelContext>): this {
    this.#requireOpen();
    this.options.handlers.addSend(packet, handler);
    return this;
  }

  addRequestHandler<T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, ChannelContext>): this {
    this.#requireOpen();
    this.options.handlers.addRequest(packet, handler);
    return this;
  }

  #set<K extends keyof ServerOptions>(name: K, value: ServerOptions[K]): this {
    this.#requireOpen();
    this.options[name] = value;
    return this;
  }
}

export function isWeight(value: unknown): value is number {
  return isIntegerIn(value, 0, 10_000);
}

export const WEIGHT_RANGE = 'integer 0..10000';

export function validateServer(options: ServerOptions, where: string, context: ValidationContext): void {
  const { problems } = context;
  if (!isIntegerIn(options.port, 0, 65_535)) problems.add(`${where} listen`, options.port, 'integer 0..65535');
  if (!isWeight(options.weight)) problems.add(`${where} weight`, options.weight, WEIGHT_RANGE);
  if (!isIntegerIn(options.concurrency, 1, MAX_INT32)) {
    problems.add(`${where} concurrency`, options.concurrency, `integer 1..${MAX_INT32}`);
  }
  if (!isIntegerIn(options.maxMessageBytes, 0, Number.MAX_SAFE_INTEGER)) {
    problems.add(`${where} maxMessageSize`, options.maxMessageBytes, 'integer from 0');
  }
  if (options.routingId !== undefined && !isRid(options.routingId)) {
    problems.add(`${where} routingId`, options.routingId, '1..255 bytes of UTF-8 without NUL');
  }
  validateHosts(options, where, context);
}

/** The server's own overrides; the host reports its own options, once and under their names. */
function validateHosts(options: ServerOptions, where: string, context: ValidationContext): void {
  const { problems } = context;
  const { bindHost = context.bindHost, advertiseHost = context.advertiseHost } = options;
  if (options.bindHost !== undefined) checkBindHost(`${where} bindHost`, options.bindHost, problems);
  if (options.advertiseHost !== undefined) {
    checkAdvertiseHost(`${where} advertiseHost`, options.advertiseHost, problems);
  }
  if (advertiseHost === undefined && isHost(bindHost) && isWildcardHost(bindHost)) {
    problems.note(`${where}: bindHost "${bindHost}" is a wildcard and needs an advertiseHost`);
  }
}

const MAX_INT32 = 2_147_483_647;

function isIntegerIn(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

/** Configuration of a channel's server role: what the builder collects and what start makes of it. */
import {
  CHANNEL_SERVER_DEFAULTS,
  type ChannelContext,
  type ChannelServerBuilder,
  HandlerRegistry,
  type RequestHandler,
  type SendHandler,
} from '@zlink/kernel/dispatch';
import {
  checkConcurrency,
  checkListenHosts,
  checkPort,
  checkRid,
  checkWeight,
  type ValidationContext,
} from '@zlink/kernel/internal/host';
import { checkInteger } from '@zlink/kernel/internal/options';
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

export function defaultServerOptions(where: string): ServerOptions {
  return {
    port: 0,
    bindHost: undefined,
    advertiseHost: undefined,
    ...CHANNEL_SERVER_DEFAULTS,
    maxMessageBytes: DEFAULT_MAX_MESSAGE_BYTES,
    routingId: undefined,
    handlers: new HandlerRegistry(where),
  };
}

/** What applications hold of a server role: it writes into the options, which cannot be reached through it (HOSTREG-005). */
export class ServerBuilder implements ClientServerServerBuilder {
  readonly #options: ServerOptions;
  readonly #requireOpen: () => void;

  constructor(options: ServerOptions, requireOpen: () => void) {
    this.#options = options;
    this.#requireOpen = requireOpen;
    Object.freeze(this);
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
    this.#options.handlers.addSend(packet, handler);
    return this;
  }

  addRequestHandler<T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, ChannelContext>): this {
    this.#requireOpen();
    this.#options.handlers.addRequest(packet, handler);
    return this;
  }

  #set<K extends keyof ServerOptions>(name: K, value: ServerOptions[K]): this {
    this.#requireOpen();
    this.#options[name] = value;
    return this;
  }
}

export function validateServer(options: ServerOptions, where: string, context: ValidationContext): void {
  const { problems } = context;
  checkPort(`${where} listen`, options.port, problems);
  checkWeight(`${where} weight`, options.weight, problems);
  checkConcurrency(`${where} concurrency`, options.concurrency, problems);
  checkInteger(`${where} maxMessageSize`, options.maxMessageBytes, 0, undefined, problems);
  checkRid(where, options, problems);
  checkListenHosts(where, options, context);
}

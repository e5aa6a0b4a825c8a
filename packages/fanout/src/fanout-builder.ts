/** How an application describes a fanout channel. */
import type { FanoutContext, SendHandler } from '@zlink/kernel/dispatch';
import type { PacketKey } from '@zlink/kernel/message';
import type { FanoutOptions } from './fanout-options.ts';

/**
 * A channel whose events go to every subscriber that is connected. A process publishes, subscribes, or does both.
 *
 * Values are checked when the host starts, all mistakes together. Afterwards every method throws ZLinkError
 * `InvalidOperation` (HOSTREG-004).
 */
export interface FanoutChannelBuilder {
  /**
   * This process publishes.
   *
   * @param port - integer 0..65_535; 0 (default): any free one, the advertised endpoint carries the real one
   * @see FAN-001, NET-002
   */
  enablePublisher(port?: number): this;
  /** @param endpoint - `tcp://host:port`: the interface to bind and the port; not together with `setBindHost` */
  enablePublisher(endpoint: string): this;
  /**
   * @param host - interface that the publisher binds: a name, an IP address or `*`; default: the host's `network.bindHost`
   *   (127.0.0.1)
   * @see NET-001
   */
  setBindHost(host: string): this;
  /**
   * @param host - name or IP address that subscribers dial, no wildcard; default: the host's `network.advertiseHost`, else
   *   the bind host, which must then be no wildcard
   * @see NET-001
   */
  setAdvertiseHost(host: string): this;
  /**
   * Gives the publisher an identity that survives restarts.
   *
   * @param rid - 1..255 bytes of UTF-8 without NUL; default: a fresh `<prefix>-<uuid>` per start
   */
  routingId(rid: string): this;
  /**
   * @param prefix - what a fresh RID begins with: `[A-Za-z0-9._-]{1,64}`; default `publisher`; needs a Location Store, not
   *   together with `routingId`
   * @see LOC-002
   */
  setRoutingIdPrefix(prefix: string): this;
  /**
   * This process subscribes to every publisher of the channel, which a Location Store finds; not together with `connect`.
   *
   * @see FAN-001, FAN-005
   */
  enableSubscriber(): this;
  /**
   * This process subscribes to the publisher at that address; repeatable. Connecting, and connecting again, is ZLink's work;
   * `start` does not wait for it.
   *
   * @param endpoint - `tcp://host:port`, port 1..65_535, no wildcard; IPv6 addresses in brackets
   * @see FAN-001
   */
  connect(endpoint: string): this;
  /**
   * Handles events of a packet. What it throws goes to the log and to `onUnhandled`; the publisher learns nothing of it. A
   * packet may have several handlers: each gets every event, in a dispatch of its own.
   *
   * @param packet - a descriptor of a one-way message, or a class whose static `packetName`, else its own name, is the packet
   *   name
   * @param handler - a function, or a class of which every event gets its own instance; once per packet
   * @see FAN-003, DISP-001, HOSTREG-006
   */
  addHandler<T>(packet: PacketKey<T>, handler: SendHandler<T, FanoutContext>): this;
}

/** What applications hold: it writes into the options, which cannot be reached through it (HOSTREG-005). */
export class FanoutBuilder implements FanoutChannelBuilder {
  readonly #options: FanoutOptions;
  readonly #requireOpen: () => void;

  constructor(options: FanoutOptions, requireOpen: () => void) {
    this.#options = options;
    this.#requireOpen = requireOpen;
    Object.freeze(this);
  }

  enablePublisher(listen: number | string = 0): this {
    this.#requireOpen();
    const { publisher, duplicates } = this.#options;
    if (publisher.listen !== undefined) duplicates.push('publisher');
    publisher.listen = listen;
    return this;
  }

  setBindHost(host: string): this {
    return this.#set('bindHost', host);
  }

  setAdvertiseHost(host: string): this {
    return this.#set('advertiseHost', host);
  }

  routingId(rid: string): this {
    return this.#set('routingId', rid);
  }

  setRoutingIdPrefix(prefix: string): this {
    return this.#set('ridPrefix', prefix);
  }

  enableSubscriber(): this {
    this.#requireOpen();
    if (this.#options.isAutomatic) this.#options.duplicates.push('subscriber');
    this.#options.isAutomatic = true;
    return this;
  }

  connect(endpoint: string): this {
    this.#requireOpen();
    this.#options.endpoints.push(endpoint);
    return this;
  }

  addHandler<T>(packet: PacketKey<T>, handler: SendHandler<T, FanoutContext>): this {
    this.#requireOpen();
    this.#options.handlers.add(packet, handler);
    return this;
  }

  #set(name: 'bindHost' | 'advertiseHost' | 'routingId' | 'ridPrefix', value: string): this {
    this.#requireOpen();
    this.#options.publisher[name] = value;
    return this;
  }
}

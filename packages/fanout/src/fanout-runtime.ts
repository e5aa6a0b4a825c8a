/** What an application holds of a fanout channel at run time. */
import type { PublisherStatus } from './publisher-status.ts';

/** The endpoints that a manual subscriber was told to connect to. Not for what discovery finds. */
export interface FanoutConnections {
  /**
   * Subscribes to the publisher at that address until `disconnect`; the endpoint being connected already has no effect.
   *
   * @param endpoint - `tcp://host:port`, port 1..65_535, no wildcard; IPv6 addresses in brackets
   * @throws ZLinkError `NotConfigured` without a subscriber, `InvalidOperation` for a malformed endpoint, for an automatic
   *   subscriber, or before the host has started; `ShuttingDown`
   * @see FAN-005
   */
  connect(endpoint: string): void;
  /**
   * Ends the subscription; its events that wait for a handler are dropped. An endpoint that is not connected: no effect.
   *
   * @throws ZLinkError as `connect`
   * @see FAN-005
   */
  disconnect(endpoint: string): void;
  /** The endpoints, in the order of `connect`; none for an automatic subscriber. */
  list(): readonly string[];
}

/** A fanout channel at run time. */
export interface FanoutRuntime {
  readonly channelName: string;
  /** Advertised endpoint of the publisher in this process; undefined without one, or before the host has bound it. */
  readonly endpoint: string | undefined;
  readonly connections: FanoutConnections;
  /** A row per endpoint given by hand, or per publisher that was discovered; read-only. @see FAN-005 */
  publishers(): readonly PublisherStatus[];
}

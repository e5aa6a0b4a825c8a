/** What an application sets on a channel server, whatever path leads to it. */
import type { PacketKey } from '../message/index.ts';
import type { ChannelContext } from './contexts.ts';
import { DEFAULT_CONCURRENCY } from './dispatcher-options.ts';
import type { RequestHandler, SendHandler } from './handler-registry.ts';

/** What a channel server is until its builder says otherwise. */
export const CHANNEL_SERVER_DEFAULTS = Object.freeze({ weight: 100, concurrency: DEFAULT_CONCURRENCY });

/**
 * Part of a channel server that RouteMesh and ClientServer share.
 *
 * Values are checked when the host starts, all mistakes together. Afterwards every method throws ZLinkError
 * `InvalidOperation` (HOSTREG-004).
 */
export interface ChannelServerBuilder {
  /**
   * Share of new messages relative to other servers of the channel; 0: none, the server runs on. At run time
   * `setWeight` of the channel's runtime changes it.
   *
   * @param weight - integer 0..10_000; default 100
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see CS-003, WRR-001
   */
  setWeight(weight: number): this;
  /**
   * Handlers that may overlap; they start in order of arrival.
   *
   * @param n - integer 1..2_147_483_647; default 256; 1: strictly one after another
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see DISP-005
   */
  concurrency(n: number): this;
  /**
   * Serves one-way messages of a packet. What it throws goes to the log and to `onUnhandled`; nobody is answered.
   *
   * @param packet - a descriptor of either kind, or a class whose static `packetName`, else its own name, is the packet
   *   name; once per server
   * @param handler - a function, or a class of which every message gets its own instance
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see DISP-001, DISP-002, DISP-004
   */
  addSendHandler<T>(packet: PacketKey<T>, handler: SendHandler<T, ChannelContext>): this;
  /**
   * Serves requests of a packet; what the handler returns is the reply. A `ZLinkError` that it throws is the caller's error,
   * kind and text; anything else is an `InternalFailure` there, and goes to the log and to `onUnhandled` here.
   *
   * @param packet - as `addSendHandler`, but no descriptor of a one-way message: a mistake that `start` reports
   * @param handler - as `addSendHandler`
   * @throws ZLinkError `InvalidOperation` once the host has started
   * @see DISP-001, DISP-004, CS-007, HOSTREG-006
   */
  addRequestHandler<T, R>(packet: PacketKey<T, R>, handler: RequestHandler<T, NoInfer<R>, ChannelContext>): this;
}

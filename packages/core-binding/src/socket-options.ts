/**
 * How the sockets of links are set up.
 *
 * Owns every option that libzmq sockets of this package get. The only file that relies on their numbers.
 *
 * 1. A send never waits and nothing is dropped: no timeout, no mark. The windows of the links bound the memory (CORE-004).
 * 2. libzmq never reconnects: it would carry frames of one connection over to the next (CORE-014). Its switch for that
 *    also drops received frames that nobody has read yet, so the interval is merely as long as it may be, 6.9 days:
 *    a pipe closes its socket as soon as its connection has ended, long before libzmq would dial again.
 * 3. A connection that is cut without a word is given up by libzmq's own heartbeats, which a busy event loop does not
 *    delay: links notice earlier, but only libzmq can give the descriptor back ([C03]).
 */
import { capability, type Context, Dealer, Router } from 'zeromq';
import { ConfigurationError } from '@zlink/kernel/errors';
import type { CurveClientOptions, CurveServerOptions } from './curve.ts';

/** Time for a stranger to complete the handshake of libzmq ([C06]). */
const handshakeIntervalMs = 5_000;

const farOffMs = 600_000_000; // libzmq adds up to as much again and counts in 32 bits
const heartbeatIntervalMs = 5_000;
const heartbeatTimeoutMs = 15_000;
const backlogCount = 1_024;

/** ZMQ_ROUTER_NOTIFY: an empty message from a peer's routing id says that its connection has ended. */
const routerNotifyOption = 97;
const notifyDisconnect = 2;

const common = {
  linger: 0,
  sendTimeout: 0, // 1
  sendHighWaterMark: 0,
  receiveHighWaterMark: 0,
  reconnectInterval: farOffMs, // 2
  handshakeInterval: handshakeIntervalMs,
  heartbeatInterval: heartbeatIntervalMs, // 3
  heartbeatTimeout: heartbeatTimeoutMs,
};

/** @throws ConfigurationError if libzmq was built without what listeners need */
export function requireNativeFeatures(): void {
  if (capability.draft !== true) {
    throw new ConfigurationError([
      'installed build of zeromq does not report which peer has gone (built without draft)',
    ]);
  }
}

/** @param connectTimeoutMs - 0: as long as the operating system tries */
export function openDealer(
  context: Context,
  maxPartBytes: number,
  connectTimeoutMs: number,
  curve: CurveClientOptions | undefined,
): Dealer {
  return new Dealer({
    context,
    ...common,
    maxMessageSize: sizeLimit(maxPartBytes),
    connectTimeout: connectTimeoutMs,
    ...curve,
  });
}

/** @param zapDomain - names the listener to the admission check, without which nobody gets in */
export function openRouter(
  context: Context,
  maxPartBytes: number,
  zapDomain: string,
  curve: CurveServerOptions | undefined,
): Router {
  const router = new Router({
    context,
    ...common,
    mandatory: true,
    backlog: backlogCount,
    maxMessageSize: sizeLimit(maxPartBytes),
    zapDomain,
    zapEnforceDomain: true,
    ...curve,
  });
  // The setter is there for subclasses; zeromq.js gives this option no name.
  (router as unknown as { setInt32Option(option: number, value: number): void }).setInt32Option(
    routerNotifyOption,
    notifyDisconnect,
  );
  return router;
}

function sizeLimit(maxPartBytes: number): number {
  return maxPartBytes === 0 ? -1 : maxPartBytes;
}

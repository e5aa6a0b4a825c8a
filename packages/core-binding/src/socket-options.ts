/**
 * How the sockets of links and of fanout are set up.
 *
 * Owns every option that libzmq sockets of this package get. The only file that relies on their numbers.
 *
 * 1. A send never waits and nothing is dropped: no timeout, no mark. The windows of the links bound the memory (CORE-004).
 * 2. libzmq never reconnects: it would carry frames of one connection over to the next (CORE-014). Its switch for that
 *    also drops received frames that nobody has read yet, so the interval is merely as long as it may be, 6.9 days:
 *    a pipe closes its socket as soon as its connection has ended, long before libzmq would dial again.
 * 3. A connection that is cut without a word is given up by libzmq's own heartbeats, which a busy event loop does not
 *    delay: links notice earlier, but only libzmq can give the descriptor back ([C03]).
 * 4. Fanout has no windows, so its sockets have marks, in messages of at most `EVENT_FRAME_BYTES`: 64 MiB for each
 *    subscriber that does not read, 4 MiB for each subscription that is not read (CORE-016). At a send mark of 64 a healthy
 *    subscriber lost 39 % of small events, at 1,000 none.
 * 5. Fanout has no heartbeats of libzmq: a subscriber that may not read for a while does not answer them, and must not be cut
 *    off for it. Its beacons tell a subscriber that the publisher is gone; a subscriber that has vanished without a word is given
 *    up by the system, usually after 15 minutes of sending in vain.
 */
import { capability, type Context, Dealer, Router, Subscriber, XPublisher } from 'zeromq';
import { ConfigurationError } from '@zlink/kernel/errors';
import { EVENT_FRAME_BYTES } from '@zlink/kernel/internal/wire';
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

/** 4 */
const publisherMark = 1_000;
const subscriberMark = 64;
/** Largest message of a subscriber, and room for the handshake of CURVE. */
const subscribeBytes = 1_024;

/** What CURVE adds to a part, before which libzmq looks at its size. */
const curveBytes = 64;

const common = {
  linger: 0,
  sendTimeout: 0, // 1
  reconnectInterval: farOffMs, // 2
  handshakeInterval: handshakeIntervalMs,
};

const forLinks = {
  ...common,
  sendHighWaterMark: 0, // 1
  receiveHighWaterMark: 0,
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
    ...forLinks,
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
    ...forLinks,
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

/** @param zapDomain - as for a ROUTER */
export function openPublisher(context: Context, zapDomain: string, curve: CurveServerOptions | undefined): XPublisher {
  return new XPublisher({
    context,
    ...common,
    sendHighWaterMark: publisherMark, // 4
    verbosity: 'allSubsUnsubs',
    backlog: backlogCount,
    maxMessageSize: subscribeBytes,
    zapDomain,
    zapEnforceDomain: true,
    ...curve,
  });
}

/** Has subscribed to these topics. @param connectTimeoutMs - as for a DEALER */
export function openSubscriber(
  context: Context,
  topics: readonly Uint8Array[],
  connectTimeoutMs: number,
  curve: CurveClientOptions | undefined,
): Subscriber {
  const subscriber = new Subscriber({
    context,
    linger: common.linger,
    reconnectInterval: common.reconnectInterval, // 2
    handshakeInterval: common.handshakeInterval,
    receiveHighWaterMark: subscriberMark, // 4
    maxMessageSize: EVENT_FRAME_BYTES + (curve === undefined ? 0 : curveBytes),
    connectTimeout: connectTimeoutMs,
    ...curve,
  });
  subscriber.subscribe(...topics.map((topic) => Buffer.from(topic)));
  return subscriber;
}

function sizeLimit(maxPartBytes: number): number {
  return maxPartBytes === 0 ? -1 : maxPartBytes;
}

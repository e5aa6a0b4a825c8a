/**
 * libzmq contexts, one per open engine.
 *
 * Owns their settings and the spare ones. A context has threads and descriptors of its own and cannot be given back
 * before the process ends, so that of a closed engine serves the next one instead.
 *
 * 1. Two open engines never share a context (CORE-013).
 * 2. Only a context whose sockets are all gone is spare.
 */
import { Context } from 'zeromq';

/** libzmq's own limit of 1,023 would be some 340 dialled connections: each has a socket and two for its events. */
const maxSockets = 16_384;

const spare = new Map<number, Context[]>();

export function takeContext(ioThreads: number): Context {
  return spare.get(ioThreads)?.pop() ?? new Context({ ioThreads, maxSockets, blocky: false, ipv6: true });
}

export function returnContext(context: Context): void {
  const { ioThreads } = context;
  const contexts = spare.get(ioThreads);
  if (contexts === undefined) spare.set(ioThreads, [context]);
  else contexts.push(context);
}

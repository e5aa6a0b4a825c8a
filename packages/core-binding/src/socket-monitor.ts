/**
 * What libzmq tells about the connections of one socket, reduced to what pipes need to know.
 *
 * Owns the translation. Leaves the meaning of an event to the pipe or listener it concerns.
 *
 * 1. Events are read until the socket is gone: libzmq's I/O thread blocks for ever on an observer that was closed early.
 * 2. A storm of events gives other sockets and timers their turn.
 * 3. Watching never rejects: what goes wrong is told to `onFault`, and events are read on for the sake of 1 (WIRE-003).
 */
import type { Event } from 'zeromq';
import { type HandshakeFault, handshakeFault } from './native-errors.ts';
import { nextTurn } from './next-turn.ts';

export type SocketEvent =
  /** The connection has passed its handshake. */
  | { readonly kind: 'ready' }
  /** The handshake failed; `lost` follows. */
  | { readonly kind: 'refused'; readonly fault: HandshakeFault }
  /** The connection has ended. */
  | { readonly kind: 'lost' }
  /** A dial came to nothing, or a bound port was given back. */
  | { readonly kind: 'released' };

const eventsPerTurn = 64;

/** The part of a zeromq.js socket that is watched. */
export interface WatchedSocket {
  readonly events: { receive(): Promise<Event> };
}

export interface SocketWatcher {
  readonly onEvent: (event: SocketEvent) => void;
  /** Closes the socket; must not throw. */
  readonly onFault: (error: unknown) => void;
}

/** Resolves when the socket is gone for good, its unsent messages included, or cannot be watched any more. */
export async function watchSocket(socket: WatchedSocket, watcher: SocketWatcher): Promise<void> {
  let observer: WatchedSocket['events'] | undefined;
  for (let count = 1; ; count++) {
    let event: Event;
    try {
      observer ??= socket.events; // opens it: there may be no descriptor left
      event = await observer.receive();
    } catch (error) {
      return watcher.onFault(error); // 3: without events the end cannot be waited for
    }
    if (event.type === 'end') return; // 1: zeromq.js has closed the observer by now
    try {
      const told = translate(event);
      if (told !== undefined) watcher.onEvent(told);
    } catch (error) {
      watcher.onFault(error); // 3
    }
    if (count % eventsPerTurn === 0) await nextTurn(); // 2
  }
}

function translate(event: Event): SocketEvent | undefined {
  switch (event.type) {
    case 'handshake':
      return { kind: 'ready' };
    case 'handshake:error:auth':
    case 'handshake:error:other':
    case 'handshake:error:protocol':
      return { kind: 'refused', fault: handshakeFault(event.type, event.error) };
    case 'disconnect':
      return { kind: 'lost' };
    case 'close':
      return { kind: 'released' };
    default:
      return undefined;
  }
}

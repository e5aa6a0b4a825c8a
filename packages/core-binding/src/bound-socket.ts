/**
 * What every bound socket of ours does, whatever is spoken over it: it is read, watched, and its strangers are counted.
 *
 * Owns how loop, ledger and watch belong together. Leaves messages, and the end of the socket, to its endpoint.
 *
 * 1. The ledger is there before the watch begins: a socket that cannot be watched is told as a fault at once, and ends.
 */
import type { Clock } from '@zlink/kernel/internal/time';
import { HandshakeLedger } from './handshake-ledger.ts';
import { type LoopUser, type ReadableSocket, ReceiveLoop } from './receive-loop.ts';
import { type SocketEvent, type WatchedSocket, watchSocket } from './socket-monitor.ts';

interface BoundSocketUser extends LoopUser {
  readonly clock: Clock;
  readonly onRefused: (reason: string) => void;
}

/** Starts reading; the ledger is for the user to tell when a peer has left. */
export function readBound(socket: ReadableSocket, user: BoundSocketUser): HandshakeLedger {
  const { clock, onRefused } = user;
  const loop = new ReceiveLoop(socket, user, () => clock.nowMs());
  return new HandshakeLedger({ clock, onRefused, isBehind: () => !loop.isEmpty });
}

/** Resolves when nothing of the socket is left. */
export function watchBound(
  socket: WatchedSocket & Pick<ReadableSocket, 'closed'>,
  ledger: HandshakeLedger,
  onFault: (error: unknown) => void,
): Promise<void> {
  const onEvent = (event: SocketEvent): void => {
    if (socket.closed) return;
    if (event.kind === 'refused') ledger.handshakeFailed(event.fault);
    if (event.kind === 'lost') ledger.connectionEnded();
  };
  return watchSocket(socket, { onEvent, onFault });
}

/**
 * A dialled pipe: a DEALER and the messages that are sent over it.
 *
 * Owns sending. Leaves the connection to dialed-socket.ts and trying again to the link (CORE-009).
 *
 * 1. The sink hears exactly one `onPipeClosed`, unless the owner has closed the pipe: then nothing more (E1).
 * 2. The end of a connection is reported after the messages that came before it (E3); what was not sent dies with it (E2).
 */
import type { Dealer } from 'zeromq';
import { ZLinkError } from '@zlink/kernel/errors';
import type { Pipe, PipeConnectOptions, PipeSink } from '@zlink/kernel/internal/transport';
import { DialedSocket, type DialHost } from './dialed-socket.ts';
import { sendFailureText } from './native-errors.ts';

export interface DealerHost extends DialHost {
  openSocket(maxPartBytes: number, connectTimeoutMs: number): Dealer;
  onClosed(pipe: DealerPipe): void;
}

export class DealerPipe implements Pipe {
  readonly address: string;
  readonly #dial: DialedSocket<Dealer>;

  constructor({ address, maxPartBytes }: PipeConnectOptions, sink: PipeSink, host: DealerHost) {
    this.address = address;
    const user = {
      openSocket: (connectTimeoutMs: number) => host.openSocket(maxPartBytes, connectTimeoutMs),
      onOpen: () => sink.onPipeOpen(),
      onMessage: (parts: readonly Uint8Array[]) => sink.onPipeMessage(parts, 0),
      onClosed: (reason: string) => sink.onPipeClosed(reason),
      onReleased: () => host.onClosed(this),
    };
    this.#dial = new DialedSocket(address, user, host);
  }

  send(parts: Uint8Array[]): void {
    const socket = this.#dial.openSocket;
    if (socket !== undefined) socket.send(parts).catch(this.#onSendFailed);
    else if (this.#dial.isDialing) throw new ZLinkError('InvalidOperation', `pipe to ${this.address} is not open yet`);
    // Otherwise it has ended, and the owner knows or is about to be told (1).
  }

  close(lingerMs: number): void {
    this.#dial.close(lingerMs);
  }

  /** Ends the pipe and tells its sink. */
  fail(reason: string): void {
    this.#dial.fail(reason);
  }

  readonly #onSendFailed = (error: unknown): void => this.fail(sendFailureText(error));
}

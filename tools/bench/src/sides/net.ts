/**
 * Plain `node:net` with writes coalesced per turn of the event loop: the physical limit of this runtime.
 *
 * Information beside the bars, never a bar itself: no identity, no credit, no liveness, one peer.
 *
 * 1. Frames of one turn leave in one write, at the end of the turn or when 64 KiB are waiting.
 * 2. A sender waits while the socket holds more than its mark.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Message } from '../cargo.ts';
import { FrameReader, FrameWriter, type OnFrame } from './net-frames.ts';
import { PendingReplies } from './pending-replies.ts';
import type { ClientEnd, ServerEnd, Side, Work } from './side.ts';

const flushBytes = 65_536;
const markBytes = 1_048_576;

export const net: Side = {
  async openServer(work, onMessage) {
    const server = createServer({ noDelay: true, highWaterMark: markBytes });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new NetServer(server, work, onMessage);
  },

  async openClient(work, address) {
    const { hostname, port } = new URL(address);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    return new NetClient(socket, work);
  },
};

/** Frames out, coalesced. */
class CoalescedSocket {
  readonly #socket: Socket;
  readonly #frames = new FrameWriter();
  #scheduled = false;
  #drained: Promise<void> | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(correlation: number, payload: Uint8Array | string): Promise<void> | undefined {
    this.#frames.write(correlation, payload);
    if (this.#frames.pendingBytes >= flushBytes) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#flushAtTurnEnd);
    }
    return this.#drained;
  }

  readonly #flushAtTurnEnd = (): void => {
    this.#scheduled = false;
    this.#flush();
  };

  #flush(): void {
    const parts = this.#frames.take();
    if (parts.length === 0 || this.#socket.destroyed) return;
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
    if (!this.#socket.writableNeedDrain || this.#drained !== undefined) return;
    this.#drained = once(this.#socket, 'drain').then(() => {
      this.#drained = undefined;
    });
  }
}

class NetServer implements ServerEnd {
  readonly windowBytes = undefined;
  readonly address: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server, work: Work, onMessage: () => void) {
    this.#server = server;
    const { port } = server.address() as AddressInfo; // it listens on TCP
    this.address = `tcp://127.0.0.1:${port}`;
    server.on('connection', (socket) => this.#serve(socket, work, onMessage));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket, work: Work, onMessage: () => void): void {
    const { cargo } = work;
    const replies = new CoalescedSocket(socket);
    const take: OnFrame = (_correlation, source, start, end) => {
      cargo.inspect(source, start, end);
      onMessage();
    };
    const answer: OnFrame = (correlation, source, start, end) => {
      const message = cargo.decode(source, start, end);
      cargo.check(message);
      onMessage();
      void replies.write(correlation, cargo.encode(message));
    };
    const reader = new FrameReader(work.verb === 'send' ? take : answer);
    this.#sockets.add(socket);
    socket.on('data', (chunk: Buffer) => reader.take(chunk));
    socket.on('error', () => socket.destroy()); // the client's end tells what happened
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

class NetClient implements ClientEnd {
  readonly #socket: Socket;
  readonly #work: Work;
  readonly #out: CoalescedSocket;
  readonly #pending = new PendingReplies();
  #lastId = 0;

  constructor(socket: Socket, work: Work) {
    this.#socket = socket;
    this.#work = work;
    this.#out = new CoalescedSocket(socket);
    const reader = new FrameReader((correlation, source, start, end) =>
      this.#pending.settle(correlation, work.cargo.decode(source, start, end)),
    );
    socket.on('data', (chunk: Buffer) => reader.take(chunk));
    socket.on('error', (error) => this.#pending.fail(error));
    socket.on('close', () => this.#pending.fail(new Error('connection was closed')));
  }

  send(message: Message): Promise<void> | undefined {
    return this.#out.write(0, this.#work.cargo.encode(message));
  }

  request(message: Message): Promise<Message> {
    const id = ++this.#lastId; // from 1: 0 is a frame that nobody answers
    const answered = this.#pending.wait(id);
    void this.#out.write(id, this.#work.cargo.encode(message));
    return answered;
  }

  async close(): Promise<void> {
    if (this.#socket.closed) return;
    this.#socket.destroy();
    await once(this.#socket, 'close');
  }
}

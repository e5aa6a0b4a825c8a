/**
 * Reads one socket for as long as it lives (CORE-002).
 *
 * Owns when a socket is read and for how long in one go. Leaves the messages to its user.
 *
 * R1 After `roundMessages`, `roundBytes` or `roundMs` other sockets and timers get their turn; libzmq takes messages from
 *    its peers in rotation, so the next round goes on after the peer that was read last.
 * R2 One plain receive per message: it takes a message that is there at once and waits otherwise. Asking first whether
 *    there is one, draining without waiting, or spinning for a few turns were measured: none is faster in bursts, all are
 *    slower one by one.
 * R3 Nobody else asks the socket whether it is readable: the question takes the signal that a waiting receive needs, and
 *    the message would lie there until another one comes.
 */
import { nextTurn } from './next-turn.ts';

/** The part of a zeromq.js socket that is read. */
export interface ReadableSocket {
  readonly closed: boolean;
  receive(): Promise<Buffer[]>;
}

const roundMessages = 64;
const roundBytes = 1_048_576;
const roundMs = 4;

export class ReceiveLoop {
  /** Resolves when the socket is closed. */
  readonly ended: Promise<void>;
  readonly #socket: ReadableSocket;
  readonly #deliver: (parts: Buffer[]) => void;
  readonly #nowMs: () => number;
  #isWaiting = false;

  /** Starts reading. @param deliver - must not throw */
  constructor(socket: ReadableSocket, deliver: (parts: Buffer[]) => void, nowMs: () => number) {
    this.#socket = socket;
    this.#deliver = deliver;
    this.#nowMs = nowMs;
    this.ended = this.#run();
  }

  /** Asked in a turn of its own: whether everything that was there when the turn began has been delivered. */
  get isEmpty(): boolean {
    return this.#isWaiting;
  }

  async #run(): Promise<void> {
    while (await this.#readRound()) await nextTurn(); // R1
  }

  /** Reads until others shall have their turn. False: the socket was closed. */
  async #readRound(): Promise<boolean> {
    let bytes = 0;
    let untilMs = Infinity; // begins with the first message: waiting is no reading
    for (let count = 0; count < roundMessages && bytes < roundBytes && this.#nowMs() < untilMs; count++) {
      this.#isWaiting = true;
      let parts: Buffer[];
      try {
        parts = await this.#socket.receive();
      } catch (error) {
        if (this.#socket.closed) return false;
        throw error;
      }
      this.#isWaiting = false;
      if (count === 0) untilMs = this.#nowMs() + roundMs;
      for (const part of parts) bytes += part.length;
      this.#deliver(parts);
    }
    return true;
  }
}

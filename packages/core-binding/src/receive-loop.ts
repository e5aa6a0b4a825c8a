/**
 * Reads one socket for as long as it lives (CORE-002).
 *
 * Owns when a socket is read and for how long in one go. Leaves the messages to its user.
 *
 * R1 After `roundMessages`, `roundBytes` or `roundMs` other sockets and timers get their turn; libzmq takes messages from
 *    its peers in rotation, so the next round goes on after the peer that was read last.
 * R2 A plain receive per message takes what is there at once and waits otherwise; measured, nothing is faster for messages
 *    that come one by one. What a full round has left over is read without waiting, since zeromq.js puts off every 512th
 *    receive that might have waited, and nobody could tell that from an empty socket.
 * R3 The socket is never asked whether it is readable while a receive waits: the question takes the signal that the
 *    receive waits for, and the message would lie there until another one comes.
 * R4 While the loop is paused nothing is read or delivered. A receive that was waiting when it was paused may still take one
 *    message, which is kept until `resume`.
 * R5 The loop never rejects: a receive that fails on an open socket, or a user that throws, ends it and is told to
 *    `onFault` once (WIRE-003).
 */
import { nextTurn } from './next-turn.ts';

/** The part of a zeromq.js socket that is read. */
export interface ReadableSocket {
  receiveTimeout: number;
  readonly readable: boolean;
  readonly closed: boolean;
  receive(): Promise<Buffer[]>;
}

export interface LoopUser {
  readonly deliver: (parts: Buffer[]) => void;
  readonly onFault: (error: unknown) => void;
}

/** What a paused loop waits for. */
interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** Why a round ended: its bounds, nothing there (only a round that does not wait can tell), or the socket was closed. */
type RoundEnd = 'bound' | 'empty' | 'closed';

const untilOneComes = -1;
const atOnce = 0;

const roundMessages = 64;
const roundBytes = 1_048_576;
const roundMs = 4;

export class ReceiveLoop {
  /** Resolves when the socket is closed or the loop has failed; never rejects. */
  readonly ended: Promise<void>;
  readonly #socket: ReadableSocket;
  readonly #deliver: (parts: Buffer[]) => void;
  readonly #onFault: (error: unknown) => void;
  readonly #nowMs: () => number;
  #gate: Gate | undefined;
  #isWaiting = false;
  #deliveredCount = 0;

  /**
   * Starts reading.
   * @param user - `onFault` is told once why the loop has ended on a socket that is open; must not throw
   */
  constructor(socket: ReadableSocket, user: LoopUser, nowMs: () => number) {
    this.#socket = socket;
    this.#deliver = user.deliver;
    this.#onFault = user.onFault;
    this.#nowMs = nowMs;
    this.ended = this.#run().catch(this.#onFault); // R5
  }

  /** Asked in a turn of its own: whether everything that was there when the turn began has been delivered. */
  get isEmpty(): boolean {
    return this.#isWaiting;
  }

  get deliveredCount(): number {
    return this.#deliveredCount;
  }

  /** Idempotent. */
  pause(): void {
    if (this.#gate !== undefined) return;
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    this.#gate = { opened, open };
  }

  /** Goes on reading; a loop whose socket was closed meanwhile ends. Idempotent. */
  resume(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  async #run(): Promise<void> {
    for (;;) {
      let end = await this.#readRound(untilOneComes);
      while (end === 'bound') {
        await nextTurn(); // R1
        end = await this.#readRound(atOnce); // R2
      }
      if (end === 'closed') return;
    }
  }

  async #readRound(receiveTimeout: number): Promise<RoundEnd> {
    if (this.#socket.closed) return 'closed';
    this.#socket.receiveTimeout = receiveTimeout;
    let bytes = 0;
    let untilMs = Infinity; // begins with the first message: waiting is no reading
    for (let count = 0; count < roundMessages && bytes < roundBytes && this.#nowMs() < untilMs; count++) {
      if (this.#gate !== undefined && !(await this.#resumed())) return 'closed'; // R4
      if (receiveTimeout === atOnce && !this.#socket.readable) return this.#socket.closed ? 'closed' : 'empty'; // R3
      this.#isWaiting = receiveTimeout !== atOnce;
      let parts: Buffer[];
      try {
        parts = await this.#socket.receive();
      } catch (error) {
        if (this.#socket.closed) return 'closed';
        throw error;
      }
      this.#isWaiting = false;
      if (this.#gate !== undefined && !(await this.#resumed())) return 'closed'; // R4
      if (count === 0) untilMs = this.#nowMs() + roundMs;
      for (const part of parts) bytes += part.length;
      this.#deliveredCount++;
      this.#deliver(parts);
    }
    return 'bound';
  }

  /** Waits for it; false: the socket was closed meanwhile. */
  async #resumed(): Promise<boolean> {
    while (this.#gate !== undefined) await this.#gate.opened;
    return !this.#socket.closed;
  }
}

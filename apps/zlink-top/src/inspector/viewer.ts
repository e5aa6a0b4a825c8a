/**
 * One connected client, seen from the host.
 *
 * Owns the connection and its timers. Leaves making reports to the source, and how many may look to the inspector.
 *
 * 1. It asks once, within 5 s; anything else, and anything behind it, ends the connection.
 * 2. At most one report waits until the system's buffer has room for all of it. If that takes 5 s, the client is dropped.
 * 3. It looks only from its request on: who connects and leaves, to find out whether anybody listens, takes nobody's place.
 * 4. After `close` event of the socket nothing is left; `end` brings that about, whether the client reads or not.
 */
import type { Socket } from 'node:net';
import { REQUEST_BYTES } from '../report/limits.ts';
import { LineReader } from '../report/line-reader.ts';
import { hostLine } from '../report/report.ts';
import { readRequest } from '../report/request.ts';
import type { Clock } from './clock.ts';

export const REQUEST_WITHIN_MS = 5_000;
export const TAKEN_WITHIN_MS = 5_000;
const END_WITHIN_MS = 500;

export interface ViewerParts {
  readonly socket: Socket;
  readonly clock: Clock;
  /** Asked when it is about to look: why it may not, if so. */
  refusal(): string | undefined;
  /** The current report; may throw. */
  line(): string;
  onProblem(error: unknown): void;
}

export class Viewer {
  readonly #parts: ViewerParts;
  readonly #reader = new LineReader(REQUEST_BYTES);
  #intervalMs: number | undefined;
  /** Until the request is there, then until the next report. */
  #next: unknown;
  /** While something waits for room in the system's buffer. */
  #waiting: unknown;
  #isEnding = false;

  constructor(parts: ViewerParts) {
    this.#parts = parts;
    const { socket, clock } = parts;
    this.#next = clock.setTimer(() => socket.destroy(), REQUEST_WITHIN_MS); // 1
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => undefined); // `close` follows
    socket.once('close', () => this.#release());
    socket.unref();
  }

  get isLooking(): boolean {
    return this.#intervalMs !== undefined && !this.#parts.socket.destroyed;
  }

  /** Tells the client that there is nothing more to come, and ends the connection. */
  end(line: string = hostLine('end')): void {
    const { socket, clock } = this.#parts;
    if (socket.destroyed) return;
    this.#release();
    this.#isEnding = true;
    this.#waiting = clock.setTimer(() => socket.destroy(), END_WITHIN_MS); // 4
    socket.write(line);
    socket.destroySoon();
  }

  #take(chunk: Buffer): void {
    if (this.#isEnding) return;
    const [line, ...more] = this.#reader.push(chunk) ?? [undefined, 'too long'];
    if (line === undefined && more.length === 0) return;
    const intervalMs = line === undefined ? undefined : readRequest(line);
    if (intervalMs === undefined || more.length > 0 || this.#intervalMs !== undefined) {
      this.#parts.socket.destroy(); // 1
      return;
    }
    const reason = this.#parts.refusal(); // 3
    if (reason !== undefined) return this.end(hostLine('refused', { reason }));
    this.#intervalMs = intervalMs;
    this.#parts.clock.clearTimer(this.#next);
    this.#send(intervalMs);
  }

  #send(intervalMs: number): void {
    const { socket, clock } = this.#parts;
    this.#next = clock.setTimer(() => this.#send(intervalMs), intervalMs);
    if (this.#waiting !== undefined) return; // 2
    const line = this.#line();
    if (line === undefined) return;
    this.#waiting = clock.setTimer(() => socket.destroy(), TAKEN_WITHIN_MS);
    socket.write(line, () => this.#wasTaken());
  }

  #line(): string | undefined {
    try {
      return this.#parts.line();
    } catch (error) {
      this.#parts.onProblem(error);
      this.#parts.socket.destroy();
      return undefined;
    }
  }

  #wasTaken(): void {
    if (this.#isEnding) return;
    this.#parts.clock.clearTimer(this.#waiting);
    this.#waiting = undefined;
  }

  #release(): void {
    this.#parts.clock.clearTimer(this.#next);
    this.#parts.clock.clearTimer(this.#waiting);
    this.#next = undefined;
    this.#waiting = undefined;
  }
}

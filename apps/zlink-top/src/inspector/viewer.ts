/**
 * One connected client, seen from the host.
 *
 * Owns the connection and its timers. Leaves making reports to the source.
 *
 * 1. It asks once, within 5 s; anything else, and anything behind it, ends the connection.
 * 2. At most one report waits to be read. Who has not read it after 5 s is dropped.
 * 3. After `close` event of the socket nothing is left; `end` brings that about, whether the client reads or not.
 */
import type { Socket } from 'node:net';
import { REQUEST_BYTES } from '../report/limits.ts';
import { LineReader } from '../report/line-reader.ts';
import { hostLine } from '../report/report.ts';
import { readRequest } from '../report/request.ts';
import type { Clock } from './clock.ts';

export const REQUEST_WITHIN_MS = 5_000;
export const READ_WITHIN_MS = 5_000;
const END_WITHIN_MS = 500;

export interface ViewerParts {
  readonly socket: Socket;
  readonly clock: Clock;
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
  /** While something waits to be read. */
  #unread: unknown;
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

  /** Tells the client that there is nothing more to come, and ends the connection. */
  end(line: string = hostLine('end')): void {
    const { socket, clock } = this.#parts;
    if (socket.destroyed) return;
    this.#release();
    this.#isEnding = true;
    this.#unread = clock.setTimer(() => socket.destroy(), END_WITHIN_MS); // 3
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
    this.#intervalMs = intervalMs;
    this.#parts.clock.clearTimer(this.#next);
    this.#send(intervalMs);
  }

  #send(intervalMs: number): void {
    const { socket, clock } = this.#parts;
    this.#next = clock.setTimer(() => this.#send(intervalMs), intervalMs);
    if (this.#unread !== undefined) return; // 2
    const line = this.#line();
    if (line === undefined) return;
    this.#unread = clock.setTimer(() => socket.destroy(), READ_WITHIN_MS);
    socket.write(line, () => this.#wasRead());
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

  #wasRead(): void {
    if (this.#isEnding) return;
    this.#parts.clock.clearTimer(this.#unread);
    this.#unread = undefined;
  }

  #release(): void {
    this.#parts.clock.clearTimer(this.#next);
    this.#parts.clock.clearTimer(this.#unread);
    this.#next = undefined;
    this.#unread = undefined;
  }
}

/**
 * One host that is looked at.
 *
 * Owns the connection and what was learnt of the host. Leaves showing it to the view.
 *
 * 1. Its end is final: a host that starts again is another process, with another socket.
 * 2. Whatever comes from the other side ends this host's part at most, never the program.
 * 3. After `close` the view stays what it was: that the connection ends then says nothing of the host.
 */
import { connect, type Socket } from 'node:net';
import { REPORT_BYTES } from '../report/limits.ts';
import { LineReader } from '../report/line-reader.ts';
import { type HostLine, type Report, readHostLine } from '../report/report.ts';
import { requestLine } from '../report/request.ts';
import { Misfit } from '../report/shape.ts';
import { type Rates, ratesBetween } from './rates.ts';

/** What is known of a host: the latest report, as long as there are some. */
interface Sight {
  readonly report: Report;
  /** As it was sent, with fields that this program does not know. */
  readonly raw: object;
  /** Undefined before the second report. */
  readonly rates: Rates | undefined;
  readonly receivedAtMs: number;
}

export type HostView =
  | { readonly kind: 'connecting'; readonly path: string }
  | ({ readonly kind: 'live'; readonly path: string } & Sight)
  /** It has told that it ends, or its process ended without a word. */
  | { readonly kind: 'ended' | 'lost'; readonly path: string; readonly report: Report | undefined }
  /** It could never be looked at, or not any more. */
  | { readonly kind: 'failed'; readonly path: string; readonly reason: string };

export interface HostWatchParts {
  readonly path: string;
  readonly intervalMs: number;
  readonly nowMs: () => number;
  /** `view` is another one. */
  onChange(watch: HostWatch): void;
}

export class HostWatch {
  readonly #parts: HostWatchParts;
  readonly #socket: Socket;
  readonly #reader = new LineReader(REPORT_BYTES);
  #view: HostView;
  #isClosed = false;

  constructor(parts: HostWatchParts) {
    const { path, intervalMs } = parts;
    this.#parts = parts;
    this.#view = { kind: 'connecting', path };
    this.#socket = connect({ path });
    this.#socket.once('connect', () => this.#socket.write(requestLine(intervalMs)));
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.once('error', (error) => this.#onError(error));
    this.#socket.once('close', () => this.#onClose());
  }

  get view(): HostView {
    return this.#view;
  }

  /** Whether nothing more will come. */
  get isOver(): boolean {
    return this.#view.kind !== 'connecting' && this.#view.kind !== 'live';
  }

  /** Enough was seen. */
  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  fail(reason: string): void {
    this.#become({ kind: 'failed', path: this.#parts.path, reason });
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    const lines = this.#reader.push(chunk);
    if (lines === undefined) return this.fail(`it sends a line of more than ${REPORT_BYTES} bytes`);
    for (const line of lines) this.#read(line);
  }

  #read(line: string): void {
    if (this.isOver || this.#isClosed) return;
    const read = this.#parse(line);
    if (read !== undefined) this.#apply(read);
  }

  #parse(line: string): HostLine | undefined {
    try {
      return readHostLine(line);
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      this.fail(`no inspector of this version is there: ${error.message}`); // 2
      return undefined;
    }
  }

  #apply(line: HostLine): void {
    if (line.kind === 'report') return this.#show(line.report, line.raw);
    if (line.kind === 'refused') return this.fail(`it refuses: ${line.reason}`);
    this.#become({ kind: 'ended', path: this.#parts.path, report: this.#report });
    this.#socket.destroy();
  }

  #show(report: Report, raw: object): void {
    const view = this.#view;
    const before = view.kind === 'live' ? view : undefined;
    const rates = before === undefined ? undefined : (ratesBetween(before.report, report) ?? before.rates);
    const { path, nowMs } = this.#parts;
    this.#become({ kind: 'live', path, report, raw, rates, receivedAtMs: nowMs() });
  }

  #onError(error: NodeJS.ErrnoException): void {
    if (this.#view.kind === 'connecting') this.fail(reasonOf(error)); // else `close` says it
  }

  #onClose(): void {
    if (this.isOver) return;
    const { path } = this.#parts;
    const report = this.#report;
    if (report === undefined) this.#become({ kind: 'failed', path, reason: 'it closed the connection at once' });
    else this.#become({ kind: 'lost', path, report });
  }

  get #report(): Report | undefined {
    return this.#view.kind === 'live' ? this.#view.report : undefined;
  }

  #become(view: HostView): void {
    if (this.isOver || this.#isClosed) return; // 1, 3
    this.#view = view;
    this.#parts.onChange(this);
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return 'there is no such socket';
    case 'ECONNREFUSED':
      return 'nobody listens there: its process has ended, or it is no socket';
    case 'EACCES':
    case 'EPERM':
      return 'it belongs to another user';
    default:
      return message;
  }
}

/**
 * One child process of the demo, as its parent sees it.
 *
 * Owns what it last reported, what it was told, and how it ended. Leaves to the act when it has to end.
 *
 * C1 A child is told to end before it may: `mayEnd` tells an expected end from trouble.
 */
import type { ChildProcess } from 'node:child_process';
import type { EndingWish, FailedReport, Report, Wish } from './ipc.ts';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const keptErrorChars = 2_000;

/** What it reports is of type `R`, or that it failed. */
export class Child<R extends Report> {
  readonly title: string;
  /** Resolves when the process is gone and everything it reported has arrived; never rejects. */
  readonly ended: Promise<Ending>;
  readonly #process: ChildProcess;
  readonly #latest = new Map<string, R>();
  #failure: FailedReport | undefined;
  readonly #waiters = new Map<string, () => void>();
  readonly #followers = new Map<string, (report: R) => void>();
  #ending: Ending | undefined;
  #mayEnd = false;
  readonly #sent = new Set<NodeJS.Signals>();
  #errorText = '';

  constructor(title: string, child: ChildProcess) {
    this.title = title;
    this.#process = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorText = lastLines(this.#errorText + text);
    });
    child.on('message', (report: R | FailedReport) => {
      if (isFailure(report)) {
        this.#failure = report;
        this.#wakeAll();
        return;
      }
      this.#latest.set(report.kind, report);
      this.#followers.get(report.kind)?.(report);
      this.#waiters.get(report.kind)?.();
    });
    this.ended = new Promise((resolve) => {
      const settle = (code: number | null, signal: NodeJS.Signals | null): void => {
        this.#ending = { code, signal };
        resolve(this.#ending);
        this.#wakeAll();
      };
      child.once('close', settle);
      child.once('error', (error) => {
        this.#errorText = error.message;
        if (child.pid === undefined) settle(null, null); // it never ran, so nothing else will be heard of it
      });
    });
  }

  /** `undefined` if it never ran. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#ending === undefined;
  }

  get mayEnd(): boolean {
    return this.#mayEnd;
  }

  /** Whether it has ended by a signal that did not come from here. */
  get wasKilled(): boolean {
    const signal = this.#ending?.signal ?? undefined;
    return signal !== undefined && !this.#sent.has(signal);
  }

  latest<Kind extends R['kind']>(kind: Kind): Extract<R, { readonly kind: Kind }> | undefined {
    return this.#latest.get(kind) as Extract<R, { readonly kind: Kind }> | undefined; // stored under its own kind
  }

  /** The report of that kind, once it is there. Rejects if the process ends or fails before, or is not in time. */
  async expect<Kind extends R['kind']>(kind: Kind, limitMs: number): Promise<Extract<R, { readonly kind: Kind }>> {
    let timer: NodeJS.Timeout | undefined;
    if (this.latest(kind) === undefined && this.isRunning) {
      await new Promise<void>((resolve) => {
        this.#waiters.set(kind, resolve);
        timer = setTimeout(resolve, limitMs);
      });
      clearTimeout(timer);
      this.#waiters.delete(kind);
    }
    const report = this.latest(kind);
    if (report !== undefined) return report;
    if (!this.isRunning || this.#failure !== undefined) throw this.describeEnd();
    throw new Error(`${this.title} did not report "${kind}" within ${limitMs} ms`);
  }

  /** As `expect`, for a report that is still to come. */
  next<Kind extends R['kind']>(kind: Kind, limitMs: number): Promise<Extract<R, { readonly kind: Kind }>> {
    this.#latest.delete(kind);
    return this.expect(kind, limitMs);
  }

  /** Told of every report of that kind, from now on; one follower per kind. */
  follow<Kind extends R['kind']>(kind: Kind, follower: (report: Extract<R, { readonly kind: Kind }>) => void): void {
    this.#followers.set(kind, (report) => follower(report as Extract<R, { readonly kind: Kind }>)); // kept by its kind
  }

  tell<W extends Wish>(wish: W): void {
    if (this.#process.connected) this.#process.send(wish, () => undefined);
  }

  ask(kind: EndingWish['kind']): void {
    this.#mayEnd = true; // C1: either wish leads to its end
    this.tell<EndingWish>({ kind });
  }

  /** Ends it in order. Windows has no SIGTERM: there the same wish goes through the IPC channel. */
  drain(): void {
    if (process.platform === 'win32') this.ask('drain');
    else this.end('SIGTERM');
  }

  end(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#mayEnd = true; // C1
    if (this.#process.kill(signal)) this.#sent.add(signal); // one that is gone already does not end by it
  }

  /** Waits until the process has ended by itself. */
  async expectEnd(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), limitMs);
    });
    const ending = await Promise.race([this.ended, late]);
    clearTimeout(timer);
    if (ending === undefined) throw new Error(`${this.title} had not ended ${limitMs} ms after its last report`);
    if (ending.code !== 0) throw this.describeEnd();
  }

  describeEnd(): Error {
    if (this.#failure !== undefined) return new Error(`${this.title} failed: ${this.#failure.reason}`);
    const how = this.#ending?.signal ?? `code ${this.#ending?.code ?? 'unknown'}`;
    const lastWords = this.#errorText.trim();
    return new Error(`${this.title} ended unexpectedly (${how})${lastWords === '' ? '' : `\n${lastWords}`}`);
  }

  #wakeAll(): void {
    for (const wake of this.#waiters.values()) wake();
  }
}

/** The end of a text that is too long, from the begin of a line on where it has one. */
function lastLines(text: string): string {
  if (text.length <= keptErrorChars) return text;
  const end = text.slice(-keptErrorChars);
  const begin = end.indexOf('\n') + 1;
  return begin === end.length ? end : end.slice(begin);
}

function isFailure(report: Report): report is FailedReport {
  return report.kind === 'failed'; // no act gives the kind another meaning
}

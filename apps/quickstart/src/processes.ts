/**
 * The child processes of the demo, as their parent sees them.
 *
 * Owns starting them, what they last reported, and that none is left behind. Leaves to the script when each has to end.
 *
 * P1 A child that ends before it was told to is trouble: `onTrouble` hears of it once, with the child's last words.
 * P2 `endAll` leaves no child: first the polite signal, then, after a grace, the one that cannot be ignored.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ClientReport, FailedReport, ServerReport, Wish } from './reports.ts';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type Report = ServerReport | ClientReport;

/** What ending a child needs, whatever it reports. */
interface Endable {
  readonly isRunning: boolean;
  readonly ended: Promise<Ending>;
  end(signal: 'SIGTERM' | 'SIGKILL'): void;
}

export type ServerProcess = Child<ServerReport>;
export type ClientProcess = Child<ClientReport>;

const endGraceMs = 2_000;
const keptErrorChars = 2_000;

export class Processes {
  readonly #children: Endable[] = [];
  readonly #onTrouble: (error: Error) => void;

  constructor(onTrouble: (error: Error) => void) {
    this.#onTrouble = onTrouble;
  }

  startServer(name: string, weight: number, port: number): ServerProcess {
    return this.#start<ServerReport>(`server ${name}`, './server.js', [name, String(weight), String(port)]);
  }

  startClient(endpoints: readonly string[]): ClientProcess {
    return this.#start<ClientReport>('the client', './client.js', endpoints);
  }

  /** Ends whatever still runs; resolves when all are gone. */
  async endAll(): Promise<void> {
    const running = this.#children.filter((child) => child.isRunning);
    for (const child of running) child.end('SIGTERM');
    const timer = setTimeout(() => this.killAll(), endGraceMs); // P2
    await Promise.all(running.map((child) => child.ended));
    clearTimeout(timer);
  }

  killAll(): void {
    for (const child of this.#children) if (child.isRunning) child.end('SIGKILL');
  }

  #start<R extends Report>(title: string, entry: string, args: readonly string[]): Child<R> {
    const path = fileURLToPath(new URL(entry, import.meta.url));
    const child = new Child<R>(title, fork(path, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
    this.#children.push(child);
    void child.ended.then(() => {
      if (!child.mayEnd) this.#onTrouble(child.describeEnd()); // P1
    });
    return child;
  }
}

/** A child whose reports are of type `R`. */
export class Child<R extends Report> {
  readonly title: string;
  /** Resolves when the process is gone and everything it reported has arrived; never rejects. */
  readonly ended: Promise<Ending>;
  readonly #process: ChildProcess;
  readonly #latest = new Map<string, R>();
  readonly #waiters = new Map<string, () => void>();
  #ending: Ending | undefined;
  #mayEnd = false;
  #errorText = '';

  constructor(title: string, child: ChildProcess) {
    this.title = title;
    this.#process = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-keptErrorChars);
    });
    child.on('message', (report: R) => {
      this.#latest.set(report.kind, report);
      this.#waiters.get(report.kind)?.();
      if (report.kind === 'failed') this.#wakeAll();
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
    if (!this.isRunning || this.#latest.has('failed')) throw this.describeEnd();
    throw new Error(`${this.title} did not report "${kind}" within ${limitMs} ms`);
  }

  ask(kind: Wish['kind']): void {
    this.#mayEnd = true; // either wish leads to its end
    if (this.#process.connected) this.#process.send({ kind } satisfies Wish, () => undefined);
  }

  /** Ends it in order. Windows has no SIGTERM: there the same wish goes through the IPC channel. */
  drain(): void {
    if (process.platform === 'win32') this.ask('drain');
    else this.end('SIGTERM');
  }

  end(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#mayEnd = true;
    this.#process.kill(signal);
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
    const failure = this.#latest.get('failed') as unknown as FailedReport | undefined; // stored under its own kind
    if (failure !== undefined) return new Error(`${this.title} failed: ${failure.reason}`);
    const how = this.#ending?.signal ?? `code ${this.#ending?.code ?? 'unknown'}`;
    const lastWords = this.#errorText.trim();
    return new Error(`${this.title} ended unexpectedly (${how})${lastWords === '' ? '' : `\n${lastWords}`}`);
  }

  #wakeAll(): void {
    for (const wake of this.#waiters.values()) wake();
  }
}

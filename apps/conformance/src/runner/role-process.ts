/**
 * One role process, as the driver sees it.
 *
 * Owns the process, what it was asked and what it logged. Leaves what to ask to host handles.
 *
 * 1. Everything that was asked ends when the process does: with its last words.
 * 2. Its logs are kept here, so that they outlive it.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from '../roles/commands.ts';
import type { HostPlan } from '../roles/plan.ts';
import type { ProbeName } from '../roles/probes.ts';
import type { LogFacts, Report, Wish } from '../roles/protocol.ts';

export interface LogLine {
  readonly host: string;
  readonly level: string;
  readonly record: LogFacts;
}

interface Question {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const keptErrorChars = 4_000;
const entry = fileURLToPath(new URL('../roles/process.js', import.meta.url));
const skewedClock = new URL('../roles/skewed-clock.js', import.meta.url).href;

export class RoleProcess {
  readonly logs: LogLine[] = [];
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  readonly #questions = new Map<number, Question>();
  readonly #listeners = new Set<() => void>();
  readonly #played: string[] = [];
  #stages = 0;
  #isSpoiled = false;
  #lastId = 0;
  #ending: string | undefined;
  #mayEnd = false;
  #errorText = '';

  /** @param clockSkewMs - how wrong its wall clock is */
  constructor(clockSkewMs = 0) {
    this.#isSpoiled = clockSkewMs !== 0;
    this.#child = fork(entry, [], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      execArgv: clockSkewMs === 0 ? [] : ['--import', `${skewedClock}?ms=${clockSkewMs}`],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-keptErrorChars);
    });
    this.#child.on('message', (report: Report) => this.#hear(report));
    this.#child.on('error', () => undefined); // its end says all there is to say
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#ending = signal ?? `code ${code}`;
        const words = this.#errorText.trim();
        const error = new Error(`the process ended (${this.#ending})${words === '' ? '' : `: ${words}`}`);
        for (const { reject } of this.#questions.values()) reject(error); // 1
        this.#questions.clear();
        this.#tellListeners();
        resolve();
      });
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#ending === undefined;
  }

  /** Why it ended although it was not meant to, if so. */
  get unexpectedEnd(): string | undefined {
    if (this.#ending === undefined || this.#mayEnd) return undefined;
    return `process ${this.pid} ended by itself (${this.#ending}) ${this.#errorText.trim()}`;
  }

  /** Something was done to it, or in it, that another host would notice. */
  get isSpoiled(): boolean {
    return this.#isSpoiled || this.#errorText !== '';
  }

  /** How many stages it has had hosts of. */
  get stages(): number {
    return this.#stages;
  }

  /** Names of its hosts, the last ones. */
  get played(): readonly string[] {
    return this.#played.slice(-10);
  }

  get errorText(): string {
    return this.#errorText;
  }

  describe(plan: HostPlan, isShared: boolean): Promise<unknown> {
    this.#isSpoiled ||= isShared; // its store remembers
    this.#played.push(plan.name);
    return this.#send((id) => ({ kind: 'describe', id, plan, isShared }));
  }

  ask(host: string, command: Command, args: readonly unknown[]): Promise<unknown> {
    return this.#send((id) => ({ kind: 'ask', id, host, command, args }));
  }

  probe(host: string, probe: ProbeName, args: readonly unknown[]): Promise<unknown> {
    this.#isSpoiled = true; // a probe may do anything
    return this.#send((id) => ({ kind: 'probe', id, host, probe, args }));
  }

  /** After its hosts have ended: what still holds it. It is as new where that is nothing. */
  async rest(): Promise<readonly string[]> {
    this.#stages++;
    const left = (await this.#send((id) => ({ kind: 'rest', id }))) as readonly string[]; // what a role process answers
    this.logs.length = 0;
    return left;
  }

  /** Resolves once so many records of that event were logged by the host; `test/fixtures/own-chapters.mjs` asks without a number. */
  async logged(host: string, eventId: string, count = 1): Promise<readonly LogFacts[]> {
    const found = (): readonly LogFacts[] =>
      this.logs.flatMap((line) => (line.host === host && line.record.eventId === eventId ? [line.record] : []));
    while (found().length < count && this.isRunning) {
      await new Promise<void>((resolve) => {
        const listener = (): void => {
          this.#listeners.delete(listener);
          resolve();
        };
        this.#listeners.add(listener);
      });
    }
    return found();
  }

  /** Told that nothing more will be asked. */
  part(): void {
    this.#mayEnd = true;
    const wish: Wish = { kind: 'part' };
    if (this.#child.connected) this.#child.send(wish, () => undefined);
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    this.#isSpoiled = true;
    if (signal === 'SIGKILL') this.#mayEnd = true;
    if (this.isRunning) this.#child.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  #send(wishOf: (id: number) => Wish): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (!this.isRunning || !this.#child.connected) {
        reject(new Error(`the process has ended (${this.#ending})`));
        return;
      }
      const id = ++this.#lastId;
      this.#questions.set(id, { resolve, reject });
      this.#child.send(wishOf(id), () => undefined);
    });
  }

  #hear(report: Report): void {
    if (report.kind === 'log') {
      this.logs.push(report);
      this.#tellListeners();
      return;
    }
    const question = this.#questions.get(report.id);
    this.#questions.delete(report.id);
    if (report.kind === 'answer') question?.resolve(report.value);
    else question?.reject(new Error(report.message));
  }

  #tellListeners(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

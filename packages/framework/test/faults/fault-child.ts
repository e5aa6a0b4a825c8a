/**
 * A fixture in a process of its own, as the test sees it.
 *
 * Owns starting it, its answers, its signals and its end, and how long a test with children may take. Leaves to the fixture what
 * it does.
 *
 * 1. A child that ends before the test has ended it fails whatever waits for it, with its last words.
 * 2. `endChildren` leaves no process: a test file calls it after each test.
 * 3. It fails if a child has lost messages, or has ended in error: one that the test has killed is asked for nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import type { Answer, Commands, Question } from '../fixtures/fault-commands.ts';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** Flags of node. */
  readonly flags?: readonly string[];
  /** A command line that runs the one appended to it, without a process of its own. */
  readonly within?: readonly string[];
}

interface Waiter {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

jest.setTimeout(120_000); // hooks too: tells a hang from a success, also on a machine that has no time for the children

const keptErrorChars = 4_000;
const fixturePath = (file: string): string => fileURLToPath(new URL(`../fixtures/${file}`, import.meta.url));

const running = new Set<FaultChild<Commands>>();
const failures: Error[] = [];

/** Starts a fixture; resolves when it answers. */
export async function startChild<C extends Commands>(
  fixture: string,
  options: ChildOptions = {},
): Promise<FaultChild<C>> {
  const child = new FaultChild<C>(fixture, options);
  running.add(child);
  void child.ended.then(() => {
    running.delete(child);
    if (child.failure !== undefined) failures.push(child.failure); // 3
  });
  await child.next('ready');
  return child;
}

export async function endChildren(): Promise<void> {
  const lost = await Promise.all([...running].map((child) => child.endNow()));
  const ended = failures.splice(0).map(({ message }) => message);
  expect([...ended, ...lost.flat()]).toEqual([]); // 3
}

export class FaultChild<C extends Commands> {
  /** Resolves when the process is gone and everything it told has arrived; never rejects. */
  readonly ended: Promise<Ending>;
  readonly #fixture: string;
  readonly #process: ChildProcess;
  readonly #questions = new Map<number, Waiter>();
  readonly #told = new Map<string, unknown[]>();
  readonly #listeners = new Map<string, Waiter>();
  #lastId = 0;
  #ending: Ending | undefined;
  #errorText = '';

  constructor(fixture: string, options: ChildOptions) {
    this.#fixture = fixture;
    const node = [process.execPath, '--import', fixturePath('fault-typescript.mjs'), ...(options.flags ?? [])];
    const [command = '', ...args] = [...(options.within ?? []), ...node, fixturePath(`fault-${fixture}.ts`)];
    this.#process = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#errorText = (this.#errorText + text).slice(-keptErrorChars);
    });
    this.#process.on('message', (message: Answer) => this.#hear(message));
    this.ended = new Promise((resolve) => {
      this.#process.once('error', (error) => (this.#errorText = error.message));
      this.#process.once('close', (code, signal) => {
        this.#ending = { code, signal };
        resolve(this.#ending);
        for (const waiter of this.#waiters()) waiter.reject(this.#gone()); // 1
      });
    });
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  /** Why it has ended, if that is by an error of its own. */
  get failure(): Error | undefined {
    const { code } = this.#ending ?? {};
    return code === undefined || code === null || code === 0 ? undefined : this.#gone();
  }

  /** Has a command run there; rejects with what it threw. */
  ask<K extends keyof C & string>(command: K, ...args: Parameters<C[K]>): Promise<Awaited<ReturnType<C[K]>>> {
    // The fixture answers with what its command returns.
    return this.#ask(command, args) as Promise<Awaited<ReturnType<C[K]>>>;
  }

  #ask(command: string, args: readonly unknown[]): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { resolve, reject });
      if (this.hasEnded) return reject(this.#gone());
      this.#process.send({ id, command, args } satisfies Question, (error) => {
        if (error !== null) reject(this.#gone());
      });
    });
  }

  /** The next of such events that the child has told or will tell; one waiter per event. */
  next(event: string): Promise<unknown> {
    const earlier = this.#told.get(event)?.shift();
    if (earlier !== undefined) return Promise.resolve(earlier);
    if (this.hasEnded) return Promise.reject(this.#gone());
    return new Promise((resolve, reject) => this.#listeners.set(event, { resolve, reject }));
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL'); // also ends a stopped process
    await this.ended;
  }

  /** Kills it, whatever it does. @returns message counters by which it has lost messages */
  async endNow(): Promise<readonly string[]> {
    this.signal('SIGCONT'); // a stopped one has to answer
    const isOver = this.ended.then(() => []); // it has left its parent and checks by itself
    const lost = await Promise.race([this.#ask('lostMessages', []).catch(() => isOver), isOver]);
    await this.kill();
    return lost as readonly string[];
  }

  #hear(message: Answer): void {
    if ('event' in message) return this.#hearEvent(message.event, message.value);
    const waiter = this.#questions.get(message.id);
    this.#questions.delete(message.id);
    if ('error' in message) waiter?.reject(new Error(`${this.#fixture}: ${message.error}`));
    else waiter?.resolve(message.result);
  }

  #hearEvent(event: string, value: unknown): void {
    const listener = this.#listeners.get(event);
    this.#listeners.delete(event);
    if (listener !== undefined) return listener.resolve(value);
    const told = this.#told.get(event);
    if (told === undefined) this.#told.set(event, [value ?? true]);
    else told.push(value ?? true);
  }

  #waiters(): Waiter[] {
    return [...this.#questions.values(), ...this.#listeners.values()];
  }

  #gone(): Error {
    const { code, signal } = this.#ending ?? {};
    return new Error(`${this.#fixture} ended (${signal ?? `code ${code}`})\n${this.#errorText.trim()}`);
  }
}

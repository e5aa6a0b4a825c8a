/**
 * A child process that answers commands, seen from the coordinator.
 *
 * Owns the process and its questions. Leaves what to ask to its users, and answering to `answering.ts` over there.
 *
 * 1. A peer that ends before it was told to fails every open question; so does one that takes too long to answer.
 * 2. No peer outlives the coordinator: it is killed, even if it was stopped.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, CommandTable, Question } from './question.ts';

interface Waiter {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly limit: NodeJS.Timeout;
}

const exitGraceMs = 3_000;
/** Far above any measurement: what takes longer hangs, for example because a message was lost. */
const answerLimitMs = 60_000;
const living = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL'); // 2
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

export class Peer<Table extends CommandTable<Table>> {
  readonly #label: string;
  readonly #child: ChildProcess;
  readonly #waiters = new Map<number, Waiter>();
  #lastId = 0;
  #isStopped = false;

  /**
   * @param label - names the peer in errors
   * @param entry - path of the module that answers
   */
  constructor(label: string, entry: string) {
    this.#label = label;
    this.#child = fork(entry, { execArgv: [...process.execArgv, '--expose-gc'] });
    living.add(this.#child);
    this.#child.on('message', (answer) => this.#onAnswer(answer as Answer)); // the peer sends nothing else
    this.#child.on('error', (error) => this.#fail(error));
    this.#child.on('exit', (code, signal) => {
      living.delete(this.#child);
      this.#fail(new Error(`${label} ended with ${signal ?? code}`)); // 1
    });
  }

  ask<Name extends string & keyof Table>(command: Name, args: Table[Name]['args']): Promise<Table[Name]['result']> {
    return new Promise((resolve, reject) => {
      const question: Question = { id: ++this.#lastId, command, args };
      const giveUp = (): void =>
        this.#take(question.id)?.reject(new Error(`${this.#label} does not answer "${command}"`));
      this.#waiters.set(question.id, {
        resolve, // the stage answers each command with what the table of commands says
        reject,
        limit: setTimeout(giveUp, answerLimitMs),
      });
      this.#child.send(question, (error) => {
        if (error !== null) this.#take(question.id)?.reject(error);
      });
    });
  }

  /** Stands still, its sockets open, until `resume`: what a hung process looks like from outside. */
  stop(): void {
    this.#isStopped = true;
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#child.kill('SIGCONT');
  }

  /** Ends it at once, as a crash would; what it was asked fails. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Closes the end and waits for the process to be gone. */
  async end(): Promise<void> {
    if (!living.has(this.#child)) return;
    this.resume();
    const exited = once(this.#child, 'exit');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), exitGraceMs);
    await this.ask('close', undefined).catch(() => undefined); // a broken end is told by what was measured with it
    if (this.#child.connected) this.#child.disconnect();
    await exited;
    clearTimeout(timer);
  }

  #onAnswer(answer: Answer): void {
    const waiter = this.#take(answer.id);
    if (answer.ok) waiter?.resolve(answer.result);
    else waiter?.reject(new Error(`${this.#label}: ${answer.error}`));
  }

  #take(id: number): Waiter | undefined {
    const waiter = this.#waiters.get(id);
    this.#waiters.delete(id);
    clearTimeout(waiter?.limit);
    return waiter;
  }

  #fail(error: Error): void {
    for (const id of [...this.#waiters.keys()]) this.#take(id)?.reject(error);
  }
}

/**
 * A process of its own that runs a fixture on the built packages, as an application would.
 *
 * Owns starting it, the events it writes (one JSON object per line on stdout), and that none outlives its test, nor loses a
 * message: message counters in an event are those of hosts that have ended, without force unless it says otherwise.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { jest } from '@jest/globals';
import type { MessageCounters } from '@zlink/framework';
import { unbalancedCounters, unfinishedCounters } from '@zlink/testing';

export type ChildEvent = Readonly<Record<string, unknown>> & { readonly event: string };

export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly atMs: number;
}

jest.setTimeout(120_000); // tells a hang from a success, also on a machine that has no time for the children

const running = new Set<Child>();
const problems: string[] = [];
afterEach(async () => {
  await Promise.all([...running].map((child) => child.kill()));
  expect(problems.splice(0)).toEqual([]);
});

/** @param fixture - name of a file in `fixtures/` */
export function startChild(fixture: string, ...args: string[]): Child {
  const path = fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url));
  return new Child(spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

export class Child {
  /** Resolves when the process is gone and all it wrote was read. */
  readonly ended: Promise<ChildEnd>;
  readonly #process: ChildProcess;
  readonly #events: (ChildEvent & { readonly atMs: number })[] = [];
  #onEvent: (() => void) | undefined;
  #stdout = '';
  #stderr = '';

  constructor(child: ChildProcess) {
    this.#process = child;
    running.add(this);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    this.ended = new Promise((resolve) => {
      let atMs = 0;
      child.once('exit', () => (atMs = performance.now()));
      child.once('close', (code, signal) => {
        running.delete(this);
        resolve({ code, signal, atMs });
      });
    });
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The first event of this name, with the time of its arrival; fails if the process ends before. */
  async event(name: string): Promise<ChildEvent & { readonly atMs: number }> {
    for (;;) {
      const found = this.#events.find(({ event }) => event === name);
      if (found !== undefined) return found;
      const next = new Promise<true>((resolve) => (this.#onEvent = () => resolve(true)));
      const isRunning = await Promise.race([next, this.ended.then(() => false)]);
      if (!isRunning && !this.#events.some(({ event }) => event === name)) {
        throw new Error(`the child ended before it said "${name}": ${this.#stderr}`);
      }
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    await this.ended;
  }

  #read(text: string): void {
    const lines = (this.#stdout + text).split('\n');
    this.#stdout = lines.pop() ?? '';
    // A fixture writes nothing but its events.
    for (const line of lines) {
      const event = JSON.parse(line) as ChildEvent;
      this.#events.push({ ...event, atMs: performance.now() });
      const counters = (event['counters'] ?? []) as MessageCounters[]; // under that name a fixture writes nothing else
      problems.push(...unbalancedCounters(counters));
      if (event['isForced'] !== true) problems.push(...unfinishedCounters(counters));
    }
    this.#onEvent?.();
  }
}

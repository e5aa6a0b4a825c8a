/** Runs a script of `child/` in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const pathOf = (file: string): string => fileURLToPath(new URL(`child/${file}`, import.meta.url));
const typescript = ['--conditions=@zlink/source', '--import', pathOf('typescript.mjs')];

export class Child {
  readonly process: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly atMs: number }>;
  output = '';
  #onOutput: (() => void) | undefined;

  constructor(script: string, ...args: string[]) {
    const flags = script.endsWith('.ts') ? typescript : [];
    this.process = spawn(process.execPath, [...flags, pathOf(script), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        this.output += bytes.toString();
        this.#onOutput?.();
      });
    }
    this.exited = once(this.process, 'exit').then(([code]) => ({
      code: code as number | null, // as documented for the event
      atMs: performance.now(),
    }));
  }

  /** Waits for a line that fits. @throws Error if the child ends before */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.output.split('\n').find((line) => pattern.test(line));
      if (found !== undefined) return found;
      const more = new Promise<void>((resolve) => (this.#onOutput = resolve));
      const ended = await Promise.race([more, this.exited]);
      if (ended !== undefined) throw new Error(`child ended with ${ended.code} before ${pattern}: ${this.output}`);
    }
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}

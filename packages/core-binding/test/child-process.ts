/** Runs a TypeScript script of `child/` in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const pathOf = (file: string): string => fileURLToPath(new URL(`child/${file}`, import.meta.url));

export class Child {
  readonly process: ChildProcess;
  readonly exited: Promise<{ readonly code: number | null; readonly atMs: number }>;
  output = '';
  #onOutput: (() => void) | undefined;

  constructor(script: string, ...args: string[]) {
    const flags = ['--conditions=@zlink/source', '--import', pathOf('typescript.mjs')];
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

  /** Waits for a line that fits. */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.output.split('\n').find((line) => pattern.test(line));
      if (found !== undefined) return found;
      const ended = this.exited.then(({ code }) => {
        throw new Error(`child ended with ${code} before ${pattern}: ${this.output}`);
      });
      await Promise.race([new Promise<void>((resolve) => (this.#onOutput = resolve)), ended]);
    }
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}

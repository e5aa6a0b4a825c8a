/**
 * A script in a process of its own, run the way a person in a shell would, and what it prints.
 *
 * Owns the process from its start on, and its output. Leaves to the test when it is to end.
 *
 * 1. It has ended when all that it printed was read.
 */
import { spawn } from 'node:child_process';

interface ScriptOptions {
  /** In addition to the variables of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Its input stays open for as long as this process lives; by default it has none. */
  readonly hasInput?: boolean;
}

interface FinishedScript {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningScript {
  readonly pid: number;
  readonly finished: Promise<FinishedScript>;
  /** Resolves with the first match in what it has printed so far, or will. Rejects if it ends without. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

export function runScript(path: string, args: readonly string[] = [], options: ScriptOptions = {}): RunningScript {
  const child = spawn(process.execPath, [path, ...args], {
    stdio: [options.hasInput === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, FORCE_COLOR: '0', ...options.env }, // what a test runner asks of its own output is not for it
  });
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  const finished = new Promise<FinishedScript>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...text })); // 1
  });
  finished.catch(() => undefined); // it may be that nobody asks
  return {
    pid: child.pid ?? 0,
    finished,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text.stdout);
          if (match === null) return;
          listeners.delete(look);
          resolve(match);
        };
        listeners.add(look);
        look();
        finished.then(
          ({ code, stderr }) => reject(new Error(`ended with ${code} before ${pattern}\n${stderr}`)),
          reject, // it was never started
        );
      }),
    kill: (signal) => void child.kill(signal),
  };
}

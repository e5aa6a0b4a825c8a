/** Runs scripts as child processes the way a person in a shell would, and collects what they print. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly finished: Promise<Finished>;
  /** Resolves with the first match in what it has printed so far, or will. Rejects if it ends without. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

export const built = (name: string): string => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
export const repository = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

export function runScript(path: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Running {
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FORCE_COLOR: '0', ...env }, // what a test runner asks of its own output is not for them
  });
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...text }));
  });
  return {
    finished,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(text.stdout);
          if (match !== null) resolve(match);
        };
        listeners.add(look);
        look();
        void finished.then(({ code, stderr }) => reject(new Error(`ended with ${code} before ${pattern}\n${stderr}`)));
      }),
    kill: (signal) => child.kill(signal),
  };
}

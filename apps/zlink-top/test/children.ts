/**
 * Hosts and `zlink-top` in processes of their own, as a person in a shell starts them.
 *
 * Owns that none of them outlives its test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { environmentIn } from './folders.ts';

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  /** Resolves with the first match in what it has printed so far, or will. Rejects if it ends without. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  kill(signal: NodeJS.Signals): void;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const running = new Set<ChildProcess>();

afterEach(async () => {
  const ends = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
});

export const runTop = (folder: string, ...args: string[]): Running => runScript(folder, path('../dist/main.js'), args);

/** Resolves once it can be looked at. */
export async function startHost(
  folder: string,
  name: string,
  ...args: string[]
): Promise<Running & { socket: string }> {
  const host = runScript(folder, path('fixtures/host.mjs'), [name, ...args]);
  const [, socket = ''] = await host.printed(/^(.+)\n/);
  return { ...host, socket };
}

export function runScript(folder: string, script: string, args: readonly string[] = []): Running {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...environmentIn(folder) },
  });
  running.add(child);
  const text = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text.stdout += chunk;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      running.delete(child);
      resolve({ code, ...text });
    });
  });
  return {
    pid: child.pid ?? 0,
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

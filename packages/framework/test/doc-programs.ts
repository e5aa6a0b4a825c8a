/**
 * The programs that a page of the documentation shows, written out as files and run as a reader would.
 *
 * Owns finding the blocks, the folder of the page, and that no process outlives its test. Leaves to tests what they print.
 *
 * 1. A block of code is a whole file, and its first line names it: `// client.mjs`.
 * 2. A `text` block behind it is what it prints; code without one is not run by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export const typescriptExample = here('../../../docs/examples/typescript');

/** Lets Node.js 20 run the `.ts` files as they are. */
const typescript = new URL('fixtures/fault-typescript.mjs', import.meta.url).href;

export interface DocProgram {
  readonly file: string;
  readonly code: string;
  /** Undefined: the page does not say. */
  readonly prints: string | undefined;
}

export interface Run {
  /** Resolves with the first match in what the program has printed so far, or will. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** All it printed and its exit code, once it has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string }>;
  stop(): void;
}

export const readDoc = (page: string): string => readFileSync(here(`../../../docs/${page}`), 'utf8');

const running = new Set<ChildProcess>();
afterEach(async () => {
  const ends = [...running].map((child) => new Promise((resolve) => child.once('close', resolve)));
  for (const child of running) child.kill('SIGKILL');
  await Promise.all(ends);
});

export function programsOf(page: string): DocProgram[] {
  const blocks = readDoc(page).matchAll(/^```(?:js|ts)\n([^]*?)^```\n(?:\n```text\n([^]*?)^```$)?/gm);
  return [...blocks].map(([, code = '', prints]) => {
    const file = /^\/\/ ([\w.-]+\.(?:mjs|ts))\n/.exec(code)?.[1];
    if (file === undefined) throw new Error(`${page}: a block does not begin with the name of its file: ${code}`); // 1
    return { file, code, prints };
  });
}

/** Writes the programs of a page into a folder of their own, inside this package: there they find what they import. */
export function writePrograms(page: string, change: (code: string) => string = (code) => code): string {
  const folder = here(`../.test-results/docs/${page}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, code } of programsOf(page)) writeFileSync(join(folder, file), change(code));
  return folder;
}

export function runProgram(
  folder: string,
  file: string,
  args: readonly string[] = [],
  environment: NodeJS.ProcessEnv = { PORT: '0' },
): Run {
  return run(folder, ['--import', typescript, file, ...args], environment);
}

/** As a reader with plain Node.js runs what `compile` has written. */
export function runCompiled(folder: string, file: string, port = '0'): Run {
  return run(join(folder, 'dist'), [file], { PORT: port });
}

/** The compiler over a folder, set up as the example for TypeScript is; it writes JavaScript to `dist`. */
export function compile(folder: string): Run {
  for (const file of ['tsconfig.json', 'package.json']) copyFileSync(join(typescriptExample, file), join(folder, file));
  return run(folder, [here('../../../node_modules/@typescript/native/bin/tsc'), '-p', '.', '--pretty', 'false'], {});
}

function run(cwd: string, args: readonly string[], environment: NodeJS.ProcessEnv): Run {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, FORCE_COLOR: '0', NODE_OPTIONS: '', ...environment },
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  let look = (): void => undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<{ code: number | null; stdout: string }>((resolve) => {
    const end = (code: number | null): void => {
      running.delete(child);
      resolve({ code, stdout });
    };
    child.once('close', end);
    child.once('error', (error) => {
      stderr += error.message; // it could not be started, and there may be no close then
      end(null);
    });
  });
  const printed = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      look = () => {
        const match = pattern.exec(stdout);
        if (match !== null) resolve(match);
      };
      look();
      void ended.then(({ code }) => reject(new Error(`ended with ${code} before ${pattern}\n${stdout}${stderr}`)));
    });
  return { ended, printed, stop: () => child.kill('SIGTERM') };
}

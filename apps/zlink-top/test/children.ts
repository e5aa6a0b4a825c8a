/**
 * Hosts and `zlink-top` in processes of their own, as a person in a shell starts them.
 *
 * Owns that none of them outlives its test.
 */
import { fileURLToPath } from 'node:url';
import { type RunningScript, runScript } from '@zlink/testing/internal';
import { environmentIn } from './folders.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const running = new Set<RunningScript>();

afterEach(async () => {
  for (const script of running) script.kill('SIGKILL');
  await Promise.allSettled([...running].map(({ finished }) => finished));
  running.clear();
});

export const runTop = (folder: string, ...args: string[]): RunningScript => run(folder, path('../dist/main.js'), args);

/** Resolves once it can be looked at. */
export async function startHost(
  folder: string,
  name: string,
  ...args: string[]
): Promise<RunningScript & { socket: string }> {
  const host = run(folder, path('fixtures/host.mjs'), [name, ...args]);
  const [, socket = ''] = await host.printed(/^(.+)\n/);
  return { ...host, socket };
}

export function run(folder: string, script: string, args: readonly string[] = []): RunningScript {
  const started = runScript(script, args, { env: environmentIn(folder), hasInput: true });
  running.add(started);
  return started;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, jest, test } from '@jest/globals';
import type { RunReport } from '../src/report.ts';

jest.setTimeout(60_000); // tells a hang from a success, also on a machine that has no time for the test

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

async function runBench(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(process.execPath, [main, ...args]);
  let output = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

test('[CORE-001] the list shows patterns and bars without measuring', async () => {
  const { code, output } = await runBench('--list', '--only', 'link-serial');
  expect(output).toBe(
    [
      'link-serial-64B',
      '  median round trip of a request of 64 B over a link, one in flight',
      '  link over zeromq.js: <= 1.1',
      '  link over node:net: information',
      '',
    ].join('\n'),
  );
  expect(code).toBe(0);
});

test('[CORE-001] a wrong option is told without a stack', async () => {
  const { code, output } = await runBench('--rounds', '1');
  expect(output).toBe('--rounds 1: an integer of 5 or more is needed for a median\n');
  expect(code).toBe(2);
});

test('[CORE-001] a run measures both sides in processes of their own and writes every figure down', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'zlink-bench-'));
  const path = join(folder, 'report.json');
  const { output } = await runBench('--quick', '--only', 'link-serial', '--json', path);
  const report = JSON.parse(await readFile(path, 'utf8')) as RunReport;
  await rm(folder, { recursive: true });
  expect(Object.keys(report.machine.versions)).toContain('libzmq');
  const [scenario] = report.scenarios;
  expect(Object.keys(scenario?.figures ?? {})).toEqual(['link', 'zeromq.js', 'node:net']);
  for (const rounds of Object.values(scenario?.figures ?? {})) {
    expect(rounds).toHaveLength(5);
    expect(Math.min(...rounds)).toBeGreaterThan(0);
  }
  expect(output).toMatch(/^link-serial-64B +link .+ µs +zeromq\.js .+ µs/m);
}, 240_000);

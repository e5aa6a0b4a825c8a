/** What has to be seen from outside: the built package in a process of its own. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const limitMs = 120_000;

async function outputOf(script: string, ...flags: string[]): Promise<string> {
  const path = fileURLToPath(new URL(`child/${script}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, path], { timeout: limitMs });
  return stdout.trim();
}

test(
  '[CODEC-006] hostile payloads of up to 16 MiB do not take down a process with a heap of 128 MiB',
  async () => {
    const tally = JSON.parse(await outputOf('hostile.mjs', '--max-old-space-size=128')) as Record<string, number>;
    expect(tally['values']).toBeGreaterThan(200);
    expect(tally['refused']).toBeGreaterThan(4_000);
  },
  limitMs,
);

test(
  '[CODEC-006] it works where there is neither Buffer nor any module of Node.js',
  async () => {
    expect(await outputOf('browser.mjs')).toBe('the same');
  },
  limitMs,
);

test('[CODEC-006] its sources import the library and the kernel, nothing else', () => {
  const sources = new URL('../src/', import.meta.url);
  const imported = readdirSync(sources).flatMap((name) =>
    [...readFileSync(new URL(name, sources), 'utf8').matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from),
  );
  const packages = new Set(imported.filter((from) => !from.startsWith('./')));
  expect([...packages].sort()).toEqual([
    '@zlink/kernel/codec',
    '@zlink/kernel/errors',
    '@zlink/kernel/internal/options',
    '@zlink/kernel/message',
    'protobufjs/minimal.js',
  ]);
});

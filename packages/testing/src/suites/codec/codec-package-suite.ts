/**
 * What the package of every codec of ours must be, seen from outside: built, in a process of its own.
 *
 * Owns what is asked. Leaves the payloads and the values to two scripts of the package's tests.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { globalRunner } from '../location/suite-runner.ts';

export interface CodecPackage {
  /** Folder of the package's tests. */
  readonly tests: URL;
  /** What the sources import beside the kernel. */
  readonly libraries: readonly string[];
  /** How many hostile payloads are values after all, and how many are refused: at least so many. */
  readonly values: number;
  readonly refused: number;
}

/** How long a child may take: tells a hang from a success. */
const LIMIT_MS = 120_000;
/**
 * A heap of 128 MiB, and nothing else. By default V8 also ends a process that is near its limit and spends most of its time on
 * collections, which tells how fast the machine is and not how much memory the values take.
 */
const SMALL_HEAP = ['--max-old-space-size=128', '--no-detect-ineffective-gcs-near-heap-limit'];
const KERNEL = ['codec', 'errors', 'internal/options', 'message'].map((name) => `@zlink/kernel/${name}`);

/** Registers its tests at the global `describe` and `test`. */
export function codecPackageSuite(name: string, { tests, libraries, values, refused }: CodecPackage): void {
  const runner = globalRunner();
  const outputOf = async (script: string, ...flags: string[]): Promise<string> => {
    const path = fileURLToPath(new URL(`child/${script}`, tests));
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, path], { timeout: LIMIT_MS });
    return stdout.trim();
  };

  runner.describe(name, () => {
    // `child/hostile.mjs` decodes payloads and prints what has become of them.
    runner.test(
      '[CODEC-006] hostile payloads of up to 16 MiB do not take down a process with a heap of 128 MiB',
      async () => {
        const tally = JSON.parse(await outputOf('hostile.mjs', ...SMALL_HEAP)) as Record<string, number>;
        assert.ok((tally['values'] ?? 0) >= values, `values: ${tally['values']}`);
        assert.ok((tally['refused'] ?? 0) >= refused, `refused: ${tally['refused']}`);
      },
    );

    // `child/browser.mjs` takes away what browsers lack, and compares values with what they come back as.
    runner.test('[CODEC-006] it works where there is neither Buffer nor any module of Node.js', async () => {
      assert.equal(await outputOf('browser.mjs'), 'the same');
    });

    runner.test('[CODEC-006] its sources import the library and the kernel, nothing else', async () => {
      const sources = new URL('../src/', tests);
      const imported = readdirSync(sources).flatMap((file) =>
        [...readFileSync(new URL(file, sources), 'utf8').matchAll(/ from '([^']+)'/g)].map(([, from = '']) => from),
      );
      const packages = new Set(imported.filter((from) => !from.startsWith('./')));
      assert.deepEqual([...packages].sort(), [...libraries, ...KERNEL].sort());
    });
  });
}

/** The tests that docs/testing.md shows, run as a reader would: they pass, and fast. */
import { programsOf, runProgram, writePrograms } from './doc-programs.ts';

const PAGE = 'testing.md';
/** The page says a second; a machine that is busy with something else gets more, but no real time-out fits in. */
const fastMs = 4_000;
/** It may be slow once. */
const tries = 3;

const files = programsOf(PAGE)
  .map(({ file }) => file)
  .filter((file) => file.endsWith('.test.mjs'));

const figures = (text: string, pattern: RegExp): number[] =>
  [...text.matchAll(pattern)].map(([, figure]) => Number(figure));

test('[HOSTREG-005] docs/testing.md has a test for each of its subjects', () => {
  expect(files).toEqual(
    'handler hosts time network events discovery text-codec store sockets'.split(' ').map((name) => `${name}.test.mjs`),
  );
});

test.each(files)(
  '[HOSTREG-005] %s of docs/testing.md passes, and none of its tests waits for real time',
  async (file) => {
    const folder = writePrograms(PAGE);
    let slowestMs = Infinity;
    for (let round = 0; round < tries && slowestMs >= fastMs; round++) {
      const { code, stdout } = await runProgram(folder, file, [], { NODE_TEST_CONTEXT: undefined }).ended;
      expect({ file, code, stdout }).toEqual({ file, code: 0, stdout });
      expect(figures(stdout, /^# (?:fail|skipped|cancelled) (\d+)$/gm)).toEqual([0, 0, 0]);
      expect(figures(stdout, /^# pass (\d+)$/gm)[0]).toBeGreaterThan(0);
      slowestMs = Math.max(...figures(stdout, /^ +duration_ms: ([\d.]+)\n(?! +type: 'suite')/gm));
    }
    expect(slowestMs).toBeLessThan(fastMs);
  },
  180_000,
);

// Owns: one run of all projects' tests and the closing line with its counts.
// Leaves to others: the counts of one project (jest-counts-reporter), what else CI does (verify).
//
// 1. Old results are deleted first: a project without a result file counts as one failure.
// 2. The closing line stands alone and last; the exit code is non-zero on any failure and on zero passed tests.
// 3. What failed is named once more after Nx's own output, so that the end of a log is enough to know it.
// 4. Results with another run id were replayed by Nx's cache; that is said, never hidden.
//
// Arguments: `--affected` limits the run to what a change can have broken; all others go to Nx.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProjects, root } from './projects.mjs';

const limitMs = 840_000; // below the limit of the step, so that what ran is still counted

function runNx(runId, extra) {
  const affected = extra.includes('--affected');
  const nx = join(root, 'node_modules/nx/dist/bin/nx.js');
  const command = affected ? ['affected'] : ['run-many'];
  const rest = extra.filter((argument) => argument !== '--affected');
  const uncached = process.env.CI && !rest.includes('--skip-nx-cache') ? ['--skip-nx-cache'] : [];
  return spawnSync(process.execPath, [nx, ...command, '-t', 'test', '--output-style=static', ...uncached, ...rest], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ZLINK_TEST_RUN_ID: runId },
    timeout: limitMs,
  });
}

function readResult(project) {
  const path = join(project.path, '.test-results/jest.json');
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function showFailures(project, failures) {
  for (const { file, title, message } of failures) {
    console.log(`failed: ${project.name} ${file} › ${title}\n${message.replaceAll(/^/gm, '    ')}`);
  }
}

function addUp(projects, runId, partial) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const project of projects) {
    const result = readResult(project);
    if (result === undefined) {
      if (partial) continue; // not affected, or not among the projects asked for
      console.log(`run-tests: ${project.name} left no result`);
      total.failed += 1;
      continue;
    }
    if (result.runId !== runId) console.log(`run-tests: ${project.name} was replayed from the cache`);
    showFailures(project, result.failures);
    total.passed += result.passed;
    total.failed += result.failed;
    total.skipped += result.skipped;
  }
  return total;
}

const extra = process.argv.slice(2);
const partial = extra.some((argument) => argument === '--affected' || argument.startsWith('--projects'));
const runId = randomUUID();
const projects = readProjects().filter((project) => project.manifest.nx?.targets?.test);
for (const project of projects) rmSync(join(project.path, '.test-results'), { recursive: true, force: true });

const nx = runNx(runId, extra);
const total = addUp(projects, runId, partial);
const broken = nx.status !== 0;
if (broken && total.failed === 0) {
  console.log(`run-tests: nx ended with ${nx.signal ?? nx.status}`);
  total.failed += 1;
}
if (total.passed === 0 && !partial) console.log('run-tests: no test passed');
mkdirSync(join(root, '.cache'), { recursive: true });
writeFileSync(join(root, '.cache/test-counts.json'), `${JSON.stringify(total)}\n`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = broken || total.failed > 0 || (total.passed === 0 && !partial) ? 1 : 0;

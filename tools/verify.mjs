// Owns: the order of everything that has to hold before a change is good, and the closing line.
// Leaves to others: each single check (the tools beside this file).
//
// 1. Each step prints one line with its duration; a failed one prints its output before it. All steps run.
// 2. The closing line `N passed, N failed` is the last one and counts real tests; zero tests is a failure.
// 3. A step that takes too long is ended with everything it started.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './projects.mjs';

const logFolder = join(root, '.cache/verify');
const countsPath = join(root, '.cache/test-counts.json');
const uncached = process.env.CI ? ['--skip-nx-cache'] : [];
const node = (...args) => [process.execPath, ...args];
const bin = (path, ...args) => node(join('node_modules', path), ...args);

const steps = [
  { name: 'layers', command: node('tools/check-layers.mjs') },
  { name: 'format', command: bin('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.') },
  { name: 'build', command: ['npm', 'run', '-s', 'build'] },
  {
    name: 'typecheck',
    command: bin('nx/dist/bin/nx.js', 'run-many', '-t', 'typecheck', '--output-style=static', ...uncached),
  },
  { name: 'lint', command: bin('eslint/bin/eslint.js', '--max-warnings=0', '.') },
  { name: 'unused', command: bin('knip/bin/knip.js', '--no-progress') },
  // The build is done; without the flag Nx would repeat it for projects whose tests start built code.
  { name: 'tests', command: node('tools/run-tests.mjs', '--exclude-task-dependencies'), limitMs: 900_000 },
  { name: 'conformance', command: node('apps/conformance/dist/main.js'), limitMs: 600_000 },
  { name: 'trace', command: node('tools/spec-trace.mjs') },
  { name: 'packages', command: node('tools/package-check.mjs') },
  { name: 'demo', command: ['npm', 'run', '-s', 'demo'], limitMs: 120_000 },
  {
    name: 'bench',
    command: node('tools/bench/dist/main.js', '--quick'),
    limitMs: 300_000,
  },
];

const killGraceMs = 3_000;
let endCurrent = () => {};

/** Asked first, since Nx passes the signal on to tasks that live in groups of their own; then forced. */
function endGroup(pid) {
  const signal = (name) => {
    try {
      process.kill(-pid, name);
    } catch {
      // The group is gone already, which is what was wanted.
    }
  };
  signal('SIGTERM');
  return setTimeout(() => signal('SIGKILL'), killGraceMs);
}

function runStep({ name, command: [program, ...args], limitMs = 600_000 }) {
  return new Promise((resolve) => {
    // Own process group, so that the limit reaches grandchildren. The pipe also makes stdout no terminal.
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const output = [];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    endCurrent = () => endGroup(child.pid);
    const timer = setTimeout(() => {
      output.push(Buffer.from(`verify: ${name} took longer than ${limitMs} ms\n`));
      endCurrent();
    }, limitMs);
    const settle = (ok) => {
      clearTimeout(timer);
      endCurrent = () => {};
      resolve({ ok, output: Buffer.concat(output).toString() });
    };
    child.on('error', (error) => {
      output.push(Buffer.from(`${error.message}\n`));
      settle(false);
    });
    child.on('close', (code) => settle(code === 0));
  });
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    endCurrent();
    setTimeout(() => process.exit(130), killGraceMs + 100);
  });
}

rmSync(countsPath, { force: true });
mkdirSync(logFolder, { recursive: true });
const failed = [];
for (const step of steps) {
  const startedAt = performance.now();
  const { ok, output } = await runStep(step);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  writeFileSync(join(logFolder, `${step.name}.log`), output);
  if (!ok) {
    failed.push(step.name);
    console.log(output.trimEnd());
  }
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${step.name.padEnd(11)} ${seconds.padStart(6)} s`);
}

const counts = existsSync(countsPath) ? JSON.parse(readFileSync(countsPath, 'utf8')) : { passed: 0, failed: 1 };
if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = failed.length > 0 || counts.failed > 0 || counts.passed === 0 ? 1 : 0;

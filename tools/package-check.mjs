// Owns: the proof that each package, as it would be published, installs and loads where only its dependencies are.
// Leaves to others: building (must be done before), behaviour (tests).
//
// 1. Workspace packages come from packed tarballs, never through a link into this tree.
// 2. Each set of packages is installed into an empty folder outside this tree; nothing undeclared can be found there.
// 3. Every export loads with `import` and with `require`, and both give the same module.
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readProjects, root } from './projects.mjs';

const run = promisify(execFile);
const limitMs = 180_000;
const packages = readProjects().filter(({ manifest }) => !manifest.private);
const byName = new Map(packages.map((project) => [project.name, project]));
const tarballs = new Map();
let problemCount = 0;

/** What an application would install together, beside what follows from the dependencies. */
const sets = [
  { names: ['@zlink/kernel'] },
  { names: ['@zlink/testing'] },
  { names: ['@zlink/clientserver'] },
  { names: ['@zlink/clientserver', '@zlink/core-binding'], example: 'packages/clientserver/examples/compose.mjs' },
  { names: ['@zlink/channel'] },
  { names: ['@zlink/channel', '@zlink/core-binding'], example: 'packages/channel/examples/compose.mjs' },
  { names: ['@zlink/fanout'] },
  { names: ['@zlink/fanout', '@zlink/core-binding'], example: 'packages/fanout/examples/compose.mjs' },
  { names: ['@zlink/location-redis'] },
  { names: ['@zlink/codec-msgpack'], example: 'packages/codec-msgpack/examples/round-trip.mjs' },
  { names: ['@zlink/codec-protobuf'], example: 'packages/codec-protobuf/examples/round-trip.mjs' },
  { names: ['@zlink/telemetry'] },
  { names: ['@zlink/framework'] },
  { names: ['zlink-top'] },
];

function report(place, error) {
  problemCount += 1;
  const text =
    typeof error === 'string' ? error : [error.message, error.stdout, error.stderr].filter(Boolean).join('\n');
  console.error(`package-check: ${place}: ${text}`);
}

const npm = (args, cwd) => run('npm', args, { cwd, timeout: limitMs, shell: process.platform === 'win32' });
const nodeBin = (path, args, cwd) =>
  run(process.execPath, [join(root, 'node_modules', path), ...args], { cwd, timeout: limitMs });

function checkFiles({ name, path }) {
  const license = join(path, 'LICENSE');
  if (!existsSync(license) || readFileSync(license, 'utf8') !== readFileSync(join(root, 'LICENSE'), 'utf8')) {
    report(name, 'LICENSE is missing or differs from the root one');
  }
  if (!existsSync(join(path, 'README.md'))) report(name, 'README.md is missing');
}

async function pack(project, destination) {
  if (!existsSync(join(project.path, 'dist'))) throw new Error('dist is missing: build first');
  const { stdout } = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', destination], project.path);
  const packed = JSON.parse(stdout);
  const [{ filename }] = Array.isArray(packed) ? packed : Object.values(packed);
  return join(destination, filename);
}

async function checkTarball(project, destination) {
  try {
    checkFiles(project);
    const tarball = await pack(project, destination);
    tarballs.set(project.name, tarball);
    await nodeBin('publint/src/cli.js', ['--strict', tarball], project.path);
    await nodeBin('@arethetypeswrong/cli/dist/index.js', [tarball, '--profile', 'esm-only'], project.path);
    console.log(`package-check: ${project.name} packs well`);
  } catch (error) {
    report(project.name, error);
  }
}

/** The named packages and, through their dependencies, every other workspace package they need. */
function closureOf(names) {
  const all = new Set();
  const add = (name) => {
    if (all.has(name) || !byName.has(name)) return;
    all.add(name);
    for (const dependency of Object.keys(byName.get(name).manifest.dependencies ?? {})) add(dependency);
  };
  names.forEach(add);
  return [...all].sort();
}

function specifiersOf(names) {
  return names.flatMap((name) =>
    Object.keys(byName.get(name).manifest.exports)
      .filter((subpath) => subpath !== './package.json')
      .map((subpath) => name + subpath.slice(1)),
  );
}

const loaderSource = (specifiers) => `
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);
for (const specifier of ${JSON.stringify(specifiers)}) {
  const imported = await import(specifier);
  const required = require(specifier);
  for (const name of Object.keys(imported)) {
    if (required[name] !== imported[name]) throw new Error(specifier + ': ' + name + ' differs between import and require');
  }
}
`;

const commonJsSource = (specifiers) => `
for (const specifier of ${JSON.stringify(specifiers)}) {
  if (typeof require(specifier) !== 'object') throw new Error(specifier + ' gave no module');
}
`;

async function checkSet({ names, example }, temp, number) {
  const all = closureOf(names);
  const title = `install of ${all.join(' + ')}`;
  try {
    const folder = join(temp, `set-${number}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true }\n');
    const files = all.map((name) => tarballs.get(name) ?? failOn(name));
    await npm(['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', ...files], folder);
    const modules = join(folder, 'node_modules');
    const scoped = readdirSync(join(modules, '@zlink')).map((name) => `@zlink/${name}`);
    const others = all.filter((name) => !name.startsWith('@zlink/') && existsSync(join(modules, name)));
    const installed = [...scoped, ...others];
    if (installed.sort().join() !== all.join()) throw new Error(`found ${installed.join(', ')}`);
    writeFileSync(join(folder, 'load.mjs'), loaderSource(specifiersOf(all)));
    writeFileSync(join(folder, 'load.cjs'), commonJsSource(specifiersOf(all)));
    // The limit also shows an import that keeps the process from ending.
    await run(process.execPath, ['load.mjs'], { cwd: folder, timeout: 30_000 });
    await run(process.execPath, ['load.cjs'], { cwd: folder, timeout: 30_000 });
    if (example !== undefined) {
      cpSync(join(root, example), join(folder, 'example.mjs'));
      await run(process.execPath, ['example.mjs'], { cwd: folder, timeout: 60_000 });
    }
    console.log(`package-check: ${title} works`);
  } catch (error) {
    report(title, error);
  }
}

function failOn(name) {
  throw new Error(`${name} was not packed`);
}

const temp = mkdtempSync(join(tmpdir(), 'zlink-packages-'));
try {
  for (const project of packages) await checkTarball(project, temp);
  for (const [number, set] of sets.entries()) await checkSet(set, temp, number);
} finally {
  rmSync(temp, { recursive: true, force: true });
}
console.log(`package-check: ${packages.length} packages, ${problemCount} problems`);
if (problemCount > 0) process.exitCode = 1;

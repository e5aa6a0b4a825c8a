// Owns: a clone that is ready to build and test, with nothing but Node and npm at hand.
// Leaves to others: building and testing.
//
// 1. Only Node built-ins are imported: node_modules may be missing.
// 2. The stamp is written last and lies inside node_modules, so an interrupted install is repeated.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stampPath = `${root}node_modules/.zlink-stamp`;

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`bootstrap: Node ${process.versions.node} is too old, 20.19 is the oldest that works`);
  process.exit(1);
}

function stampOf(lockPath) {
  return createHash('sha256').update(readFileSync(lockPath)).digest('hex');
}

function install() {
  console.error('bootstrap: installing dependencies (npm ci)');
  // npm's own output goes to stderr: stdout belongs to the command that called.
  const result = spawnSync('npm', ['ci'], { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (result.status !== 0) {
    console.error(`bootstrap: npm ci failed${result.error ? `: ${result.error.message}` : ''}`);
    process.exit(1);
  }
}

requireNode();
const stamp = stampOf(`${root}package-lock.json`);
if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  install();
  writeFileSync(stampPath, stamp);
}

// Owns: a clone that is ready to build and test, with nothing but Node and npm at hand.
// Leaves to others: building and testing.
//
// 1. Only Node built-ins are imported: node_modules may be missing.
// 2. The stamp is written last and lies inside node_modules, so an interrupted install is repeated.
// 3. Only tests need a Redis: `--with-redis` looks for one, and installs it where that is possible without asking.
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

function runs(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** The package may start a service on its usual port; tests never use it: they start servers on ports of their own. */
function installRedis() {
  if (process.platform !== 'linux' || process.getuid() !== 0 || !runs('apt-get', ['--version'])) return;
  console.error('bootstrap: installing redis-server (apt-get)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) => spawnSync('apt-get', args, { stdio: ['ignore', 2, 2], env }).status === 0;
  const install = () => apt('install', '-y', '--no-install-recommends', 'redis-server');
  if (!install() && apt('update')) install();
}

function requireRedis() {
  const chosen = process.env.REDIS_SERVER_BIN;
  const isThere = () => runs(chosen ?? 'redis-server', ['--version']);
  if (isThere()) return;
  if (chosen === undefined) installRedis();
  if (isThere()) return;
  console.error(
    chosen === undefined
      ? 'bootstrap: the tests need redis-server (6.2 or newer): install it, or name its path in REDIS_SERVER_BIN'
      : 'bootstrap: REDIS_SERVER_BIN does not name a redis-server that runs',
  );
  process.exit(1);
}

requireNode();
if (process.argv.includes('--with-redis')) requireRedis();
const stamp = stampOf(`${root}package-lock.json`);
if (!existsSync(stampPath) || readFileSync(stampPath, 'utf8') !== stamp) {
  install();
  writeFileSync(stampPath, stamp);
}

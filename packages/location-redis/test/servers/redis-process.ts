/**
 * One redis-server of a test, on a free port of loopback, with its data in a folder of its own.
 *
 * Owns the process and the folder. Leaves what several servers are together to the deployments beside this file.
 *
 * 1. The server ends with the test process, however that ends: a shell holds it and waits for the end of its input, which
 *    the system closes even for a process that is killed.
 * 2. `stop` is a crash: nothing is saved that was not on disk.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './eventually.ts';

const binary = process.env['REDIS_SERVER_BIN'] ?? 'redis-server';
const keeper =
  '"$@" </dev/null >"$LOG" 2>&1 & server=$!; echo $server; cat >/dev/null; kill -KILL $server 2>/dev/null; wait';
const highestPort = 50_000; // a Cluster node also needs the port 10,000 above

export class RedisProcess {
  readonly port: number;
  readonly admin: Redis;
  readonly #folder: string;
  readonly #args: readonly string[];
  #shell: ChildProcess | undefined;
  #pid = 0;

  private constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#args = args;
    this.admin = new Redis({
      host: '127.0.0.1',
      port,
      lazyConnect: true,
      maxRetriesPerRequest: null,
      retryStrategy: () => 20,
      disconnectTimeout: 50,
    });
    this.admin.on('error', () => undefined); // it is there before its server and outlives it
  }

  /** @param args - beside port, folder and no persistence; `config` becomes a file in front of them, as Sentinel demands */
  static async start(args: readonly string[] = [], config?: string): Promise<RedisProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'zlink-redis-'));
    const port = await freePort();
    const common = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
    const own = [...common.slice(0, config === undefined ? undefined : 6), ...args];
    if (config !== undefined) {
      const path = join(folder, 'redis.conf');
      writeFileSync(path, config);
      own.unshift(path);
    }
    const server = new RedisProcess(port, folder, own);
    try {
      await server.start();
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  async start(): Promise<void> {
    const log = join(this.#folder, 'redis.log');
    const shell = spawn('sh', ['-c', keeper, 'sh', binary, ...this.#args], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, LOG: log },
    });
    this.#shell = shell;
    this.#pid = Number(await new Promise((resolve) => shell.stdout.once('data', resolve)));
    try {
      await eventually(async () => (await this.admin.ping()) === 'PONG', 'redis-server answers');
    } catch {
      const reason = readFileSync(log, 'utf8').trim();
      throw new Error(`${binary} does not run (REDIS_SERVER_BIN names another one): ${reason}`);
    }
  }

  /** Stops all of its work without closing anything, as a host that hangs. */
  pause(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }

  async stop(): Promise<void> {
    const shell = this.#shell;
    if (shell === undefined) return;
    this.#shell = undefined;
    const ended = new Promise((resolve) => shell.once('close', resolve));
    shell.stdin?.end();
    await ended;
  }

  /** The same port, an empty server. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async close(): Promise<void> {
    const { admin } = this;
    const gone = admin.status === 'wait' || admin.status === 'end' || admin.status === 'reconnecting';
    const ended = gone ? undefined : new Promise((resolve) => admin.once('end', resolve));
    admin.disconnect();
    await ended;
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    if (address !== null && typeof address === 'object' && address.port < highestPort) return address.port;
  }
}

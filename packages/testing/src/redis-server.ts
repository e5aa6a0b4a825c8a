/**
 * One redis-server of a test, on a free port of loopback, with its data in a folder of its own.
 *
 * Owns the process and the folder. Leaves work on the data to the clients of the test, and what several servers are together to who
 * starts them.
 *
 * 1. The server ends with the test process, however that ends: a shell holds it and kills it at the end of its input, which
 *    the system closes even for a process that is killed. The shell ends when the server has ended.
 * 2. `stop` is a crash: nothing is saved that was not on disk. A server that keeps its data has every write there before it
 *    answers.
 * 3. Ports and folder stay the same from one start to the next, and nobody gets the port in between.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@zlink/kernel/internal/time';
import { quietPort } from './internal/quiet-port.ts';

export interface RedisServerOptions {
  /** Of the command line, beside port and folder. */
  readonly args?: readonly string[];
  /** Becomes a file in front of the arguments, as Sentinel demands it; then nothing is said about persistence. */
  readonly config?: string;
  /** Whether data outlive `stop`; by default each start finds none. */
  readonly keepsData?: boolean;
}

export interface RedisServer {
  readonly port: number;
  /** `tcp://127.0.0.1:port`. */
  readonly address: string;
  /** `redis://127.0.0.1:port`. */
  readonly url: string;
  /** Starts it again after `stop`; resolves when it answers. */
  start(): Promise<void>;
  /** Ends it at once, as a crash would. */
  stop(): Promise<void>;
  /** Sends one command, words apart by blanks, and resolves with all that was answered, as the protocol has it. */
  command(line: string): Promise<string>;
  /** Removes what a stopped server has kept. */
  erase(): void;
  /** Stops all of its work without closing anything, as a machine that hangs. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its folder; no other start follows. */
  close(): Promise<void>;
}

/** 1. Input is kept as 3: a shell gives none to what it starts in the background. */
const keeper = `
  exec 3<&0
  "$@" </dev/null >"$LOG" 2>&1 3<&- & server=$!
  echo $server
  { cat <&3; kill -KILL $server; } >/dev/null 2>&1 &
  wait $server`;
/** Tells a hang from a start, also on a machine that has no time for it. */
const readyWithinMs = 60_000;
const askAgainAfterMs = 10;
const attempts = 5;

/**
 * Starts a server and resolves when it answers.
 *
 * Needs `redis-server` in the path, or its path in `REDIS_SERVER_BIN`, and a POSIX shell.
 *
 * @throws Error with the last words of a server that does not run
 */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  for (let attempt = 1; ; attempt++) {
    const server = new RedisServerProcess(await quietPort(), options);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.close();
      if (attempt === attempts || !/address already in use/i.test(String(error))) throw error; // somebody was faster
    }
  }
}

interface Running {
  readonly shell: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<void>;
}

class RedisServerProcess implements RedisServer {
  readonly port: number;
  readonly #folder = mkdtempSync(join(tmpdir(), 'zlink-redis-'));
  readonly #options: RedisServerOptions;
  #running: Running | undefined;

  constructor(port: number, options: RedisServerOptions) {
    this.port = port;
    this.#options = options;
  }

  get address(): string {
    return `tcp://127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const binary = process.env['REDIS_SERVER_BIN'] ?? 'redis-server';
    const log = join(this.#folder, 'redis.log');
    const shell = spawn('sh', ['-c', keeper, 'sh', binary, ...this.#commandLine()], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: { ...process.env, LOG: log },
    });
    const ended = new Promise<void>((resolve) => shell.once('close', () => resolve()));
    const pid = Number(await new Promise((resolve) => shell.stdout.once('data', resolve)));
    this.#running = { shell, pid, ended };
    const gone = new AbortController();
    void ended.then(() => gone.abort());
    if (await answers(this.port, gone.signal)) return;
    const reason = readFileSync(log, 'utf8').trim();
    throw new Error(`${binary} does not run (REDIS_SERVER_BIN names another one): ${reason}`);
  }

  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = undefined;
    running?.shell.stdin?.end();
    await running?.ended;
  }

  async command(line: string): Promise<string> {
    const answer = await tell(this.port, line, readyWithinMs);
    if (!answer.endsWith('\r\n')) throw new Error(`redis-server on port ${this.port} has not answered "${line}"`);
    return answer;
  }

  erase(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { mode: 0o700 });
  }

  pause(): void {
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#running !== undefined) process.kill(this.#running.pid, signal);
  }

  #commandLine(): readonly string[] {
    const { args = [], config, keepsData = false } = this.#options;
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder];
    if (config === undefined) {
      const persistence = keepsData ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no']; // 2
      return [...where, '--save', '', ...persistence, ...args];
    }
    const path = join(this.#folder, 'redis.conf');
    writeFileSync(path, config);
    return [path, ...where, ...args];
  }
}

/** Whether it says so before it has `gone` and within `readyWithinMs`; one that still loads its data does not. */
async function answers(port: number, gone: AbortSignal): Promise<boolean> {
  const giveUpAtMs = systemClock.nowMs() + readyWithinMs;
  while (!gone.aborted && systemClock.nowMs() < giveUpAtMs) {
    if ((await tell(port, 'PING', giveUpAtMs - systemClock.nowMs())) === '+PONG\r\n') return true;
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, askAgainAfterMs));
  }
  return false;
}

/** What was answered; nothing if nobody is there or the time is over. */
function tell(port: number, line: string, withinMs: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    // An inline command needs no client; the server answers what it has read before it minds the end of the input.
    const socket = connect(port, '127.0.0.1', () => socket.end(`${line}\r\n`)).setEncoding('latin1');
    const timer = systemClock.setTimer(() => socket.destroy(), withinMs);
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', () => undefined); // the close that follows says all there is to say
    socket.on('close', () => {
      systemClock.clearTimer(timer);
      resolve(answer);
    });
  });
}

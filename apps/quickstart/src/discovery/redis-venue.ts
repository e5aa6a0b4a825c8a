/**
 * The act with real processes, over a redis-server of its own.
 *
 * Owns that server: on a free port of loopback, with nothing kept on disk. Leaves its process to @zlink/testing, and those
 * of hosts to the demo.
 */
import { type RedisServer, startRedisServer } from '@zlink/testing';
import type { Stage } from '../act.ts';
import type { Child } from '../child.ts';
import type { CallerPlayer, HostPlayer, Role } from './players.ts';
import type {
  CallerCounts,
  CallerReport,
  CallerWish,
  Departure,
  HostCounts,
  HostReport,
  HostWish,
  Progress,
} from './reports.ts';
import { SightBoard } from './sight-board.ts';
import type { Venue } from './venue.ts';

const readyWithinMs = 15_000;
const doneWithinMs = 10_000;

export async function openRedisVenue(stage: Stage): Promise<Venue> {
  const server = await startRedisServer();
  stage.atEnd(() => server.close());
  return new RedisVenue(stage, server);
}

class RedisVenue implements Venue {
  readonly lines: readonly string[];
  readonly storeName = 'Redis';
  readonly whyNoKill = undefined;
  readonly outageText = 'its process stands still (SIGSTOP) and answers nobody';
  readonly #stage: Stage;
  readonly #server: RedisServer;

  constructor(stage: Stage, server: RedisServer) {
    this.#stage = stage;
    this.#server = server;
    this.lines = [
      `each a process of its own; all that they know is the address of Redis: ${server.url}`,
      '(a redis-server for this act alone, nothing is kept; REDIS_SERVER_BIN=none plays the act in one process without it)',
    ];
  }

  async startHost({ name, weight }: Role): Promise<HostPlayer> {
    const entry = new URL('./host-process.js', import.meta.url);
    const child = this.#stage.processes.start<HostReport>(`host ${name}`, entry, [
      name,
      String(weight),
      this.#server.url,
    ]);
    await child.expect('ready', readyWithinMs);
    return new ChildHost({ name, weight }, child);
  }

  async startCaller(name: string): Promise<CallerPlayer> {
    const entry = new URL('./caller-process.js', import.meta.url);
    const child = this.#stage.processes.start<CallerReport>(`host ${name}`, entry, [name, this.#server.url]);
    const player = new ChildCaller(child);
    await child.expect('ready', readyWithinMs);
    return player;
  }

  pauseStore(): void {
    this.#server.pause();
  }

  resumeStore(): void {
    this.#server.resume();
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

class ChildHost implements HostPlayer {
  readonly name: string;
  readonly weight: number;
  readonly #child: Child<HostReport>;

  constructor({ name, weight }: Role, child: Child<HostReport>) {
    this.name = name;
    this.weight = weight;
    this.#child = child;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async meet(count: number): Promise<void> {
    const met = this.#child.next('met', doneWithinMs);
    this.#child.tell<HostWish>({ kind: 'meet', count });
    await met;
  }

  async weigh(weight: number): Promise<void> {
    const weighed = this.#child.next('weighed', doneWithinMs);
    this.#child.tell<HostWish>({ kind: 'weigh', weight });
    await weighed;
  }

  async leave(): Promise<Departure> {
    this.#child.drain();
    const { outcome, counts } = await this.#child.expect('left', doneWithinMs);
    await this.#child.expectEnd(doneWithinMs);
    return { outcome, counts };
  }

  readonly kill = async (): Promise<HostCounts> => {
    this.#child.end('SIGKILL');
    await this.#child.ended;
    const counts = this.#child.latest('counts')?.counts;
    if (counts === undefined) throw new Error(`host ${this.name} never reported its counters`);
    return counts;
  };
}

class ChildCaller implements CallerPlayer {
  readonly board = new SightBoard();
  readonly #child: Child<CallerReport>;

  constructor(child: Child<CallerReport>) {
    this.#child = child;
    child.follow('sights', ({ sights }) => this.board.show(sights));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get progress(): Progress | undefined {
    return this.#child.latest('progress');
  }

  begin(): void {
    this.#child.tell<CallerWish>({ kind: 'begin' });
  }

  async counts(): Promise<CallerCounts> {
    const counted = this.#child.next('counted', doneWithinMs);
    this.#child.tell<CallerWish>({ kind: 'count' });
    return (await counted).counts;
  }

  async finish(): Promise<CallerCounts> {
    this.#child.ask('finish');
    return (await this.#child.expect('finished', doneWithinMs)).counts;
  }

  async leave(): Promise<string> {
    this.#child.drain();
    const { outcome } = await this.#child.expect('left', doneWithinMs);
    await this.#child.expectEnd(doneWithinMs);
    return outcome;
  }
}

/**
 * The stores and discovery over Redis, run by hand: what commits and reads cost, how long others take to see a change,
 * and what hosts at rest ask for.
 *
 * Owns the run from command line to exit code, and the Redis server. Leaves measuring to its parts.
 *
 * 1. Each part finds an empty server without load.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { UsageError } from '../command-line.ts';
import { readMachine, versionOf } from '../machine.ts';
import { machineLines } from '../table.ts';
import { type Delay, measureDelays, summarize } from './delays.ts';
import { type IdleReport, measureIdle } from './idle.ts';
import { delayLines, idleLines, loadLines } from './lines.ts';
import { commitContests, type LoadReport, measureLoad, readContests } from './load-contests.ts';
import { parseOrder, type StoreOrder } from './order.ts';

const sliceMs = 500;
const warmUpMs = 300;

interface Findings {
  readonly load: readonly LoadReport[];
  readonly delays: readonly Delay[];
  readonly idle: IdleReport | undefined;
}

const print = (lines: readonly string[]): void => {
  for (const line of lines) console.log(line);
};

async function run(order: StoreOrder): Promise<void> {
  const redis = await startRedisServer();
  try {
    const takenAt = new Date().toISOString();
    const machine = readMachine();
    const versions = { redis: versionIn(await redis.command('INFO server')), ioredis: versionOf('ioredis') };
    const loadBefore = loadavg()[0]!; // always three figures
    const facts = `redis ${versions.redis}, ioredis ${versions.ioredis}, load before the run ${loadBefore.toFixed(2)}`;
    print([...machineLines(machine), facts, '']);
    const findings = await measure(order, redis);
    if (order.json !== undefined) {
      const report = { takenAt, machine, versions, loadBefore, order, ...findings };
      writeFileSync(order.json, `${JSON.stringify(report, undefined, 2)}\n`);
    }
  } finally {
    await redis.close();
  }
}

async function measure({ parts, rounds, idle }: StoreOrder, redis: RedisServer): Promise<Findings> {
  const contests = [
    ...(parts.includes('commits') ? commitContests : []),
    ...(parts.includes('reads') ? readContests : []),
  ];
  const conditions = { rounds, warmUpMs, sliceMs };
  const load = await measureLoad(contests, redis, conditions, (report) => print(loadLines(report)));
  await redis.command('FLUSHALL'); // 1
  const delays = parts.includes('delays') ? await measureDelays(redis.url, rounds) : [];
  if (delays.length > 0) print(delayLines(delays.map(summarize)));
  await redis.command('FLUSHALL');
  const idleReport = parts.includes('idle') ? await measureIdle(redis, idle) : undefined;
  if (idleReport !== undefined) print(idleLines(idleReport));
  return { load, delays, idle: idleReport };
}

function versionIn(info: string): string {
  return /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
}

try {
  await run(parseOrder(process.argv.slice(2)));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
  process.exitCode = 2;
}

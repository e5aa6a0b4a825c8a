/**
 * How many commits and reads a store takes, beside plain commands of Redis in the same run.
 *
 * Owns who is compared with whom. Leaves the work to processes that load a store, one for each kind of end.
 *
 * 1. Every measurement finds an empty server: what earlier ones wrote slows nobody down.
 * 2. A plain command is the yardstick: machine, loopback and driver are the same, the work in the server is the least.
 */
import { fileURLToPath } from 'node:url';
import type { RedisServer } from '@zlink/testing';
import { median, type RatioSpread, ratioSpread } from '../figures.ts';
import { interleave } from '../interleave.ts';
import { Peer } from '../peer.ts';
import type { LoadSample } from './drive.ts';
import type { StoreWork } from './ends.ts';
import type { LoadCommands } from './load-commands.ts';
import { commandCounts } from './server-counts.ts';

export interface LoadContest {
  readonly name: string;
  readonly inFlight: number;
  readonly contestants: readonly LoadContestant[];
}

interface LoadContestant {
  readonly name: string;
  readonly work: StoreWork;
  readonly in: 'redis' | 'memory';
  /** The command whose time in the server is shown. */
  readonly command?: string;
  readonly isYardstick?: boolean;
}

export interface LoadConditions {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly sliceMs: number;
}

/** One measurement. */
export interface LoadFigures extends LoadSample {
  /** Mean time of one operation in Redis, without its network. */
  readonly serverUs: number | undefined;
}

export interface LoadReport {
  readonly name: string;
  readonly inFlight: number;
  readonly rows: readonly LoadRow[];
  readonly rounds: Readonly<Record<string, readonly LoadFigures[]>>;
}

/** Medians of all rounds. */
export interface LoadRow extends LoadFigures {
  readonly name: string;
  /** Operations per second, over each yardstick but itself. */
  readonly ratios: Readonly<Record<string, RatioSpread>>;
}

const entry = fileURLToPath(new URL('./load-main.js', import.meta.url));

const plainSet = { name: 'SET', work: 'set', in: 'redis', command: 'set', isYardstick: true } as const;
const plainGet = { name: 'GET', work: 'get', in: 'redis', command: 'get', isYardstick: true } as const;
const plainScript = {
  name: 'empty EVALSHA',
  work: 'emptyScript',
  in: 'redis',
  command: 'evalsha',
  isYardstick: true,
} as const;

export const commitContests: readonly LoadContest[] = [1, 16, 64].map((inFlight) => ({
  name: `reservations, ${inFlight} in flight`,
  inFlight,
  contestants: [
    { name: 'Redis store', work: 'reserve', in: 'redis', command: 'evalsha' },
    { name: 'memory store', work: 'reserve', in: 'memory' },
    plainSet,
    plainScript,
  ],
}));

export const readContests: readonly LoadContest[] = (
  [
    ['read1', 'reads of 1 record'],
    ['read3', 'reads of 2 records and a lease'],
    ['read64', 'reads of 64 records'],
  ] as const
).map(([work, name]) => ({
  name: `${name}, 1 in flight`,
  inFlight: 1,
  contestants: [
    { name: 'Redis store', work, in: 'redis', command: 'evalsha' },
    { name: 'memory store', work, in: 'memory' },
    plainGet,
  ],
}));

export async function measureLoad(
  contests: readonly LoadContest[],
  redis: RedisServer,
  conditions: LoadConditions,
  onReport: (report: LoadReport) => void,
): Promise<readonly LoadReport[]> {
  const peers = new Map<string, Peer<LoadCommands>>();
  const peerOf = ({ name }: LoadContestant): Peer<LoadCommands> => {
    let peer = peers.get(name);
    if (peer === undefined) peers.set(name, (peer = new Peer<LoadCommands>(name, entry)));
    return peer;
  };
  const reports: LoadReport[] = [];
  try {
    for (const contest of contests) {
      const contestants = contest.contestants.map((contestant) => ({
        name: contestant.name,
        measure: () => measureOne(peerOf(contestant), contestant, contest.inFlight, redis, conditions),
      }));
      const report = loadReport(contest, await interleave(contestants, conditions.rounds));
      reports.push(report);
      onReport(report);
    }
  } finally {
    await Promise.all([...peers.values()].map((peer) => peer.end()));
  }
  return reports;
}

export function loadReport(
  { name, inFlight, contestants }: LoadContest,
  rounds: ReadonlyMap<string, readonly LoadFigures[]>,
): LoadReport {
  const roundsOf = (contestant: string): readonly LoadFigures[] => {
    const found = rounds.get(contestant);
    if (found === undefined) throw new Error(`"${contestant}" was not measured`);
    return found;
  };
  const rates = (contestant: string): readonly number[] => roundsOf(contestant).map(({ perSecond }) => perSecond);
  const yardsticks = contestants.filter(({ isYardstick }) => isYardstick).map((yardstick) => yardstick.name);
  const rows = contestants.map((contestant): LoadRow => {
    const others = yardsticks.filter((other) => other !== contestant.name);
    return {
      name: contestant.name,
      ...medians(roundsOf(contestant.name)),
      ratios: Object.fromEntries(others.map((other) => [other, ratioSpread(rates(contestant.name), rates(other))])),
    };
  });
  return { name, inFlight, rows, rounds: Object.fromEntries(rounds) };
}

function medians(rounds: readonly LoadFigures[]): LoadFigures {
  const of = (figure: 'perSecond' | 'p50Us' | 'p99Us' | 'processorShare'): number =>
    median(rounds.map((round) => round[figure]));
  const serverUs = rounds.flatMap((round) => (round.serverUs === undefined ? [] : [round.serverUs]));
  return {
    perSecond: of('perSecond'),
    p50Us: of('p50Us'),
    p99Us: of('p99Us'),
    processorShare: of('processorShare'),
    serverUs: serverUs.length === 0 ? undefined : median(serverUs),
  };
}

async function measureOne(
  peer: Peer<LoadCommands>,
  { work, in: place, command }: LoadContestant,
  inFlight: number,
  redis: RedisServer,
  { warmUpMs, sliceMs }: LoadConditions,
): Promise<LoadFigures> {
  await redis.command('FLUSHALL'); // 1
  await peer.ask('open', { work, url: place === 'redis' ? redis.url : undefined });
  await peer.ask('drive', { inFlight, forMs: warmUpMs });
  await redis.command('CONFIG RESETSTAT');
  const sample = await peer.ask('drive', { inFlight, forMs: sliceMs });
  const count = commandCounts(await redis.command('INFO commandstats')).find(({ name }) => name === command);
  await peer.ask('leave', undefined);
  return { ...sample, serverUs: count === undefined ? undefined : count.totalUs / count.calls };
}

/**
 * Endurance: hours of mixed load at about half of what the machine can do, run by hand.
 *
 * Owns the run: finding the capacity, pacing the load, sampling both processes, the verdict.
 *
 * 1. Samples are taken in a lull, when all answers have come, and follow a full collection: they show what is kept, not
 *    what is under way or waits to be collected.
 * 2. Every message must have arrived: a run that lost one has failed, however level its memory was.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Drift, judgeDrift, type SeriesPoint, type Tolerance } from './drift.ts';
import { Duo } from './duo.ts';
import { readMachine } from './machine.ts';
import type { PeerSample } from './peer-commands.ts';
import { machineLines } from './table.ts';

const usage = `endurance [--minutes N] [--side framework|link] [--load PERCENT] [--json FILE]

  --minutes N      length of the run, default 30
  --side NAME      framework (default) or link
  --load PERCENT   share of the measured capacity, default 50
  --json FILE      writes all samples and the verdict`;

const bodyBytes = [64, 1_024, 16_384];
const callers = 100;
const calibrationMs = 3_000;
const sampleCount = 120;
const minSampleMs = 1_000;
const arrivalGraceMs = 5_000;
const mebibyte = 1_048_576;

const watched = {
  rssBytes: { share: 0.1, least: 16 * mebibyte },
  heapBytes: { share: 0.05, least: mebibyte },
  heldBytes: { share: 0.05, least: 2 * mebibyte },
  descriptorCount: { share: 0, least: 0.5 },
} satisfies Partial<Record<keyof PeerSample, Tolerance>>;

type Watched = keyof typeof watched;

interface Row {
  readonly atMs: number;
  readonly client: PeerSample;
  readonly server: PeerSample;
}

interface Finding extends Drift {
  readonly process: 'client' | 'server';
  readonly what: Watched;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function endure(duo: Duo, minutes: number, loadPercent: number) {
  await duo.warmUp(calibrationMs);
  const capacityPerSecond = await duo.measure(calibrationMs);
  const operationsPerSecond = Math.round((capacityPerSecond * loadPercent) / 100);
  console.log(`capacity ${Math.round(capacityPerSecond)}/s, load ${operationsPerSecond}/s for ${minutes} minutes`);
  const seenBefore = (await duo.server.ask('sample', undefined)).seenCount;
  const totalMs = minutes * 60_000;
  const sampleMs = Math.max(minSampleMs, totalMs / sampleCount);
  const rows: Row[] = [];
  let sentCount = 0;
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < totalMs) {
    await duo.client.ask('pace', { operationsPerSecond });
    await pause(sampleMs);
    sentCount += (await duo.client.ask('rest', undefined)).sentCount; // 1
    const [client, server] = await Promise.all([
      duo.client.ask('sample', undefined),
      duo.server.ask('sample', undefined),
    ]);
    const row: Row = { atMs: performance.now() - startedAtMs, client, server };
    rows.push(row);
    console.log(rowLine(row, seenBefore));
  }
  const lostCount = sentCount - (await arrivedCount(duo, seenBefore, sentCount));
  return { capacityPerSecond, operationsPerSecond, sentCount, lostCount, rows };
}

/** Messages that have arrived, once all have or none has come for a while. */
async function arrivedCount(duo: Duo, seenBefore: number, sentCount: number): Promise<number> {
  const giveUpAtMs = performance.now() + arrivalGraceMs;
  for (;;) {
    const arrived = (await duo.server.ask('sample', undefined)).seenCount - seenBefore;
    if (arrived >= sentCount || performance.now() > giveUpAtMs) return arrived;
    await pause(100);
  }
}

function findings(rows: readonly Row[]): readonly Finding[] {
  return (['client', 'server'] as const).flatMap((process) =>
    (Object.keys(watched) as Watched[]).flatMap((what) => {
      const series = rows.flatMap((row): SeriesPoint[] => {
        const value = row[process][what];
        return value === undefined ? [] : [{ atMs: row.atMs, value }];
      });
      return series.length === 0 ? [] : [{ process, what, ...judgeDrift(series, watched[what]) }];
    }),
  );
}

function rowLine({ atMs, client, server }: Row, seenBefore: number): string {
  const part = (name: string, { rssBytes, heapBytes, heldBytes, descriptorCount }: PeerSample): string =>
    `${name} rss ${mib(rssBytes)} heap ${mib(heapBytes)} held ${mib(heldBytes)} fds ${descriptorCount ?? '?'}`;
  const arrived = server.seenCount - seenBefore;
  return `${(atMs / 1_000).toFixed(0).padStart(6)} s  ${part('client', client)} | ${part('server', server)} | ${arrived}`;
}

function findingLine({ process, what, perHour, growth, mean, verdict }: Finding): string {
  const format = what === 'descriptorCount' ? (value: number) => value.toFixed(1) : mib;
  return `${process} ${what}: mean ${format(mean)}, ${format(perHour)} per hour, ${format(growth)} in this run: ${verdict}`;
}

function mib(bytes: number): string {
  return `${(bytes / mebibyte).toFixed(1)} MiB`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '30' },
      side: { type: 'string', default: 'framework' },
      load: { type: 'string', default: '50' },
      json: { type: 'string' },
    },
  });
  const minutes = Number(values.minutes);
  const loadPercent = Number(values.load);
  const { side } = values;
  if (!(minutes > 0) || !(loadPercent > 0) || !['framework', 'link'].includes(side)) throw new Error(usage);
  const machine = readMachine();
  for (const line of machineLines(machine)) console.log(line);
  const duo = await Duo.open(side, { kind: 'json', bodyBytes }, { kind: 'mixed', callers });
  try {
    const run = await endure(duo, minutes, loadPercent);
    const found = findings(run.rows);
    for (const finding of found) console.log(findingLine(finding));
    const isLevel = found.every(({ verdict }) => verdict === 'level');
    const verdict = isLevel && run.lostCount === 0 ? 'steady' : 'not steady';
    console.log(`${run.sentCount} messages sent, ${run.lostCount} lost\n${verdict}`);
    if (values.json !== undefined) {
      const report = { machine, side, minutes, loadPercent, ...run, findings: found, verdict };
      writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
    }
    if (verdict !== 'steady') process.exitCode = 1;
  } finally {
    await duo.end();
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});

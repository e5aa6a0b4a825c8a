/**
 * A full mesh on one machine, run by hand: how long it takes until everybody is connected, and what it costs at rest.
 *
 * Owns the run. Leaves nodes to the processes that hold them.
 *
 * 1. Cost at rest is a difference: the same processes are looked at before their nodes know of each other, and after.
 * 2. A link counts only if it works: every node asks every other one, and each must answer.
 */
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { machineNowMs } from '../machine-clock.ts';
import { readMachine } from '../machine.ts';
import { Peer } from '../peer.ts';
import { machineLines } from '../table.ts';
import type { FullMeshCommands, NodeAddress, RestSample } from './commands.ts';
import { type Dialling, endpointsByRid, linkCount, shares } from './plan.ts';

const usage = `full-mesh [--nodes N] [--processes N] [--dial both|once] [--rest SECONDS] [--json FILE]

  --nodes N        nodes of the mesh, default 50
  --processes N    processes that hold them, default one for each node
  --dial WHO       both (default): every node is told of all others; once: each pair is dialled from one side
  --rest SECONDS   how long processor time at rest is taken, default 20
  --json FILE      writes all figures`;

const entry = fileURLToPath(new URL('./peer-main.js', import.meta.url));
/** From the last event to the first look at a mesh at rest: past timers of the beginning. */
const settleMs = 5_000;
const kibibyte = 1_024;

type Holder = Peer<FullMeshCommands>;

interface Order {
  readonly nodeCount: number;
  readonly processCount: number;
  readonly dialling: Dialling;
  readonly restMs: number;
  readonly json: string | undefined;
}

/** All processes together at rest. */
interface Rest {
  readonly rssBytes: number;
  readonly heldBytes: number;
  readonly descriptorCount: number;
  /** Share of one processor. */
  readonly processorShare: number;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function run(order: Order) {
  const { nodeCount, processCount, dialling, restMs } = order;
  const holders = Array.from(
    { length: processCount },
    (_, index) => new Peer<FullMeshCommands>(`process ${index}`, entry),
  );
  try {
    const counts = shares(nodeCount, processCount);
    const opened = await Promise.all(
      holders.map((holder, index) => holder.ask('openNodes', { nodeCount: counts[index]! })),
    );
    const nodes = opened.flatMap((holder) => holder.nodes);
    const apart = await lookAtRest(holders, restMs); // 1
    const { readyMs, usedMs } = await joinAll(holders, nodes, dialling);
    const { answeredCount, askMs } = await askAll(holders, nodes); // 2
    const joined = await lookAtRest(holders, restMs);
    return { readyMs, usedMs, answeredCount, askMs, apart, joined };
  } finally {
    await Promise.all(holders.map((holder) => holder.end()));
  }
}

async function joinAll(holders: readonly Holder[], nodes: readonly NodeAddress[], dialling: Dialling) {
  const before = await usedBy(holders);
  const plan = { endpointsByRid: endpointsByRid(nodes, dialling), readyCount: nodes.length - 1 };
  const startedAtMs = machineNowMs();
  const joins = await Promise.all(holders.map((holder) => holder.ask('join', plan)));
  const readyMs = Math.max(...joins.map(({ readyAtMs }) => readyAtMs)) - startedAtMs;
  return { readyMs, usedMs: (await usedBy(holders)) - before };
}

/** Processor time of all processes so far. */
async function usedBy(holders: readonly Holder[]): Promise<number> {
  const times = await Promise.all(holders.map((holder) => holder.ask('processorTime', undefined)));
  return sum(times.map(({ usedMs }) => usedMs));
}

async function askAll(holders: readonly Holder[], nodes: readonly NodeAddress[]) {
  const rids = nodes.map(({ rid }) => rid);
  const startedAtMs = machineNowMs();
  const asked = await Promise.all(holders.map((holder) => holder.ask('askAll', { rids })));
  const answeredCount = asked.reduce((sum, holder) => sum + holder.answeredCount, 0);
  return { answeredCount, askMs: machineNowMs() - startedAtMs };
}

/** Processor time first: taking the other samples collects garbage. */
async function lookAtRest(holders: readonly Holder[], restMs: number): Promise<Rest> {
  await pause(settleMs);
  const before = await Promise.all(holders.map((holder) => holder.ask('processorTime', undefined)));
  await pause(restMs);
  const after = await Promise.all(holders.map((holder) => holder.ask('processorTime', undefined)));
  const samples = await Promise.all(holders.map((holder) => holder.ask('sample', undefined)));
  const processorShares = after.map(({ usedMs, atMs }, index) => {
    const from = before[index]!;
    return (usedMs - from.usedMs) / (atMs - from.atMs);
  });
  const total = (valueOf: (sample: RestSample) => number) => sum(samples.map(valueOf));
  return {
    rssBytes: total(({ rssBytes }) => rssBytes),
    heldBytes: total(({ heldBytes }) => heldBytes),
    descriptorCount: total(({ descriptorCount }) => descriptorCount ?? NaN),
    processorShare: sum(processorShares),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function lines({ nodeCount, processCount, dialling }: Order, found: Awaited<ReturnType<typeof run>>): string[] {
  const { readyMs, usedMs, answeredCount, askMs, apart, joined } = found;
  const endCount = 2 * linkCount(nodeCount);
  const percent = (share: number): string => `${((share / nodeCount) * 100).toFixed(2)} %`;
  const perEnd = (bytes: number): string => `${(bytes / endCount / kibibyte).toFixed(1)} KiB`;
  const perNode = (bytes: number): string => `${(bytes / nodeCount / kibibyte / kibibyte).toFixed(1)} MiB`;
  const descriptors = (joined.descriptorCount - apart.descriptorCount) / endCount;
  const who = dialling === 'both' ? 'every node is told of all others' : 'each pair is dialled from one side';
  return [
    `${nodeCount} nodes in ${processCount} processes, ${linkCount(nodeCount)} links; ${who}`,
    `all links ready after     ${Math.round(readyMs)} ms, ${Math.round(usedMs)} ms of processor time in all`,
    `every node asked all      ${answeredCount} requests answered in ${Math.round(askMs)} ms`,
    `processor time at rest    ${percent(joined.processorShare)} of one processor per node, ${percent(apart.processorShare)} before`,
    `memory per end of a link  ${perEnd(joined.rssBytes - apart.rssBytes)} resident, ${perEnd(joined.heldBytes - apart.heldBytes)} held by JavaScript`,
    `memory per node           ${perNode(joined.rssBytes)} resident, ${perNode(apart.rssBytes)} before`,
    `descriptors per end       ${descriptors.toFixed(1)}`,
  ];
}

function parseOrder(): Order {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '50' },
      processes: { type: 'string' },
      dial: { type: 'string', default: 'both' },
      rest: { type: 'string', default: '20' },
      json: { type: 'string' },
    },
  });
  const nodeCount = Number(values.nodes);
  const processCount = Number(values.processes ?? nodeCount);
  const restMs = Number(values.rest) * 1_000;
  const dialling = values.dial;
  const isWhole = Number.isInteger(nodeCount) && Number.isInteger(processCount);
  if (!isWhole || nodeCount < 2 || processCount < 1 || processCount > nodeCount || !(restMs > 0))
    throw new Error(usage);
  if (dialling !== 'both' && dialling !== 'once') throw new Error(usage);
  return { nodeCount, processCount, dialling, restMs, json: values.json };
}

async function main(): Promise<void> {
  const order = parseOrder();
  const machine = readMachine();
  const loadBefore = loadavg()[0]!; // always three figures
  for (const line of machineLines(machine)) console.log(line);
  console.log(`load before the run ${loadBefore.toFixed(2)}`);
  const found = await run(order);
  for (const line of lines(order, found)) console.log(line);
  if (order.json !== undefined) {
    writeFileSync(order.json, `${JSON.stringify({ machine, loadBefore, order, ...found }, undefined, 2)}\n`);
  }
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
});

/** What hosts that do nothing cost: commands of Redis, connections, memory. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import type { FaultIdleHosts } from '../fixtures/fault-idle-hosts.ts';
import { readDoc } from '../doc-programs.ts';
import { endChildren, type FaultChild, startChild } from '../faults/fault-child.ts';
import { eventually } from './eventually.ts';
import { StoreView } from './store-view.ts';
import { establishedTo } from './tcp-links.ts';

jest.setTimeout(300_000);

const COUNTED_MS = 10_000;
/** What clients send; the others are commands that scripts run inside of Redis. */
const SENT = ['evalsha', 'eval', 'script|load', 'info', 'ping', 'wait', 'hello', 'auth', 'select', 'client|setinfo'];
/** Hundreds of looks, by each host. */
const FAST = { pollingIntervalMs: 10, ownerLeaseRenewIntervalMs: 50 };
const SCRIPTS = 2_000;
/** Less than what a call leaves behind if somebody keeps it. */
const LEAK_BYTES = 250;
/** What is kept grows each time; what the engine makes for itself, at one time or another, does not. */
const ATTEMPTS = 5;

let redis: RedisServer;
let view: StoreView;
let hosts: FaultChild<FaultIdleHosts>;

beforeEach(async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
  hosts = await startChild<FaultIdleHosts>('idle-hosts', { flags: ['--expose-gc'] });
});

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

/** By name, since the counts were reset. */
async function commandCounts(): Promise<ReadonlyMap<string, number>> {
  const stats = await redis.command('INFO commandstats');
  const found = stats.matchAll(/cmdstat_([\w|-]+):calls=(\d+)/g);
  return new Map([...found].map(([, name = '', calls]) => [name, Number(calls)]));
}

/** Resolves with how many scripts have run, when there are so many from now on. */
async function looks(count: number): Promise<number> {
  let scripts = 0;
  const areDone = async (): Promise<boolean> => (scripts = (await commandCounts()).get('evalsha') ?? 0) >= count;
  await redis.command('CONFIG RESETSTAT');
  await eventually(areDone, `${count} scripts have run`);
  return scripts;
}

async function end(): Promise<void> {
  await hosts.ask('shutdown');
  expect(await hosts.ended).toEqual({ code: 0, signal: null });
  expect(await view.traces()).toEqual([]);
}

test('[LOC-061] [MESH-003] thirty idle hosts ask Redis as often as docs/discovery.md says, and have the links that they need', async () => {
  const documented = Number(/sends Redis about (\d+) short scripts a minute/.exec(readDoc('discovery.md'))?.[1]);
  const [nodes, servers, clients] = [10, 4, 16];
  const links = (nodes * (nodes - 1)) / 2 + servers * clients;
  await hosts.ask('start', { url: redis.url, nodes, servers, clients });
  const endpoints = await hosts.ask('endpoints');
  expect(endpoints).toHaveLength(nodes + servers);
  const areThere = () => Promise.resolve((establishedTo(endpoints) ?? links) === links);
  await eventually(areThere, `there are ${links} links`); // of two that a pair made, one is gone soon

  await redis.command('CONFIG RESETSTAT');
  await rest(COUNTED_MS);
  const counts = await commandCounts();
  const sent = SENT.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
  const perHostAndMinute = (sent * 60_000) / COUNTED_MS / (nodes + servers + clients);
  expect(perHostAndMinute).toBeGreaterThan(documented / 2); // a busy machine is late
  expect(perHostAndMinute).toBeLessThan(documented + 10);
  // A link that a busy machine has let go is made anew, and its old connection is gone soon.
  await eventually(areThere, `there are ${links} links`);
  await end();
});

test('[LOC-061] hosts that find nothing new keep their size, however often they look', async () => {
  await hosts.ask('start', { url: redis.url, nodes: 4, servers: 2, clients: 4, location: FAST });
  await looks(SCRIPTS / 2); // by then the engine has seen all of the code
  let bytesPerScript = Infinity;
  let before = await hosts.ask('heapBytes');
  for (let attempt = 1; attempt <= ATTEMPTS && bytesPerScript >= LEAK_BYTES; attempt++) {
    const scripts = await looks(SCRIPTS);
    const after = await hosts.ask('heapBytes');
    bytesPerScript = (after - before) / scripts;
    before = after;
  }
  expect(bytesPerScript).toBeLessThan(LEAK_BYTES);
  await end();
});

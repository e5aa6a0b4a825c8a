/** Processes that serve under one identity, as copies of one deployment do. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import type { AskEnd } from '../fixtures/fault-store-host.ts';
import { eventually } from './eventually.ts';
import { endHosts, SERVERS, startHost, startProcess } from './store-hosts.ts';
import { StoreView } from './store-view.ts';

jest.setTimeout(120_000);

const SAMPLE_MS = 20;
const RID = 'play-1';
const location = {
  ownerLeaseTtlMs: 4_000,
  ownerLeaseRenewIntervalMs: 500,
  ownerLeaseRenewTimeoutMs: 500,
  ownerLeaseFencingMarginMs: 500,
  pollingIntervalMs: 200,
};
/** A lease and 2 s, and what a busy machine adds. */
const READY_WITHIN_MS = location.ownerLeaseTtlMs + 2_000 + 10_000;

let redis: RedisServer;
let view: StoreView;

beforeEach(async () => {
  redis = await startRedisServer();
  view = await StoreView.open(redis.url, 'game');
});

afterEach(async () => {
  await endChildren();
  await view.close();
  await redis.close();
});

/** Names, each time another one answers. */
function changes(ends: readonly AskEnd[]): readonly (string | undefined)[] {
  const names = ends.filter(({ kind }) => kind === 'ok').map(({ by }) => by);
  return names.filter((name, at) => name !== names[at - 1]);
}

test('[C02] [CS-013] of processes with one identity every caller goes over to the one that came last, once and for good, and no call fails', async () => {
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const options = (name: string) => ({ name, store, location, serves: { routingId: RID } });
  const callers = await Promise.all(['one', 'two'].map((name) => startHost({ name, store, location, calls: true })));
  const first = await startHost(options('first'));
  await Promise.all(callers.map((caller) => caller.ask('serversReady', 1)));
  const samples: AskEnd[][] = callers.map(() => []);
  let isOver = false;
  const sampling = callers.map(async (caller, at) => {
    while (!isOver) {
      samples[at]!.push(await caller.ask('ask', SERVERS));
      await rest(SAMPLE_MS);
    }
  });
  /** Both callers have asked so often since, and only this one has answered. */
  const answers = (name: string) =>
    eventually(
      () => Promise.resolve(samples.every((own) => own.length > 25 && own.slice(-25).every(({ by }) => by === name))),
      `"${name}" answers`,
    );
  await answers('first');

  const second = await startHost(options('second'));
  await answers('second');
  expect(samples.flat().map(({ kind }) => kind)).toEqual(samples.flat().map(() => 'ok'));
  const [generation] = (await view.published()).map((row) => row.generation);

  await second.kill();
  const killedAtMs = performance.now();
  const third = await startProcess();
  await third.ask('start', options('third'));
  await answers('third');
  expect(performance.now() - killedAtMs).toBeLessThan(READY_WITHIN_MS);
  const published = await view.published();
  expect(published).toMatchObject([{ rid: RID }]);
  expect(published[0]!.generation).not.toBe(generation);

  isOver = true;
  await Promise.all(sampling);
  for (const own of samples) expect(changes(own)).toEqual(['first', 'second', 'third']);
  await endHosts([third, first, ...callers]);
});

/** Processes that serve under one identity, as copies of one deployment do. */
import { setTimeout as rest } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type RedisServer, startRedisServer } from '@zlink/testing';
import { endChildren } from '../faults/fault-child.ts';
import type { AskEnd, CallKind } from '../fixtures/fault-store-host.ts';
import { eventually } from './eventually.ts';
import { endHosts, reaches, SERVERS, startHost, startProcess, type StoreHost } from './store-hosts.ts';
import { type Published, StoreView } from './store-view.ts';

jest.setTimeout(120_000);

const SAMPLE_MS = 20;
const IN_A_ROW = 25;
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

/** What stands in the store under the identity. */
async function standing(): Promise<Published> {
  const found = (await view.published()).filter(({ rid }) => rid === RID);
  expect(found).toHaveLength(1);
  return found[0]!;
}

/** Callers that ask all the time. */
class Samples {
  readonly #ends: AskEnd[][];
  readonly #sampling: Promise<unknown>;
  #isOver = false;

  constructor(callers: readonly StoreHost[], kind: CallKind) {
    this.#ends = callers.map(() => []);
    this.#sampling = Promise.all(callers.map((caller, at) => this.#sample(caller, kind, this.#ends[at]!)));
  }

  /** All that have failed. */
  get failures(): readonly AskEnd[] {
    return this.#ends.flat().filter(({ kind }) => kind !== 'ok');
  }

  /** Resolves when every caller has asked so often in a row, and only this one has answered. */
  answers(name: string): Promise<number> {
    const isAlone = (own: readonly AskEnd[]): boolean =>
      own.length > IN_A_ROW && own.slice(-IN_A_ROW).every(({ by }) => by === name);
    return eventually(() => Promise.resolve(this.#ends.every(isAlone)), `"${name}" answers`);
  }

  /** Names by caller, each time another one answers. */
  async end(): Promise<readonly (readonly (string | undefined)[])[]> {
    this.#isOver = true;
    await this.#sampling;
    return this.#ends.map((own) => {
      const names = own.filter(({ kind }) => kind === 'ok').map(({ by }) => by);
      return names.filter((name, at) => name !== names[at - 1]);
    });
  }

  async #sample(caller: StoreHost, kind: CallKind, ends: AskEnd[]): Promise<void> {
    while (!this.#isOver) {
      ends.push(await caller.ask('ask', kind));
      await rest(SAMPLE_MS);
    }
  }
}

test('[C02] [CS-013] of processes with one identity every caller goes over to the one that came last, once and for good, and no call fails', async () => {
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const options = (name: string) => ({ name, store, location, serves: { routingId: RID } });
  const callers = await Promise.all(['one', 'two'].map((name) => startHost({ name, store, location, calls: true })));
  const first = await startHost(options('first'));
  await Promise.all(callers.map((caller) => caller.ask('serversReady', 1)));
  const samples = new Samples(callers, SERVERS);
  await samples.answers('first');

  const second = await startHost(options('second'));
  await samples.answers('second');
  expect(samples.failures).toEqual([]);
  const { generation } = await standing();

  await second.kill();
  const killedAtMs = performance.now();
  const third = await startProcess();
  await third.ask('start', options('third'));
  await samples.answers('third');
  expect(performance.now() - killedAtMs).toBeLessThan(READY_WITHIN_MS);
  expect((await standing()).generation).not.toBe(generation);

  for (const names of await samples.end()) expect(names).toEqual(['first', 'second', 'third']);
  await endHosts([third, first, ...callers]);
});

test('[C02] [NET-003] hosts of one description are nodes with routing ids of their own, and who starts again waits for nobody', async () => {
  const store = { connection: { url: redis.url }, keyPrefix: 'game' };
  const start = (name: string) => startHost({ name, store, location, mesh: 'server' });
  const caller = await startHost({ name: 'caller', store, location, mesh: 'client' });
  const [first, second] = await Promise.all([start('first'), start('second')]);
  await caller.ask('peersReady', 2);
  await first.kill();
  const third = await start('third');
  await caller.ask('peersReady', 2);
  const rids = await Promise.all([second, third].map((host) => host.ask('meshRid')));
  for (const [at, name] of ['second', 'third'].entries())
    await reaches(caller, { verb: 'request', to: { rid: rids[at]! } }, name);
  expect((await view.published()).filter(({ rid }) => rids.includes(rid))).toHaveLength(2);
  await endHosts([second, third, caller]);
});

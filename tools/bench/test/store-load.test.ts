import { expect, test } from '@jest/globals';
import {
  createMemoryLocationStore,
  createMemoryStoreBackend,
  type LocationStore,
  type StoreBatch,
} from '@zlink/kernel/location';
import { startRedisServer } from '@zlink/testing';
import { drive, percentile } from '../src/store/drive.ts';
import type { StoreWork } from '../src/store/ends.ts';
import { commitContests, type LoadFigures, loadReport, readContests } from '../src/store/load-contests.ts';
import { LoadStage } from '../src/store/load-stage.ts';
import { authorityOf, prepareReservations } from '../src/store/reservations.ts';

const figures = (perSecond: number, serverUs?: number): LoadFigures => ({
  perSecond,
  p50Us: 1,
  p99Us: 2,
  processorShare: 0.5,
  serverUs,
});

async function withMemoryStore(run: (store: LocationStore) => Promise<void>): Promise<void> {
  const store = createMemoryLocationStore(createMemoryStoreBackend());
  await store.open();
  await run(store);
  await store.dispose();
}

function withOtherVersion(batch: StoreBatch): StoreBatch {
  const conditions = batch.conditions.map((condition) =>
    condition.kind === 'version' ? { ...condition, version: condition.version + 1n } : condition,
  );
  return { ...batch, conditions };
}

test('[REDIS-006] a percentile is the smallest value that the share does not exceed', () => {
  const values = Array.from({ length: 200 }, (_, index) => index + 1);
  expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 100, 198, 200]);
  expect(percentile([7], 0.5)).toBe(7);
  expect(percentile([], 0.5)).toBeNaN();
});

test('[REDIS-006] so many operations are in flight, each caller one after another, and all are counted', async () => {
  let running = 0;
  let most = 0;
  let ended = 0;
  const operation = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    ended++;
  };
  const beganAtMs = performance.now();
  const sample = await drive(operation, { inFlight: 3, forMs: 20 });
  const elapsedMs = performance.now() - beganAtMs;
  expect([running, most]).toEqual([0, 3]);
  expect((sample.perSecond * elapsedMs) / 1_000).toBeGreaterThanOrEqual(ended);
  expect(sample.p99Us).toBeGreaterThanOrEqual(sample.p50Us);
  expect(sample.processorShare).toBeGreaterThan(0);
});

test('[REDIS-006] an operation that fails ends the load', async () => {
  const operation = (): Promise<void> => Promise.reject(new Error('no place'));
  await expect(drive(operation, { inFlight: 2, forMs: 20 })).rejects.toThrow('no place');
});

test('[REDIS-006] each reservation is of another object, takes one place, and depends on its three conditions', () =>
  withMemoryStore(async (store) => {
    const next = await prepareReservations(store);
    const [first, second, third] = [next(), next(), next()];
    expect(first.conditions.map(({ kind }) => kind)).toEqual(['absent', 'version', 'present']);
    expect(first.mutations.map(({ kind }) => kind)).toEqual(['put', 'put', 'put', 'add', 'add']);
    expect(await store.commit(first)).toMatchObject({ kind: 'applied', replayed: false, counters: [1, 1] });
    expect(await store.commit(second)).toMatchObject({ kind: 'applied', replayed: false, counters: [2, 2] });
    const again = { ...first, operationId: third.operationId };
    expect(await store.commit(again)).toMatchObject({ kind: 'conflict', conditionIndex: 0 });
    expect(await store.commit(withOtherVersion(third))).toMatchObject({ kind: 'conflict', conditionIndex: 1 });
  }));

test('[REDIS-006] an authority has the size that it has in a deployment', () => {
  const { length } = authorityOf('player-12345', '0123456789abcdef'.repeat(2));
  expect(length).toBeGreaterThanOrEqual(370);
  expect(length).toBeLessThanOrEqual(430);
});

test('[REDIS-006] a report has medians of all rounds and ratios to the yardsticks, taken within rounds', () => {
  const rounds = new Map([
    ['Redis store', [figures(10, 50), figures(20, 70), figures(60, 60)]],
    ['memory store', [figures(1_000), figures(3_000), figures(2_000)]],
    ['SET', [figures(40, 2), figures(40, 2), figures(80, 2)]],
    ['empty EVALSHA', [figures(20, 4), figures(20, 4), figures(20, 4)]],
  ]);
  const { rows } = loadReport(commitContests[0]!, rounds);
  expect(rows.map(({ name, perSecond, serverUs }) => [name, perSecond, serverUs])).toEqual([
    ['Redis store', 20, 60],
    ['memory store', 2_000, undefined],
    ['SET', 40, 2],
    ['empty EVALSHA', 20, 4],
  ]);
  expect(rows[0]?.ratios).toEqual({
    SET: { median: 0.5, low: 0.25, high: 0.75 },
    'empty EVALSHA': { median: 1, low: 0.5, high: 3 },
  });
  expect(Object.keys(rows[2]?.ratios ?? {})).toEqual(['empty EVALSHA']);
});

test('[REDIS-006] a contestant that was not measured is an error, not an empty figure', () => {
  expect(() => loadReport(readContests[0]!, new Map())).toThrow('"Redis store" was not measured');
});

test('[REDIS-006] every work that contests name can be loaded, in Redis and, but for plain commands, in memory', async () => {
  const redis = await startRedisServer();
  const stage = new LoadStage();
  const contestants = [...commitContests, ...readContests].flatMap((contest) => contest.contestants);
  const works = new Map(
    contestants.map(({ work, in: place }): [string, [StoreWork, string | undefined]] => [
      `${work} ${place}`,
      [work, place === 'redis' ? redis.url : undefined],
    ]),
  );
  try {
    expect(works.size).toBe(11);
    for (const [work, url] of works.values()) {
      await redis.command('FLUSHALL');
      await stage.open({ work, url });
      const { perSecond } = await stage.drive({ inFlight: 4, forMs: 20 });
      expect([work, perSecond > 0]).toEqual([work, true]);
    }
    await expect(stage.open({ work: 'set', url: undefined })).rejects.toThrow('"set" needs Redis');
    await expect(stage.drive({ inFlight: 1, forMs: 1 })).rejects.toThrow('nothing is open');
  } finally {
    await stage.close();
    await redis.close();
  }
}, 120_000);

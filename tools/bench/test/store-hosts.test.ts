import { expect, test } from '@jest/globals';
import { startRedisServer } from '@zlink/testing';
import { machineNowMs } from '../src/machine-clock.ts';
import { spreadMs, summarize } from '../src/store/delays.ts';
import { HostStage } from '../src/store/host-stage.ts';
import { rolesByProcess } from '../src/store/idle.ts';
import { Journal, type Sighting } from '../src/store/journal.ts';

const usable = (weight: number): Sighting => ({ isListed: true, isUsable: true, weight });
const rows = (...entries: readonly [string, Sighting][]): ReadonlyMap<string, Sighting> => new Map(entries);

/** Seen: nothing, A from 10 with 100, A with 200 from 20, A not usable from 30, nothing from 40. */
function journalOfA(): Journal {
  const journal = new Journal();
  journal.note(rows(), 5);
  journal.note(rows(['A', usable(100)], ['B', usable(1)]), 10);
  journal.note(rows(['A', usable(100)], ['B', usable(1)]), 15);
  journal.note(rows(['A', usable(200)], ['B', usable(1)]), 20);
  journal.note(rows(['A', { ...usable(200), isUsable: false }], ['B', usable(1)]), 30);
  journal.note(rows(['B', usable(1)]), 40);
  return journal;
}

test('[LOC-061] a journal tells the first moment at which a server was seen as wanted', async () => {
  const journal = journalOfA();
  expect(await journal.first('A', { isUsable: true }, 0)).toBe(10);
  expect(await journal.first('A', { weight: 200 }, 0)).toBe(20);
  expect(await journal.first('A', { isListed: true, weight: 200 }, 12)).toBe(20);
  expect(await journal.first('A', { isUsable: false }, 12)).toBe(30);
  expect(await journal.first('A', { isListed: false }, 12)).toBe(40);
  expect(await journal.first('B', { weight: 1 }, 0)).toBe(10);
});

test('[LOC-061] what was so already counts from the moment that is asked for', async () => {
  const journal = journalOfA();
  expect(await journal.first('A', { isUsable: true }, 15)).toBe(15);
  expect(await journal.first('A', { isListed: false }, 50)).toBe(50);
  expect(await journal.first('C', { isListed: false }, 3)).toBe(3);
});

test('[LOC-061] who waits is told once it is so, and not by another server', async () => {
  const journal = journalOfA();
  const seen: number[] = [];
  const waiting = journal.first('A', { isUsable: true }, 45).then((atMs) => seen.push(atMs));
  journal.note(rows(['B', usable(7)]), 50);
  await Promise.resolve();
  expect(seen).toEqual([]);
  journal.note(rows(['A', usable(3)], ['B', usable(7)]), 60);
  await waiting;
  expect(seen).toEqual([60]);
});

test('[LOC-061] pauses fall on all tenths of a beat', () => {
  const tenths = Array.from({ length: 20 }, (_, index) => Math.floor(spreadMs(index, 1_000) / 100));
  expect([...new Set(tenths)].sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('[LOC-061] a delay is summed up by its median and its extremes', () => {
  expect(summarize({ what: 'a weight', valuesMs: [5, 1, 9, 2, 4] })).toEqual({
    what: 'a weight',
    count: 5,
    medianMs: 4,
    lowestMs: 1,
    highestMs: 9,
  });
});

test('[LOC-050] every third host is a server, however many processes hold them', () => {
  expect(rolesByProcess(5, 2)).toEqual([
    ['server', 'client'],
    ['client', 'server', 'client'],
  ]);
  const roles = rolesByProcess(30, 30);
  expect(roles.every(({ length }) => length === 1)).toBe(true);
  expect(roles.flat().filter((role) => role === 'server')).toHaveLength(10);
});

test('[LOC-061] [LOC-063] a client and a view see a server start, change its weight and end', async () => {
  const redis = await startRedisServer();
  const [server, client, view] = [new HostStage(), new HostStage(), new HostStage()];
  try {
    await client.watch({ url: redis.url, what: 'servers' });
    await view.watch({ url: redis.url, what: 'view' });
    const started = await server.start({ url: redis.url, roles: ['server', 'client'] });
    expect(started.startedAtMs).toBeGreaterThan(started.calledAtMs);
    expect(started.endpoints).toHaveLength(1);
    await server.ready({ serverCount: 1 });
    const endpoint = started.endpoints[0]!;
    for (const who of [client, view]) {
      const { atMs } = await who.saw({ endpoint, wanted: { isUsable: true }, sinceMs: started.calledAtMs });
      expect(atMs).toBeGreaterThan(started.calledAtMs);
    }
    const changed = await server.setWeight({ weight: 321 });
    for (const who of [client, view]) {
      const { atMs } = await who.saw({ endpoint, wanted: { weight: 321 }, sinceMs: changed.atMs });
      expect(atMs).toBeGreaterThan(changed.atMs);
    }
    const stopped = await server.shutdown();
    expect(stopped.endedAtMs).toBeGreaterThan(stopped.calledAtMs);
    for (const who of [client, view]) {
      const { atMs } = await who.saw({ endpoint, wanted: { isListed: false }, sinceMs: stopped.calledAtMs });
      expect(atMs).toBeGreaterThan(stopped.calledAtMs);
      expect(atMs).toBeLessThanOrEqual(machineNowMs());
    }
  } finally {
    await Promise.all([server, client, view].map((stage) => stage.close()));
    await redis.close();
  }
}, 120_000);

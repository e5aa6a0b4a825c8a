/** What the watchers of a host see of the endpoints of others: complete, upwards, and no less while the store is away. */
import { loopTurns } from '@zlink/testing';
import {
  descriptorKey,
  leaseKey,
  type LocationStore,
  publisherDescriptor,
  serverDescriptor,
  stampKey,
  StoreError,
} from '../../src/location/index.ts';
import { games, type Host, live, meshNode, publisher, server, World } from './runtime-rig.ts';

const news = { kind: 'fanout', name: 'news' } as const;
const mesh = { kind: 'mesh', name: 'games' } as const;

let world: World;
let owner: Host;
let viewer: Host;

beforeEach(async () => {
  world = await World.create();
  owner = await world.openHost();
  viewer = await world.openHost();
});

afterEach(async () => {
  await world.closeAll();
  expect(world.pending).toBe(0);
});

/** Calls `listener` before each call of an operation. */
function before(operation: 'read' | 'scan', listener: (call: number) => Promise<void> | void): () => number {
  const original = viewer.store[operation].bind(viewer.store) as (...call: unknown[]) => unknown;
  let count = 0;
  const observed = async (...call: unknown[]): Promise<unknown> => {
    await listener(++count);
    return original(...call);
  };
  viewer.store[operation] = observed as unknown as LocationStore['read'] & LocationStore['scan']; // the same calls
  return () => count;
}

/** Many publishers, without hosts that would renew their leases. */
async function putPublishers(count: number, ownerId = 'crowd'): Promise<void> {
  const rids = Array.from({ length: count }, (_, at) => `p${String(at).padStart(5, '0')}`);
  for (let at = 0; at < count; at += 1_000) {
    const puts = rids.slice(at, at + 1_000).map((rid) => {
      const facts = {
        ...publisher(rid, news.name).facts(),
        ownerId,
        leaseGeneration: 1n,
        protocol: { min: 1, max: 1 },
      };
      return { kind: 'put', key: descriptorKey(news, rid), value: publisherDescriptor.encode(facts) } as const;
    });
    await world.change(...puts, { kind: 'put', key: stampKey(news), value: new Uint8Array(0) });
  }
  await world.change({ kind: 'put', key: leaseKey(ownerId), value: new Uint8Array(0) });
}

test('[LOC-061] the first watch is answered at once, also with nothing, but never from within watch', async () => {
  const watcher = viewer.watch(games);
  expect(watcher.views).toEqual([]);
  await loopTurns(4);
  expect(watcher.views).toEqual([{ endpoints: new Map(), isCurrent: true, problem: undefined }]);
  const second = viewer.watch(games);
  expect(second.views).toEqual([]);
  await loopTurns(1);
  expect(second.views).toEqual(watcher.views);
});

test('[LOC-061] a new host, a change and an orderly end are seen within one poll, with a view for each', async () => {
  const watcher = viewer.watch(games);
  await loopTurns(4);
  const source = await owner.publish(server('s1'));
  await world.clock.advanceAsync(1_000);
  expect(watcher.rids).toEqual(['s1']);
  source.change({ state: 'serving', weight: 7 });
  await world.clock.advanceAsync(1_000);
  expect(watcher.find('s1')?.descriptor).toMatchObject({ state: 'serving', weight: 7, revision: 2n });
  await owner.runtime.withdraw(live());
  await world.clock.advanceAsync(1_000);
  expect(watcher.rids).toEqual([]);
  await world.clock.advanceAsync(90_000);
  expect(watcher.views).toHaveLength(4);
});

test('[LOC-061] one read per poll takes stamps and own lease; nothing is scanned for 30 s without a change', async () => {
  for (const topology of [games, mesh]) viewer.watch(topology);
  viewer.watch(news);
  await world.clock.advanceAsync(4_000);
  const { read, scan } = viewer.store.calls;
  const asked: (readonly string[] | undefined)[] = [];
  const original = viewer.store.read.bind(viewer.store);
  viewer.store.read = (request, signal) => {
    asked.push(request.records);
    return original(request, signal);
  };
  await world.clock.advanceAsync(20_000);
  const polls = asked.filter((keys) => keys?.length === 4);
  expect(polls).toHaveLength(20);
  expect(polls[0]?.slice(1)).toEqual([stampKey(games), stampKey(mesh), stampKey(news)]);
  expect(polls[0]?.[0]).toMatch(/^l\//);
  expect(viewer.store.calls.read - read).toBe(20); // nobody else's lease is known
  expect(viewer.store.calls.scan).toBe(scan);
  await world.clock.advanceAsync(11_000);
  expect(viewer.store.calls.scan).toBe(scan + 3);
});

test('[LOC-061] hosts do not poll in step, and a slow store never lets polls overlap', async () => {
  const atMs: number[][] = [owner, viewer].map(({ store }) => {
    const times: number[] = [];
    const original = store.read.bind(store);
    store.read = (request, signal) => {
      times.push(world.clock.nowMs() % 1_000);
      return original(request, signal);
    };
    return times;
  });
  await world.clock.advanceAsync(3_000);
  expect(atMs.map((times) => new Set(times).size)).toEqual([1, 1]);
  expect(atMs[0]?.[0]).not.toBe(atMs[1]?.[0]);

  viewer.store.inject({ kind: 'delay', at: 'reply', ms: 2_500 }, 'read');
  const reads = viewer.store.calls.read;
  await world.clock.advanceAsync(12_000);
  expect(viewer.store.calls.read - reads).toBe(4); // each 2.5 s long, at the beats that are free
});

test('[LOC-061] only changed records are read, however many pages and reads that takes', async () => {
  await putPublishers(2_500);
  const watcher = viewer.watch(news);
  await world.clock.advanceAsync(1_000);
  expect(watcher.last?.endpoints.size).toBe(2_500);
  expect(viewer.store.calls.scan).toBe(10); // pages of 250

  const values: number[] = [];
  const original = viewer.store.read.bind(viewer.store);
  viewer.store.read = (request, signal) => {
    values.push(request.records?.filter((key) => key.startsWith('d/')).length ?? 0);
    return original(request, signal);
  };
  await owner.publish(publisher('new', news.name));
  await world.clock.advanceAsync(1_000);
  expect(watcher.last?.endpoints.size).toBe(2_501);
  expect(values.reduce((sum, count) => sum + count, 0)).toBe(1);
});

test('[LOC-061] a read that is too large for one answer is halved', async () => {
  await putPublishers(100);
  viewer.store.read = (
    (original: LocationStore['read']): LocationStore['read'] =>
    (request, signal) =>
      (request.records?.length ?? 0) > 30
        ? Promise.reject(new StoreError('tooLarge', 'notApplied', 'too large'))
        : original(request, signal)
  )(viewer.store.read.bind(viewer.store));
  const watcher = viewer.watch(news);
  await world.clock.advanceAsync(1_000);
  expect(watcher.last?.endpoints.size).toBe(100);
  expect(watcher.last?.problem).toBeUndefined();
});

test.each([1, 2, 3])(
  '[LOC-061] a change during page %i of a scan: the view is that of the next, whole scan',
  async (page) => {
    await putPublishers(2_500);
    const watcher = viewer.watch(news);
    await world.clock.advanceAsync(1_000);
    await putPublishers(2_600); // every record changes, and a hundred come
    before('scan', async (call) => {
      if (call !== page) return;
      await world.change(
        { kind: 'delete', key: descriptorKey(news, 'p00000') },
        { kind: 'delete', key: descriptorKey(news, 'p02400') },
        { kind: 'put', key: stampKey(news), value: new Uint8Array(0) },
      );
    });
    await world.clock.advanceAsync(1_000);
    expect(watcher.views.map(({ endpoints }) => endpoints.size)).toEqual([2_500, 2_598]);
  },
);

test('[LOC-061] a topology that changes during three scans is left as it was until the next poll', async () => {
  const source = await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  source.change({ weight: 1 });
  await owner.runtime.settled(100);
  const scans = before('scan', () => world.change({ kind: 'put', key: stampKey(games), value: new Uint8Array(0) }));
  await world.clock.advanceAsync(1_000);
  expect(scans()).toBe(3);
  expect(watcher.find('s1')?.descriptor.weight).toBe(100);
  await world.clock.advanceAsync(1_000);
  expect(scans()).toBe(6);
  expect(watcher.views).toHaveLength(1);
});

test('[LOC-061] a page that fails takes nothing of the scan', async () => {
  await putPublishers(1_500);
  let isBroken = true;
  before('scan', (call) => {
    if (isBroken && call % 2 === 0) throw new StoreError('unavailable', 'notApplied', 'no second page');
  });
  const watcher = viewer.watch(news);
  await world.clock.advanceAsync(3_000);
  expect(watcher.last?.endpoints.size).toBe(0);
  expect(watcher.last?.isCurrent).toBe(false);
  isBroken = false;
  await world.clock.advanceAsync(1_000);
  expect(watcher.last?.endpoints.size).toBe(1_500);
});

test('[LOC-061] who watches no longer is neither told nor served', async () => {
  const watcher = viewer.watch(games);
  await loopTurns(4);
  watcher.end();
  const { scan } = viewer.store.calls;
  await owner.publish(server('s1'));
  await world.clock.advanceAsync(40_000);
  expect(watcher.views).toHaveLength(1);
  expect(viewer.store.calls.scan).toBe(scan);
  const again = viewer.watch(games);
  await loopTurns(4);
  expect(again.rids).toEqual(['s1']);
});

test('[LOC-062] within one generation a lower revision changes nothing; another generation replaces it', async () => {
  const watcher = viewer.watch(games);
  const source = await owner.publish(server('s1', { generation: 9n }));
  source.change({ weight: 1 });
  source.change({ weight: 2 });
  await owner.written();
  await world.clock.advanceAsync(1_000);
  const own = await world.findServer('s1');
  if (own === undefined) throw new Error('it was published');
  const put = async (changes: object): Promise<void> => {
    const value = serverDescriptor.encode({ ...own, ...changes });
    await world.change(
      { kind: 'put', key: descriptorKey(games, 's1'), value },
      { kind: 'put', key: stampKey(games), value: new Uint8Array(0) },
    );
    await world.clock.advanceAsync(1_000);
  };
  await put({ revision: 2n, weight: 50 });
  expect(watcher.find('s1')?.descriptor).toMatchObject({ revision: 3n, weight: 2 });
  await put({ revision: 4n, weight: 60 });
  expect(watcher.find('s1')?.descriptor).toMatchObject({ revision: 4n, weight: 60 });
  await put({ lifecycleGeneration: 4n, revision: 1n, weight: 70 });
  expect(watcher.find('s1')?.descriptor).toMatchObject({ lifecycleGeneration: 4n, revision: 1n, weight: 70 });
});

test('[LOC-062] kinds of one name do not mix, and names that begin alike do not either', async () => {
  await owner.publish(server('a'));
  await owner.publish(meshNode('b', 'games'));
  await owner.publish(publisher('c', 'games'));
  await owner.publish(server('d', { name: 'games/2' }));
  await owner.publish(server('e', { name: 'gamesome' }));
  const servers = viewer.watch(games);
  const nodes = viewer.watch(mesh);
  const publishers = viewer.watch({ kind: 'fanout', name: 'games' });
  await loopTurns(8);
  expect([servers.rids, nodes.rids, publishers.rids]).toEqual([['a'], ['b'], ['c']]);
});

test('[LOC-061] a record that cannot be read, or stands under a wrong key, is left out with one line per second', async () => {
  await owner.publish(server('s1'));
  const own = await world.find(descriptorKey(games, 's1'));
  if (own?.value === undefined) throw new Error('it was published');
  const value = own.value;
  await world.change(
    ...['x1', 'x2', 'x3'].map((rid) => ({ kind: 'put', key: descriptorKey(games, rid), value }) as const),
    { kind: 'put', key: descriptorKey(games, 'x4'), value: Uint8Array.of(1) },
    { kind: 'put', key: stampKey(games), value: new Uint8Array(0) },
  );
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(10_000);
  expect(watcher.rids).toEqual(['s1']);
  const lines = viewer.logs.filter(({ eventId }) => eventId === 'zlink.location.descriptor_unreadable');
  expect(lines.map(({ level, topology, suppressed }) => [level, topology, suppressed])).toEqual([
    ['warn', 'clientServer', undefined],
    ['warn', 'clientServer', 3],
  ]);
});

test('[LOC-063] an owner that is gone is shown as such, stays for a whole ttl, and is removed within 2 s more', async () => {
  await owner.publish(server('s1'));
  const third = await world.openHost();
  const watchers = [viewer.watch(games), third.watch(games)];
  await world.clock.advanceAsync(1_000);
  await owner.runtime.close(); // a crash: nothing is withdrawn
  await world.clock.advanceAsync(20_000);
  expect(watchers.map(({ rids }) => rids)).toEqual([['-s1'], ['-s1']]);
  await world.clock.advanceAsync(10_000);
  expect(await world.findServer('s1')).toBeDefined();
  await world.clock.advanceAsync(9_000);
  expect(await world.keys('d/')).toEqual([]);
  expect(watchers.map(({ rids }) => rids)).toEqual([[], []]);
  const removals = [viewer, third].flatMap(({ store }) =>
    store.batches.filter(({ mutations }) => mutations.some(({ kind }) => kind === 'delete')),
  );
  expect(removals.length).toBeGreaterThan(0);
  for (const { conditions } of removals) expect(conditions.map(({ kind }) => kind)).toEqual(['version', 'absent']);
});

test('[LOC-063] a new watcher learns who is alive before it is told of anybody', async () => {
  await owner.publish(server('s1'));
  await world.change(
    { kind: 'delete', key: (await world.keys('l/'))[0] ?? '' },
    { kind: 'delete', key: (await world.keys('l/'))[1] ?? '' },
  );
  await owner.runtime.close();
  const third = await world.openHost();
  const watcher = third.watch(games);
  await loopTurns(4);
  expect(watcher.views.map(({ endpoints }) => [...endpoints.values()].map((each) => each.isOwnerPresent))).toEqual([
    [false],
  ]);
});

test('[LOC-063] at most a hundred descriptors go in one pass, and all of them in the end', async () => {
  await putPublishers(250, 'gone');
  await world.change({ kind: 'delete', key: leaseKey('gone') });
  const watcher = viewer.watch(news);
  await world.clock.advanceAsync(15_000);
  expect(watcher.last?.endpoints.size).toBe(250);
  const sizes: number[] = [];
  for (let second = 0; second < 6; second++) {
    await world.clock.advanceAsync(1_000);
    sizes.push((await world.keys('d/')).length);
  }
  const steps = sizes.map((size, at) => (sizes[at - 1] ?? 250) - size);
  expect(Math.max(...steps)).toBeLessThanOrEqual(100);
  expect(sizes.at(-1)).toBe(0);
});

test('[LOC-052] a fenced run removes nobody', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  await owner.runtime.close();
  await world.clock.advanceAsync(14_000);
  const commit = viewer.store.commit.bind(viewer.store);
  let removals = 0;
  viewer.store.commit = (batch, signal) => {
    if (batch.mutations.some(({ kind }) => kind === 'delete')) removals++;
    return batch.mutations.some((each) => 'key' in each && each.key.startsWith(leaseKey('')))
      ? Promise.reject(new StoreError('invalidArgument', 'notApplied', 'no renewal'))
      : commit(batch, signal);
  };
  await world.clock.advanceAsync(30_000);
  expect(viewer.runtime.admission.isOpen).toBe(false);
  expect(watcher.rids).toEqual(['-s1']);
  expect(removals).toBe(0);
});

test('[LOC-064] a store whose writes alone fail for long has current views of what it still tells', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  viewer.store.inject({ kind: 'fail' }, 'commit');
  await world.clock.advanceAsync(40_000);
  expect(watcher.last?.problem).toBeDefined();
  expect(watcher.last?.isCurrent).toBe(true);
  expect(watcher.views.map(({ isCurrent }) => isCurrent)).toContain(false);
});

test('[LOC-064] a process that stood still over the grace does not take its view for current', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  viewer.store.inject({ kind: 'fail' }, 'read');
  await world.clock.advanceAsync(2_000);
  viewer.store.heal();
  viewer.store.inject({ kind: 'hold', at: 'request' }, 'read');
  await world.clock.advanceAsync(1_000);
  world.clock.stall(60_000);
  viewer.store.heal(); // the poll is answered before any timer fires
  await loopTurns(8);
  expect(watcher.views.slice(1).map(({ isCurrent, problem }) => [isCurrent, problem === undefined])).toEqual([
    [true, false],
    [false, true],
    [true, true],
  ]);
});

test('[LOC-054] an owner that comes back while its descriptor is to be removed keeps it', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  owner.store.inject({ kind: 'fail' });
  viewer.store.inject({ kind: 'hold', at: 'request' }, 'commit');
  await world.clock.advanceAsync(14_000);
  viewer.store.heal();
  await world.clock.advanceAsync(20_000);
  expect(watcher.rids).toEqual(['-s1']);
  const commit = viewer.store.commit.bind(viewer.store);
  let removals = 0;
  viewer.store.commit = async (batch, signal) => {
    if (batch.mutations.some(({ kind }) => kind === 'delete')) {
      removals++;
      owner.store.heal();
      await loopTurns(1);
      await world.change({ kind: 'put', key: (batch.conditions[1] as { key: string }).key, value: new Uint8Array(0) });
    }
    return commit(batch, signal);
  };
  await world.clock.advanceAsync(20_000);
  expect(removals).toBeGreaterThan(0);
  expect(await world.findServer('s1')).toMatchObject({ revision: 1n });
  expect(watcher.rids).toEqual(['s1']);
});

test('[LOC-064] while the store is away views stay; after the grace they are no longer current', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  viewer.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(1_000);
  expect(watcher.rids).toEqual(['s1']);
  expect(watcher.last).toMatchObject({ isCurrent: true, problem: expect.stringContaining('out of order') as string });
  await world.clock.advanceAsync(28_000);
  expect(watcher.last?.isCurrent).toBe(true);
  const views = watcher.views.length;
  await world.clock.advanceAsync(2_000);
  expect(watcher.last?.isCurrent).toBe(false);
  expect(watcher.views).toHaveLength(views + 1); // a timer told it, no call of the store
  viewer.store.heal('read');
  viewer.store.inject({ kind: 'fail' }, 'scan');
  viewer.store.inject({ kind: 'fail' }, 'commit');
  await world.clock.advanceAsync(2_000);
  expect(watcher.last?.isCurrent).toBe(false); // no complete view was read
  viewer.store.heal();
  await world.clock.advanceAsync(2_000);
  expect(watcher.last).toMatchObject({ isCurrent: true, problem: undefined });
  expect(watcher.rids).toEqual(['s1']);
});

test('[LOC-064] a watch that begins while the store is away is told why there is nothing', async () => {
  viewer.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(1_000);
  const watcher = viewer.watch(games);
  expect(watcher.views).toEqual([]); // not from within
  await loopTurns(4);
  expect(watcher.views).toEqual([
    { endpoints: new Map(), isCurrent: false, problem: expect.stringContaining('out of order') as string },
  ]);
});

test.each([8_000, 25_000])(
  '[LOC-065] an outage of %i ms for all: nobody is lost, and a new host appears afterwards',
  async (outageMs) => {
    const watchers = [owner, viewer].map((host) => host.watch(games));
    await owner.publish(server('s1'));
    await viewer.publish(server('s2'));
    await world.clock.advanceAsync(1_000);
    for (const host of [owner, viewer]) host.store.inject({ kind: 'fail' });
    await world.clock.advanceAsync(outageMs);
    const third = await world.openHost(); // only the others are cut off
    await third.publish(server('s3'));
    for (const { rids } of watchers) expect(rids).toEqual(['s1', 's2']);
    for (const host of [owner, viewer]) host.store.heal();
    await world.clock.advanceAsync(1_000);
    for (let second = 0; second < 20; second++) {
      await world.clock.advanceAsync(1_000);
      for (const { rids } of watchers) expect(rids).toEqual(['s1', 's2', 's3']);
    }
    for (const { views } of watchers)
      for (const { endpoints } of views)
        for (const { isOwnerPresent } of endpoints.values()) expect(isOwnerPresent).toBe(true);
  },
);

test('[LOC-065] a store that answers reads before it takes writes ends nobody', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  for (const host of [owner, viewer]) {
    host.store.inject({ kind: 'fail' }, 'read');
    host.store.inject({ kind: 'fail' }, 'commit');
  }
  await world.clock.advanceAsync(25_000);
  viewer.store.heal('read');
  await world.clock.advanceAsync(6_000);
  expect(await world.keys('l/')).toEqual([]);
  for (const host of [owner, viewer]) host.store.heal();
  await world.clock.advanceAsync(20_000);
  for (const { endpoints } of watcher.views) {
    for (const { isOwnerPresent } of endpoints.values()) expect(isOwnerPresent).toBe(true);
  }
});

test('[LOC-065] after a disruption the absence of descriptors is not believed before owners had their time', async () => {
  const watcher = viewer.watch(games);
  await owner.publish(server('s1'));
  const leaver = await world.openHost();
  await leaver.publish(server('s2'));
  await world.clock.advanceAsync(1_000);
  leaver.store.inject({ kind: 'fail' });
  await leaver.runtime.close();
  owner.store.inject({ kind: 'fail' });
  await world.change(
    { kind: 'delete', key: descriptorKey(games, 's1') },
    { kind: 'delete', key: descriptorKey(games, 's2') },
    { kind: 'put', key: stampKey(games), value: new Uint8Array(0) },
  );
  viewer.store.disrupt();
  await world.clock.advanceAsync(3_000);
  expect(watcher.rids).toEqual(['s1', 's2']);
  owner.store.heal();
  await world.clock.advanceAsync(4_000);
  expect(watcher.find('s1')?.descriptor.revision).toBe(2n);
  await world.clock.advanceAsync(3_000);
  expect(watcher.rids).toEqual(['s1']); // s2 had its 8 s
});

test('[LOC-065] a store that lost its history without telling is known by its stamps', async () => {
  const watcher = viewer.watch(games);
  await owner.publish(server('s1'));
  await world.clock.advanceAsync(1_000);
  await world.loseAll();
  await world.clock.advanceAsync(10_000);
  expect(watcher.rids).toEqual(['s1']);
  expect(watcher.views.map(({ endpoints }) => endpoints.size)).toEqual(expect.not.arrayContaining([2]));
  expect(watcher.views.slice(1).map(({ endpoints }) => endpoints.size)).not.toContain(0);
});

test('[LOC-065] a store that loses everything in the middle of a reading empties no view', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  await owner.publish(server('s2'));
  viewer.store.inject({ kind: 'hold', at: 'request' }, 'scan', 1);
  await world.clock.advanceAsync(1_000);
  expect(viewer.store.heldCount).toBe(1);
  await world.loseAll();
  viewer.store.disrupt(); // at the latest with the first answer
  viewer.store.heal();
  await loopTurns(8);
  owner.store.disrupt();
  await world.clock.advanceAsync(20_000);
  expect(watcher.rids).toEqual(['s1', 's2']);
  expect(watcher.views.map(({ endpoints }) => endpoints.size)).toEqual(expect.not.arrayContaining([0]));
});

test('[LOC-065] a failover in the middle of a reading, known by its stamp alone, takes nobody away', async () => {
  world.save();
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  await owner.publish(server('s2'));
  viewer.store.inject({ kind: 'hold', at: 'request' }, 'scan', 1);
  await world.clock.advanceAsync(1_000);
  await world.rollBack();
  viewer.store.heal();
  await loopTurns(8);
  expect(watcher.rids).toEqual(['s1']);
  owner.store.disrupt();
  await world.clock.advanceAsync(20_000);
  expect(watcher.rids).toEqual(['s1', 's2']);
  expect(watcher.views.map(({ endpoints }) => endpoints.size)).not.toContain(0);
});

test('[LOC-065] a failover that brings back an earlier generation shows it to nobody before the living one had its time', async () => {
  await owner.publish(server('s1'));
  world.save();
  await owner.runtime.close(); // a crash
  const next = await world.openHost();
  await next.publish(server('s1', { generation: 2n }));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  await world.rollBack();
  next.store.inject({ kind: 'delay', at: 'request', ms: 3_000 }, 'read', 1);
  for (const { store } of [viewer, next]) store.disrupt();
  await world.clock.advanceAsync(30_000);
  const generations = watcher.views.map(({ endpoints }) => endpoints.get('s1')?.descriptor.lifecycleGeneration);
  expect(new Set(generations)).toEqual(new Set([2n]));
  expect(watcher.find('s1')?.descriptor.revision).toBe(2n);
});

test('[LOC-061] a topology that cannot be scanned keeps nobody else waiting, and the store is no worse for it', async () => {
  const scan = viewer.store.scan.bind(viewer.store);
  let isStuck = true;
  viewer.store.scan = (request, signal) =>
    isStuck && request.prefix.includes('big') ? new Promise(() => {}) : scan(request, signal);
  const big = viewer.watch({ kind: 'clientServer', name: 'big' });
  const small = viewer.watch(games);
  await owner.publish(server('s1'));
  await world.clock.advanceAsync(12_000);
  expect(small.rids).toEqual(['s1']);
  expect(small.last?.problem).toBeUndefined();
  const problem = expect.stringContaining('did not answer') as string;
  expect(big.views).toEqual([{ endpoints: new Map(), isCurrent: false, problem }]);

  await owner.runtime.close(); // a crash: its record is removed all the same
  await world.clock.advanceAsync(60_000);
  expect(small.rids).toEqual([]);
  expect(await world.keys('d/')).toEqual([]);
  expect(viewer.logs).toEqual([
    {
      level: 'warn',
      eventId: 'zlink.location.topology_unsettled',
      topology: 'clientServer',
      name: 'big',
      reason: problem,
    },
  ]);
  isStuck = false;
  await world.clock.advanceAsync(10_000);
  expect(big.last).toEqual({ endpoints: new Map(), isCurrent: true, problem: undefined });
});

test('[LOC-064] an outage that begins in the middle of a reading is one of the store, not of the topology', async () => {
  await owner.publish(server('s1'));
  const topologies = [games, mesh].map((topology) => viewer.watch(topology));
  before('scan', (call) => {
    if (call === 1) viewer.store.inject({ kind: 'hold', at: 'request' });
  });
  await world.clock.advanceAsync(11_000);
  expect(viewer.store.calls.scan).toBe(1);
  expect(viewer.eventIds()).toEqual(['zlink.runtime.location.store_changed', 'zlink.location.fenced']);
  expect(topologies.map(({ last }) => last?.problem === undefined)).toEqual([false, false]);
  viewer.store.heal();
  await world.clock.advanceAsync(2_000);
  expect(topologies.map(({ rids }) => rids)).toEqual([['s1'], []]);
});

test('[LOC-061] a topology that is never at rest is told of once, until it was read', async () => {
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  let isRestless = true;
  before('scan', async () => {
    if (isRestless) await world.change({ kind: 'put', key: stampKey(games), value: new Uint8Array(0) });
  });
  for (const round of [1, 2]) {
    isRestless = true;
    await owner.publish(server(`s${round}`));
    await world.clock.advanceAsync(20_000);
    expect(viewer.logs.filter(({ eventId }) => eventId === 'zlink.location.topology_unsettled')).toHaveLength(round);
    isRestless = false;
    await world.clock.advanceAsync(2_000);
    expect(watcher.last?.endpoints.size).toBe(round);
  }
  expect(viewer.logs[0]).toEqual({
    level: 'warn',
    eventId: 'zlink.location.topology_unsettled',
    topology: 'clientServer',
    name: 'games',
    reason: 'it changed during each of three readings',
  });
});

test('[LOC-063] a host that is gone stays gone and is removed, however often single calls fail', async () => {
  await owner.publish(server('s1'));
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(1_000);
  await owner.runtime.close(); // a crash
  await world.clock.advanceAsync(20_000);
  const first = watcher.views.length;
  for (let round = 0; round < 6; round++) {
    viewer.store.inject({ kind: 'fail' }, 'read', 1);
    await world.clock.advanceAsync(6_000);
  }
  expect(await world.keys('d/')).toEqual([]);
  const shown = watcher.views.slice(first).flatMap(({ endpoints }) => [...endpoints.values()]);
  expect(shown.map(({ isOwnerPresent }) => isOwnerPresent)).not.toContain(true);
});

test('[LOC-071] after an outage own records are read before anything of others is applied', async () => {
  const watcher = viewer.watch(games);
  const own = await viewer.publish(server('mine'));
  await world.clock.advanceAsync(1_000);
  viewer.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(5_000);
  await owner.publish(server('s1'));
  await world.change({ kind: 'delete', key: descriptorKey(games, 'mine') });
  const order: string[] = [];
  const original = viewer.store.read.bind(viewer.store);
  viewer.store.read = (request, signal) => {
    for (const key of request.records ?? []) if (key.startsWith('d/')) order.push(key);
    return original(request, signal);
  };
  viewer.store.heal();
  await world.clock.advanceAsync(2_000);
  expect(order[0]).toBe(descriptorKey(games, 'mine'));
  expect(order).toContain(descriptorKey(games, 's1'));
  expect(own.raised).toBe(1);
  expect(watcher.rids).toEqual(['mine', 's1']);
});

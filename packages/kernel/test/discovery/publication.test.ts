/** One own endpoint in the store: claimed, changed, brought back, replaced, removed. */
import { loopTurns } from '@zlink/testing';
import { ConfigurationError } from '../../src/errors/index.ts';
import { descriptorKey, leaseKey, serverDescriptor, stampKey, StoreError } from '../../src/location/index.ts';
import { DEFAULT_LOCATION_TIMING } from '../../src/internal/discovery/location-timing.ts';
import { Ending, games, type Host, live, meshNode, publisher, server, World } from './runtime-rig.ts';

let world: World;
let host: Host;
const key = descriptorKey(games, 's1');

beforeEach(async () => {
  world = await World.create();
  host = await world.openHost({ securityIdentity: 'public-key' });
});

afterEach(async () => {
  await world.closeAll();
  expect(world.pending).toBe(0);
});

/** How often a host has put the descriptor. */
function writesOf({ store }: Host, of = key): number {
  const puts = store.batches.flatMap(({ mutations }) => mutations.filter(({ kind }) => kind === 'put'));
  return puts.filter((put) => 'key' in put && put.key === of).length;
}

function failuresOf({ logs }: Host): readonly object[] {
  return logs.filter(({ eventId }) => eventId === 'zlink.location.withdraw_failed');
}

function ownerOf({ store }: Host): string {
  const [lease] = store.batches[0]?.mutations ?? [];
  if (lease?.kind !== 'put') throw new Error('the first commit of a host is its lease');
  return lease.key.slice(leaseKey('').length);
}

test('[LOC-060] a claim writes the facts, the run and the protocol, and moves the stamp', async () => {
  await host.publish(server('s1'));
  const lease = await world.find(leaseKey(ownerOf(host)));
  expect(await world.findServer('s1')).toEqual({
    ...server('s1').facts(),
    ownerId: ownerOf(host),
    leaseGeneration: lease?.version,
    securityIdentity: 'public-key',
    protocol: { min: 1, max: 1 },
  });
  expect((await world.find(stampKey(games)))?.version).toBe((await world.find(key))?.version);
});

test('[LOC-060] a change is written with its revision; several become one write of the newest facts', async () => {
  const source = await host.publish(server('s1'));
  host.store.inject({ kind: 'hold', at: 'request' }, 'commit');
  source.change({ state: 'serving' });
  source.change({ weight: 200 });
  source.change({ weight: 300 });
  await loopTurns(4);
  expect(host.store.heldCount).toBe(1);
  host.store.heal();
  await host.written();
  expect(await world.findServer('s1')).toMatchObject({ revision: 4n, state: 'serving', weight: 300 });
  expect(writesOf(host)).toBe(3); // the claim, the first change, both others
});

test('[LOC-061] changes of one endpoint are written once a second; one of its state is written at once', async () => {
  const source = await host.publish(server('s1'));
  for (let weight = 1; weight <= 40; weight++) {
    source.change({ weight });
    await world.clock.advanceAsync(100);
  }
  expect(writesOf(host)).toBe(1 + 4);
  source.change({ weight: 41 });
  source.change({ state: 'serving' });
  await loopTurns(4);
  expect(await world.findServer('s1')).toMatchObject({ state: 'serving', weight: 41, revision: 43n });
  expect(writesOf(host)).toBe(1 + 4 + 1);
  await world.clock.advanceAsync(1_000);
  source.change({ weight: 42 }); // it has waited long enough
  await loopTurns(4);
  expect(writesOf(host)).toBe(1 + 4 + 1 + 1);
});

test('[LOC-061] hosts that look more often write their changes as often, and rare looks delay none for long', async () => {
  for (const [pollingIntervalMs, waitMs] of [
    [200, 200],
    [60_000, 1_000],
  ] as const) {
    const other = await world.openHost({ timing: { ...DEFAULT_LOCATION_TIMING, pollingIntervalMs } });
    const source = await other.publish(server(`s${pollingIntervalMs}`));
    source.change({ weight: 7 });
    await world.clock.advanceAsync(waitMs - 1);
    expect(writesOf(other, descriptorKey(games, `s${pollingIntervalMs}`))).toBe(1);
    await world.clock.advanceAsync(1);
    expect(writesOf(other, descriptorKey(games, `s${pollingIntervalMs}`))).toBe(2);
  }
});

test('[LOC-060] facts that have not changed are not written again', async () => {
  const source = await host.publish(server('s1'));
  source.publication?.changed();
  await world.clock.advanceAsync(120_000);
  expect(writesOf(host)).toBe(1);
});

test('[LOC-060] settled resolves when every change is written, or when its time is over', async () => {
  const source = await host.publish(server('s1'));
  await host.publish(publisher('p1', 'news'));
  await host.written();
  host.store.inject({ kind: 'fail' }, 'commit', 1);
  source.change({ weight: 5 });
  const settled = new Ending(host.runtime.settled(60_000));
  await loopTurns(8);
  expect(settled.state).toBe('pending');
  await world.clock.advanceAsync(1_000); // the next try
  expect(settled.state).toBe('resolved');
  expect(await world.findServer('s1')).toMatchObject({ weight: 5 });

  host.store.inject({ kind: 'fail' }, 'commit');
  source.change({ weight: 6 });
  const late = host.runtime.settled(500);
  await world.clock.advanceAsync(500);
  await late;
  expect(await world.findServer('s1')).toMatchObject({ weight: 5 });
});

test('[NET-003] a mesh node whose routing id is taken is refused, with both names, and changes nothing', async () => {
  const other = await world.openHost();
  await host.publish(meshNode('n1', 'game'));
  const before = await world.find(descriptorKey({ kind: 'mesh', name: 'game' }, 'n1'));
  const refused = other.publish(meshNode('n1', 'game', 2n));
  await expect(refused).rejects.toThrow(/mesh "game", routing id "n1"/);
  await expect(refused).rejects.toBeInstanceOf(ConfigurationError);
  await other.runtime.withdraw(live());
  expect(await world.find(descriptorKey({ kind: 'mesh', name: 'game' }, 'n1'))).toEqual(before);
});

test('[NET-003] a mesh node is not refused by the record of its own claim', async () => {
  const commit = host.store.commit.bind(host.store);
  host.store.commit = async (batch) => {
    host.store.commit = commit;
    await world.change(...batch.mutations); // under another id: no repetition is answered by a replay
    throw new StoreError('timeout', 'unknown', 'late');
  };
  const node = host.publish(meshNode('n1', 'game'));
  await world.clock.advanceAsync(50);
  expect((await node).raised).toBe(0);
});

test('[CS-013] a server with a fixed routing id takes the place of its earlier generation, lease or not', async () => {
  const earlier = await world.openHost();
  await earlier.publish(server('s1', { endpoint: 'tcp://10.0.0.9:1' }));
  await host.publish(server('s1', { generation: 2n }));
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n, revision: 1n, ownerId: ownerOf(host) });

  await world.change({ kind: 'delete', key: leaseKey(ownerOf(host)) });
  const later = await world.openHost();
  await later.publish(server('s1', { generation: 3n }));
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 3n, ownerId: ownerOf(later) });
});

test('[CS-013] of two servers that claim one place at once, both succeed and the later one stays', async () => {
  const other = await world.openHost();
  await other.publish(server('s1', { generation: 7n }));
  await Promise.all([host.publish(server('s1', { generation: 8n })), other.publish(server('s1', { generation: 9n }))]);
  const { lifecycleGeneration } = (await world.findServer('s1')) ?? {};
  await world.clock.advanceAsync(61_000);
  expect((await world.findServer('s1'))?.lifecycleGeneration).toBe(lifecycleGeneration);
  const superseded = world.hosts.flatMap((each) =>
    each.logs.filter(({ eventId }) => eventId === 'zlink.location.descriptor_superseded'),
  );
  expect(superseded).toEqual([
    { level: 'warn', eventId: 'zlink.location.descriptor_superseded', topology: 'clientServer', name: 'games' },
    { level: 'warn', eventId: 'zlink.location.descriptor_superseded', topology: 'clientServer', name: 'games' },
  ]);
});

test('[CS-013] a superseded server writes nothing any more and leaves the record of its successor alone', async () => {
  const source = await host.publish(server('s1'));
  const successor = await world.openHost();
  await successor.publish(server('s1', { generation: 2n }));
  source.change({ weight: 1 });
  await host.written();
  const writes = writesOf(host);
  source.change({ weight: 2 });
  await world.clock.advanceAsync(120_000);
  expect(writesOf(host)).toBe(writes);
  expect(host.eventIds().filter((id) => id === 'zlink.location.descriptor_superseded')).toHaveLength(1);
  await host.runtime.withdraw(live());
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n });
});

test('[LOC-055] a superseded server removes its own record if a failover has brought it back', async () => {
  await host.publish(server('s1'));
  world.save();
  const successor = await world.openHost();
  await successor.publish(server('s1', { generation: 2n }));
  host.store.disrupt(); // it reads its record
  await world.clock.advanceAsync(1_000);
  expect(host.eventIds()).toContain('zlink.location.descriptor_superseded');
  await successor.runtime.close();
  await world.rollBack();
  expect(await world.findServer('s1')).toMatchObject({ ownerId: ownerOf(host) });
  await host.runtime.withdraw(live());
  expect(await world.keys('d/')).toEqual([]);
});

test('[CS-013] what stood in the record of an earlier generation is not inherited', async () => {
  const bytes = serverDescriptor.encode({
    ...server('s1', { generation: 9n }).facts(),
    ownerId: 'gone',
    leaseGeneration: 1n,
    protocol: { min: 1, max: 1 },
    otherFields: { fromTheFuture: true },
  });
  await world.change({ kind: 'put', key, value: bytes });
  await host.publish(server('s1'));
  expect(await world.findServer('s1')).not.toHaveProperty('otherFields');
});

test('[CS-013] a record that cannot be read is one of an earlier generation', async () => {
  await world.change({ kind: 'put', key, value: Uint8Array.of(1, 2, 3) });
  await host.publish(server('s1'));
  expect(await world.findServer('s1')).toMatchObject({ ownerId: ownerOf(host) });
});

test('[LOC-060] fields that another version wrote into the own record are kept', async () => {
  const source = await host.publish(server('s1'));
  const own = await world.findServer('s1');
  if (own === undefined) throw new Error('it was published');
  await world.change({
    kind: 'put',
    key,
    value: serverDescriptor.encode({ ...own, otherFields: { fromTheFuture: true } }),
  });
  source.change({ weight: 7 });
  await host.written();
  expect(await world.findServer('s1')).toMatchObject({ weight: 7, otherFields: { fromTheFuture: true } });
});

test('[LOC-053] a descriptor that others removed comes back with a higher revision, raised once', async () => {
  const source = await host.publish(server('s1'));
  await world.change({ kind: 'delete', key });
  host.store.inject({ kind: 'fail' }, 'commit', 2);
  host.store.disrupt();
  await world.clock.advanceAsync(3_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n });
  expect(source.raised).toBe(1);
});

test('[LOC-053] a removal that a change runs into is noticed by it', async () => {
  const source = await host.publish(server('s1'));
  await world.change({ kind: 'delete', key });
  source.change({ weight: 9 });
  await host.written();
  expect(await world.findServer('s1')).toMatchObject({ revision: 3n, weight: 9 });
  expect(source.raised).toBe(1);
});

test('[LOC-053] an outage shorter than the ttl: the same record goes on', async () => {
  const source = await host.publish(server('s1'));
  const { createdVersion } = (await world.find(key)) ?? {};
  host.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(11_000); // fenced, but the lease is there
  expect(host.runtime.admission.isOpen).toBe(false);
  source.change({ weight: 9 });
  const commits = host.store.batches.length;
  host.store.heal();
  await world.clock.advanceAsync(1_500);
  expect(host.runtime.admission.isOpen).toBe(true);
  expect(host.store.batches.length).toBeGreaterThan(commits);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, weight: 9 });
  expect((await world.find(key))?.createdVersion).toBe(createdVersion);
  expect(source.raised).toBe(0);
});

test('[LOC-052] a fenced run writes nothing but its lease', async () => {
  const source = await host.publish(server('s1'));
  host.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(10_500);
  const before = host.store.batches.length;
  source.change({ weight: 1 });
  await world.clock.advanceAsync(30_000);
  const others = host.store.batches
    .slice(before)
    .filter(({ mutations }) => mutations.some((each) => 'key' in each && !each.key.startsWith('l/')));
  expect(others).toEqual([]);
  expect(host.store.batches.length).toBeGreaterThan(before);
});

test('[LOC-053] an outage longer than the ttl, and the record removed: both come back', async () => {
  const peer = await world.openHost();
  const watcher = peer.watch(games);
  const source = await host.publish(server('s1'));
  host.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(45_000);
  expect(await world.findServer('s1')).toBeUndefined(); // the peer has removed it
  expect(watcher.rids).toEqual([]);
  host.store.heal();
  await world.clock.advanceAsync(5_000);
  expect(host.runtime.admission.isOpen).toBe(true);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, lifecycleGeneration: 1n });
  expect(source.raised).toBe(1);
  await world.clock.advanceAsync(2_000);
  expect(watcher.rids).toEqual(['s1']);
});

test('[LOC-073] a store that lost everything has lease and descriptors again within the renew interval', async () => {
  await host.publish(server('s1'));
  await host.publish(meshNode('n1', 'game'));
  await world.loseAll();
  await world.clock.advanceAsync(6_000);
  expect(await world.find(leaseKey(ownerOf(host)))).toBeDefined();
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n });
  expect(await world.find(descriptorKey({ kind: 'mesh', name: 'game' }, 'n1'))).toBeDefined();
  expect(host.runtime.admission.isOpen).toBe(true);
});

test('[LOC-071] after a disruption lease and descriptors are read and put back at once', async () => {
  await host.publish(server('s1'));
  await world.loseAll();
  host.store.disrupt();
  await world.clock.advanceAsync(5_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n });
});

test('[LOC-071] a failing audit is tried again until it succeeds', async () => {
  await host.publish(server('s1'));
  await world.change({ kind: 'delete', key });
  host.store.inject({ kind: 'fail' }, 'read');
  host.store.disrupt();
  await world.clock.advanceAsync(4_000);
  expect(await world.findServer('s1')).toBeUndefined();
  host.store.heal();
  await world.clock.advanceAsync(1_000);
  expect(await world.findServer('s1')).toBeDefined();
});

test('[LOC-071] without any signal an own record that is gone or older is found within 60 s', async () => {
  const source = await host.publish(server('s1'));
  const older = await world.find(key);
  if (older?.value === undefined) throw new Error('it was published');
  source.change({ weight: 9 });
  await host.written();
  await host.publish(publisher('p1', 'news'));
  const news = { kind: 'fanout', name: 'news' } as const;
  await world.change({ kind: 'put', key, value: older.value }, { kind: 'delete', key: descriptorKey(news, 'p1') });
  await world.clock.advanceAsync(61_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, weight: 9 });
  expect(await world.findPublisher('p1', news)).toMatchObject({ revision: 2n });
  expect(source.raised).toBe(0);
});

test('[LOC-071] more own records than one read takes, and more bytes, are audited all the same', async () => {
  const sources = await Promise.all(
    Array.from({ length: 1_100 }, (_, at) => host.publish(publisher(`p${at}`, 'news'))),
  );
  const news = { kind: 'fanout', name: 'news' } as const;
  await world.change(...sources.map((_, at) => ({ kind: 'delete', key: descriptorKey(news, `p${at}`) }) as const));
  host.store.inject({ kind: 'fail', error: new StoreError('tooLarge', 'notApplied', 'too large') }, 'read', 3);
  host.store.disrupt();
  await world.clock.advanceAsync(5_000);
  expect(sources.map(({ raised }) => raised)).toEqual(sources.map(() => 1));
  expect(await world.findPublisher('p1099', news)).toBeDefined();
});

test.each(['claim', 'update', 'remove'] as const)('[LOC-070] the lost answer of a %s changes nothing', async (step) => {
  if (step === 'claim') host.store.inject({ kind: 'loseReply' }, 'commit', 3);
  const published = host.publish(server('s1'));
  await world.clock.advanceAsync(1_000);
  const source = await published;
  if (step === 'update') host.store.inject({ kind: 'loseReply' }, 'commit', 3);
  source.change({ weight: 5 });
  await world.clock.advanceAsync(1_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, weight: 5 });
  if (step === 'remove') host.store.inject({ kind: 'loseReply' }, 'commit', 3);
  const withdrawn = host.runtime.withdraw(live());
  await world.clock.advanceAsync(1_000);
  await withdrawn;
  expect(await world.keys('d/')).toEqual([]);
  expect(await world.keys('l/')).toEqual([]);
  expect(source.raised).toBe(0);
  expect(host.eventIds()).not.toContain('zlink.location.withdraw_failed');
});

test('[LOC-070] an update whose outcome stays unknown for 60 s is decided by what is read', async () => {
  const source = await host.publish(server('s1'));
  host.store.inject({ kind: 'loseReply' }, 'commit'); // renewals are applied, and so is the update
  source.change({ weight: 5 });
  await world.clock.advanceAsync(62_000);
  source.change({ weight: 6 });
  host.store.heal();
  await world.clock.advanceAsync(20_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 3n, weight: 6 });
  expect(source.raised).toBe(0);
});

test('[LOC-055] withdrawal removes the descriptors, moves the stamps, then deletes the lease', async () => {
  await host.publish(server('s1'));
  const stamp = await world.find(stampKey(games));
  const before = host.store.batches.length;
  await host.runtime.withdraw(live());
  expect(await world.keys('d/')).toEqual([]);
  expect(await world.keys('l/')).toEqual([]);
  expect((await world.find(stampKey(games)))?.version).toBeGreaterThan(stamp?.version ?? 0n);
  const deleted = host.store.batches.slice(before).map(({ mutations }) => mutations.find((m) => m.kind === 'delete'));
  expect(deleted).toEqual([
    { kind: 'delete', key },
    { kind: 'delete', key: leaseKey(ownerOf(host)) },
  ]);
});

test('[LOC-055] a removal that conflicts is read and decided once more', async () => {
  await host.publish(server('s1'));
  const own = await world.find(key);
  if (own?.value === undefined) throw new Error('it was published');
  await world.change({ kind: 'put', key, value: own.value }); // the same, in another version
  await host.runtime.withdraw(live());
  expect(await world.keys('d/')).toEqual([]);
});

test('[LOC-055] withdrawal waits for a claim that is under way, and removes what it wrote', async () => {
  host.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  const aborted = new AbortController();
  const published = new Ending(host.publish(server('s1'), aborted.signal));
  await loopTurns(2);
  aborted.abort(new Error('enough'));
  await loopTurns(2);
  expect(published.state).toBe('rejected');
  const withdrawn = host.runtime.withdraw(live());
  await loopTurns(2);
  expect(await world.findServer('s1')).toBeDefined();
  host.store.heal();
  await withdrawn;
  expect(await world.keys('d/')).toEqual([]);
});

test('[LOC-055] a withdrawal that the store does not allow ends at its deadline, or tells what stays', async () => {
  await host.publish(server('s1'));
  host.store.inject({ kind: 'fail' });
  const end = new AbortController();
  const tried = host.runtime.withdraw(end.signal);
  await world.clock.advanceAsync(5_000);
  end.abort();
  await tried;
  expect(failuresOf(host)).toMatchObject([
    { topology: 'clientServer', name: 'games', reason: 'StoreError: the store is out of order' },
    { lease: true, reason: 'the deadline is over' },
  ]);
  host.store.heal();

  const other = await world.openHost();
  await other.publish(server('s2'));
  other.store.inject({ kind: 'hold', at: 'request' });
  const deadline = new AbortController();
  const withdrawn = new Ending(other.runtime.withdraw(deadline.signal));
  await loopTurns(4);
  expect(withdrawn.state).toBe('pending');
  deadline.abort();
  await loopTurns(1);
  expect(withdrawn.state).toBe('resolved');
});

test('[LOC-004] a claim that cannot be written for 10 s is given up as Unavailable and leaves nothing behind', async () => {
  host.store.inject({ kind: 'fail' }, 'commit');
  const published = new Ending(host.publish(server('s1')));
  await world.clock.advanceAsync(9_999);
  expect(published.state).toBe('pending');
  await world.clock.advanceAsync(1);
  expect(published.error).toMatchObject({
    kind: 'Unavailable',
    message: expect.stringContaining('out of order') as string,
  });
  host.store.heal();
  await world.clock.advanceAsync(30_000);
  expect(await world.keys('d/')).toEqual([]);
});

test('[LOC-004] a claim whose start is aborted ends with the reason at once', async () => {
  host.store.inject({ kind: 'hold', at: 'request' }, 'commit');
  const abort = new AbortController();
  const published = host.publish(server('s1'), abort.signal).catch((error: unknown) => error);
  const reason = new Error('enough');
  abort.abort(reason);
  expect(await published).toBe(reason);
  await expect(host.publish(server('s1'), abort.signal)).rejects.toBe(reason);
});

test('[CS-013] a failover that brings back the record of an earlier generation supersedes nobody', async () => {
  const earlier = await world.openHost();
  await earlier.publish(server('s1'));
  world.save();
  await earlier.runtime.close(); // a crash
  const source = await host.publish(server('s1', { generation: 2n }));
  await world.rollBack();
  host.store.disrupt();
  await world.clock.advanceAsync(5_000);
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n, revision: 2n });
  expect([source.raised, host.eventIds().includes('zlink.location.descriptor_superseded')]).toEqual([1, false]);
  source.change({ weight: 5 });
  await host.written();
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n, weight: 5 });
  await host.runtime.withdraw(live());
  expect(await world.keys('d/')).toEqual([]);
});

test('[CS-013] of two generations that both live, the one that a failover brought back is superseded at last', async () => {
  await host.publish(server('s1'));
  world.save();
  const later = await world.openHost();
  await later.publish(server('s1', { generation: 2n }));
  await world.rollBack();
  for (const { store } of [host, later]) store.disrupt();
  await world.clock.advanceAsync(61_000);
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n });
  expect(host.eventIds()).toContain('zlink.location.descriptor_superseded');
  expect(later.eventIds()).not.toContain('zlink.location.descriptor_superseded');
});

test('[CS-013] a successor that claims after the failover is none from before it', async () => {
  await host.publish(server('s1'));
  world.save();
  host.store.inject({ kind: 'hold', at: 'request' });
  await world.rollBack();
  const successor = await world.openHost();
  await successor.publish(server('s1', { generation: 2n }));
  host.store.heal();
  host.store.disrupt();
  await world.clock.advanceAsync(61_000);
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n, ownerId: ownerOf(successor) });
  expect(host.eventIds()).toContain('zlink.location.descriptor_superseded');
});

test('[LOC-071] an own record that a failover took back to an earlier state is written again, without a new revision', async () => {
  const source = await host.publish(server('s1'));
  world.save();
  source.change({ weight: 9 });
  await host.written();
  await world.rollBack();
  host.store.disrupt();
  await world.clock.advanceAsync(5_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, weight: 9 });
  expect(source.raised).toBe(0);
});

test('[LOC-071] what an audit read before the record was put back, and answers afterwards, is no second loss', async () => {
  const source = await host.publish(server('s1'));
  await world.change({ kind: 'delete', key });
  host.store.inject({ kind: 'delay', at: 'request', ms: 300 }, 'commit');
  host.store.disrupt();
  await world.clock.advanceAsync(50); // the audit has found it, and the write is on its way
  host.store.heal(); // the delay that has begun stays
  host.store.inject({ kind: 'delay', at: 'reply', ms: 800 }, 'read', 1);
  host.store.disrupt(); // what this audit reads is older than that write, and its answer younger
  await world.clock.advanceAsync(10_000);
  expect(source.raised).toBe(1);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n });
});

test('[LOC-052] a write whose outcome is unknown is not repeated past the deadline', async () => {
  const source = await host.publish(server('s1'));
  await world.clock.advanceAsync(2_000);
  host.store.inject({ kind: 'hold', at: 'request' });
  source.change({ weight: 5 });
  await world.clock.advanceAsync(13_000);
  expect(host.runtime.admission.isOpen).toBe(false);
  const writes = writesOf(host);
  expect(writes).toBeGreaterThan(1);
  await world.clock.advanceAsync(30_000);
  expect(writesOf(host)).toBe(writes);
  host.store.heal();
  await world.clock.advanceAsync(10_000);
  expect(await world.findServer('s1')).toMatchObject({ weight: 5 });
});

test('[LOC-060] facts that cannot be written are reported, and the next ones are written again', async () => {
  const source = await host.publish(server('s1'));
  const facts = source.facts.bind(source);
  source.facts = () => {
    throw new Error('no facts');
  };
  source.publication?.changed();
  await loopTurns(2);
  expect(host.logs.at(-1)).toMatchObject({ level: 'error', eventId: 'zlink.location.publication_failed' });
  source.facts = facts;
  source.change({ weight: 3 });
  await host.written();
  expect(await world.findServer('s1')).toMatchObject({ weight: 3 });
});

test('[CS-013] of one run, too, another lifecycle generation is another server', async () => {
  await host.publish(server('s1'));
  await host.publish(server('s1', { generation: 2n }));
  host.store.disrupt();
  await loopTurns(8);
  expect(host.eventIds().filter((id) => id === 'zlink.location.descriptor_superseded')).toHaveLength(1);
  expect(await world.findServer('s1')).toMatchObject({ lifecycleGeneration: 2n });
});

test('[LOC-052] a fenced run removes nothing, and tells so', async () => {
  await host.publish(server('s1'));
  host.store.inject({ kind: 'fail' }, 'commit');
  await world.clock.advanceAsync(11_000);
  const end = new AbortController();
  const withdrawn = host.runtime.withdraw(end.signal);
  await world.clock.advanceAsync(5_000);
  end.abort();
  await withdrawn;
  expect(await world.keys('d/')).toEqual([key]);
  expect(failuresOf(host)[0]).toMatchObject({
    topology: 'clientServer',
    name: 'games',
    reason: 'the owner lease is not valid',
  });
});

test.each<[string, () => void]>([
  ['it stood still, and its lease is there', () => world.clock.stall(11_000)],
  ['it stood still for longer than its lease', () => world.clock.stall(20_000)],
  ['one removal is not applied', () => host.store.inject({ kind: 'fail' }, 'commit', 1)],
  ['one answer is lost', () => host.store.inject({ kind: 'loseReply' }, 'commit', 1)],
])('[LOC-055] an orderly end removes all in spite of a short hindrance: %s', async (_, hinder) => {
  await host.publish(server('s1'));
  await world.clock.advanceAsync(2_000);
  hinder();
  const withdrawn = new Ending(host.runtime.withdraw(live()));
  await world.clock.advanceAsync(1_500);
  expect(withdrawn.state).toBe('resolved');
  expect([await world.keys('d/'), await world.keys('l/'), failuresOf(host)]).toEqual([[], [], []]);
});

test('[LOC-055] a store that comes back while the host ends has its records removed', async () => {
  await host.publish(server('s1'));
  host.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(12_600); // fenced
  const withdrawn = new Ending(host.runtime.withdraw(live()));
  await world.clock.advanceAsync(1_000);
  host.store.heal();
  await world.clock.advanceAsync(2_000);
  expect(withdrawn.state).toBe('resolved');
  expect([await world.keys('d/'), await world.keys('l/'), failuresOf(host)]).toEqual([[], [], []]);
});

test('[LOC-070] a claim that was given up while its outcome was unknown is removed at the end', async () => {
  host.store.inject({ kind: 'loseReply' }, 'commit');
  const published = new Ending(host.publish(server('s1')));
  await world.clock.advanceAsync(62_000);
  expect(published.error).toMatchObject({ kind: 'Unavailable' });
  host.store.heal();
  await world.clock.advanceAsync(5_000);
  expect(await world.keys('d/')).toEqual([key]);
  await host.runtime.withdraw(live());
  expect(await world.keys('d/')).toEqual([]);
});

test('[LOC-071] a write that was acknowledged before a disruption was noticed is not trusted', async () => {
  const source = await host.publish(server('s1'));
  await world.clock.advanceAsync(1_000);
  host.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  source.change({ weight: 2 });
  await loopTurns(2);
  await world.change({ kind: 'delete', key });
  host.store.disrupt();
  await loopTurns(4);
  host.store.heal();
  await loopTurns(8);
  expect(await world.findServer('s1')).toMatchObject({ revision: 3n, weight: 2 });
});

test('[LOC-071] what an audit read before the last write decides nothing', async () => {
  const source = await host.publish(server('s1'));
  host.store.inject({ kind: 'hold', at: 'reply' }, 'read', 1);
  host.store.disrupt();
  await loopTurns(2);
  expect(host.store.heldCount).toBe(1);
  source.change({ weight: 2 });
  await host.written();
  host.store.heal();
  await loopTurns(8);
  expect(writesOf(host)).toBe(2);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, weight: 2 });
});

test('[LOC-071] an audit is tried again after 1 s, however rare polls are', async () => {
  const rare = await world.openHost({ timing: { ...DEFAULT_LOCATION_TIMING, pollingIntervalMs: 1_000_000 } });
  await rare.publish(server('s1'));
  await world.change({ kind: 'delete', key });
  rare.store.inject({ kind: 'fail' }, 'read', 3);
  rare.store.disrupt();
  await world.clock.advanceAsync(3_000);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n });
});

test('[LOC-060] changes while the store is away are not attempts each', async () => {
  const source = await host.publish(server('s1'));
  await world.clock.advanceAsync(1_000);
  host.store.inject({ kind: 'fail' }, 'commit');
  for (let weight = 0; weight < 100; weight++) {
    source.change({ weight });
    await loopTurns(1);
  }
  expect(writesOf(host)).toBe(2);
});

test('[LOC-053] a lapse that a commit runs into is repaired at once, and the commit follows', async () => {
  const source = await host.publish(server('s1'));
  await world.clock.advanceAsync(1_000);
  await world.change({ kind: 'delete', key: leaseKey(ownerOf(host)) });
  source.change({ weight: 2 });
  await loopTurns(8);
  expect(await world.findServer('s1')).toMatchObject({ revision: 2n, weight: 2 });

  await world.change({ kind: 'delete', key: leaseKey(ownerOf(host)) });
  await host.publish(server('s2')); // no time passes
  expect(await world.findServer('s2')).toMatchObject({ revision: 1n });
});

test('[LOC-033] a descriptor that is larger than a record may be is a mistake of the configuration', async () => {
  const node = meshNode('n1', 'game');
  node.change({ channels: Array.from({ length: 20_000 }, (_, at) => ({ name: `c${at}`.padEnd(60, 'x'), weight: 1 })) });
  await expect(host.publish(node)).rejects.toBeInstanceOf(ConfigurationError);
  expect(await world.keys('d/')).toEqual([]);
});

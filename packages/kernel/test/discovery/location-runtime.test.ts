/** How a host comes to its store and leaves it. */
import { loopTurns } from '@zlink/testing';
import { ConfigurationError } from '../../src/errors/index.ts';
import { descriptorKey, leaseKey, StoreError } from '../../src/location/index.ts';
import { Ending, games, type Host, live, server, World } from './runtime-rig.ts';

let world: World;
let host: Host;

beforeEach(async () => {
  world = await World.create();
  host = world.host();
});

afterEach(async () => {
  await world.closeAll();
  expect(world.pending).toBe(0);
});

test('[LOC-004] opening opens the store and acquires the lease, then admission is open', async () => {
  expect(host.runtime.admission.isOpen).toBe(false);
  await host.runtime.open(live());
  expect(host.runtime.admission.isOpen).toBe(true);
  expect(await world.keys('')).toHaveLength(1);
  expect(host.store.calls).toMatchObject({ open: 1, commit: 1 });
});

test('[LOC-004] a store that comes within 10 s is waited for: tries after 250 ms, doubling to 1 s', async () => {
  host.store.inject({ kind: 'fail' }, 'open', 4);
  host.store.inject({ kind: 'fail' }, 'commit', 2);
  const opened = new Ending(host.runtime.open(live()));
  await world.clock.advanceAsync(250 + 500 + 1_000 + 999);
  expect(host.store.calls.open).toBe(4);
  await world.clock.advanceAsync(1);
  expect(host.store.calls).toMatchObject({ open: 5, commit: 1 });
  await world.clock.advanceAsync(2_000);
  expect(opened.state).toBe('resolved');
  expect(host.store.calls.open).toBe(5);
});

test.each(['open', 'commit'] as const)(
  '[LOC-004] a store whose %s fails for 10 s: Unavailable, and it is disposed',
  async (operation) => {
    host.store.inject({ kind: 'fail' }, operation);
    const opened = new Ending(host.runtime.open(live()));
    await world.clock.advanceAsync(9_999);
    expect(opened.state).toBe('pending');
    await world.clock.advanceAsync(1);
    expect(opened.error).toMatchObject({
      kind: 'Unavailable',
      message: expect.stringContaining('out of order') as string,
    });
    await loopTurns(4);
    expect(host.store.calls.dispose).toBe(1);
    expect(world.pending).toBe(0);
  },
);

test('[LOC-004] a store that throws what it likes is a store that is away', async () => {
  host.store.inject({ kind: 'throw', error: 'no error at all' }, 'open');
  const opened = new Ending(host.runtime.open(live()));
  await world.clock.advanceAsync(10_000);
  expect(opened.error).toMatchObject({ kind: 'Unavailable' });
});

test('[LOC-004] data of another kind is a mistake of the configuration, at once', async () => {
  host.store.inject({ kind: 'fail', error: new StoreError('incompatible', 'notApplied', 'schema 7') }, 'open');
  const opened = host.runtime.open(live());
  await expect(opened).rejects.toBeInstanceOf(ConfigurationError);
  await expect(opened).rejects.toThrow('location store: schema 7');
  expect(world.clock.pendingTimers).toBe(0);
});

test.each(['open', 'commit'] as const)(
  '[LOC-004] a start that is aborted while %s hangs ends with the reason at once',
  async (operation) => {
    host.store.inject({ kind: 'hold', at: 'request' }, operation);
    const abort = new AbortController();
    const opened = new Ending(host.runtime.open(abort.signal));
    await loopTurns(4);
    expect(host.store.heldCount).toBe(1);
    const reason = new Error('enough');
    abort.abort(reason);
    await loopTurns(1);
    expect(opened).toMatchObject({ state: 'rejected', error: reason });
    await world.clock.advanceAsync(5_000); // what may have been stored is taken back, as long as the store allows
    expect(host.store.calls.dispose).toBe(1);
    expect(world.pending).toBe(0);
  },
);

test('[LOC-004] a start that is aborted before it begins asks the store for nothing', async () => {
  const reason = new Error('enough');
  await expect(host.runtime.open(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(host.store.calls).toMatchObject({ open: 0, commit: 0 });
});

test('[LOC-004] a lease whose acquisition is aborted is taken back', async () => {
  host.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  const abort = new AbortController();
  const opened = new Ending(host.runtime.open(abort.signal));
  await loopTurns(4);
  expect(await world.keys('l/')).toHaveLength(1);
  abort.abort();
  await loopTurns(8);
  expect(opened.state).toBe('rejected');
  expect(await world.keys('l/')).toEqual([]);
});

test('[LOC-003] close disposes the store once, ends every wait, and leaves no timer', async () => {
  await host.runtime.open(live());
  await host.publish(server('s1'));
  host.watch(games);
  host.store.inject({ kind: 'hold', at: 'request' });
  const published = new Ending(host.publish(server('s2')));
  await world.clock.advanceAsync(1_500);
  await Promise.all([host.runtime.close(), host.runtime.close()]);
  await host.runtime.close();
  expect(host.store.calls.dispose).toBe(1);
  expect(published.error).toMatchObject({ kind: 'ShuttingDown' });
  expect(world.pending).toBe(0);
  const calls = { ...host.store.calls };
  host.store.heal();
  host.store.disrupt();
  await world.clock.advanceAsync(120_000);
  expect(host.store.calls).toEqual(calls);
  expect(host.store.listenerCount).toBe(0);
});

test('[LOC-003] a store that does not end keeps nobody from ending', async () => {
  await host.runtime.open(live());
  host.store.inject({ kind: 'hold', at: 'request' }, 'dispose');
  const closed = new Ending(host.runtime.close());
  await world.clock.advanceAsync(3_000);
  expect(closed.state).toBe('resolved');
});

test('[LOC-055] the lease is renewed until the withdrawal, and others see the end at their next poll', async () => {
  await host.runtime.open(live());
  await host.publish(server('s1'));
  const viewer = await world.openHost();
  const watcher = viewer.watch(games);
  await world.clock.advanceAsync(60_000);
  expect(watcher.rids).toEqual(['s1']);
  expect(await world.keys('l/')).toHaveLength(2);
  await host.runtime.withdraw(live());
  await world.clock.advanceAsync(1_000);
  expect(watcher.rids).toEqual([]);
  expect(await world.keys('l/')).toHaveLength(1);
  await world.clock.advanceAsync(30_000);
  expect(await world.keys('l/')).toHaveLength(1); // the poll does not mistake its end for a lapse
});

test('[LOC-055] once it withdraws nothing is asked of the store any more, whatever is under way', async () => {
  await host.runtime.open(live());
  host.watch(games);
  await world.clock.advanceAsync(2_000);
  host.store.inject({ kind: 'delay', at: 'reply', ms: 400 }, 'read');
  await world.clock.advanceAsync(1_000);
  const { read } = host.store.calls;
  const withdrawn = host.runtime.withdraw(live());
  host.store.disrupt();
  await world.clock.advanceAsync(3_000);
  await withdrawn;
  expect(host.store.calls.read).toBe(read);
});

test('[LOC-053] a poll that finds the own lease absent has it put back at once', async () => {
  await host.runtime.open(live());
  host.watch(games);
  await world.clock.advanceAsync(1_000);
  const [key] = await world.keys(leaseKey(''));
  await world.change({ kind: 'delete', key: key ?? '' });
  await world.clock.advanceAsync(1_100);
  expect(await world.keys('l/')).toEqual([key]);
  expect(host.runtime.admission.isOpen).toBe(true);
});

test('[LOC-053] a process that stood still is fenced, and goes on with its own record', async () => {
  await host.runtime.open(live());
  const source = await host.publish(server('s1'));
  await world.clock.advanceAsync(2_000);
  world.clock.stall(40_000);
  expect(host.runtime.admission.isOpen).toBe(false);
  await world.change({ kind: 'delete', key: descriptorKey(games, 's1') }); // as a peer does it
  source.change({ weight: 3 });
  await world.clock.advanceAsync(2_000);
  expect(host.runtime.admission.isOpen).toBe(true);
  expect(await world.findServer('s1')).toMatchObject({ revision: 3n, weight: 3, lifecycleGeneration: 1n });
});

test('[LOC-064] the store going and coming is logged once each way', async () => {
  await host.runtime.open(live());
  host.watch(games);
  host.store.inject({ kind: 'fail' });
  await world.clock.advanceAsync(20_000);
  host.store.heal();
  await world.clock.advanceAsync(20_000);
  const changes = host.logs.filter(({ eventId }) => eventId === 'zlink.runtime.location.store_changed');
  expect(changes.map(({ state }) => state)).toEqual(['degraded', 'ready']);
});

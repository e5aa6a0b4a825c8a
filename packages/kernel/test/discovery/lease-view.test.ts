import { loopTurns } from '@zlink/testing';
import { DEFAULT_LOCATION_TIMING as timing } from '../../src/internal/discovery/location-timing.ts';
import { LeaseView } from '../../src/internal/discovery/lease-view.ts';
import { StoreError } from '../../src/location/index.ts';
import { arrangeOpenStore, deleteLease, pendingIn, putLease, type StoreRig } from './store-rig.ts';

const intervalMs = timing.ownerLeaseRenewIntervalMs;
/** So long after a recovery an absence is not believed. */
const doubtMs = intervalMs + timing.ownerLeaseRenewTimeoutMs;
const longMs = 3_600_000;

interface ViewRig extends StoreRig {
  readonly view: LeaseView;
  readonly changes: () => number;
  /** Those of `a`, `b` and `c` that count as present. */
  readonly present: () => string;
}

/** `a` and `b` have leases that outlast the test, `c` has none. */
async function arrangeView(): Promise<ViewRig> {
  const rig = await arrangeOpenStore();
  const view = new LeaseView({ calls: rig.calls, timing, clock: rig.clock });
  let changes = 0;
  view.onChanged(() => changes++);
  await rig.change(putLease('a', longMs), putLease('b', longMs));
  return {
    ...rig,
    view,
    changes: () => changes,
    present: () => ['a', 'b', 'c'].filter((ownerId) => view.isPresent(ownerId)).join(''),
  };
}

async function arrangeKnowing(): Promise<ViewRig> {
  const rig = await arrangeView();
  await rig.view.learn(['a', 'b', 'c']);
  rig.view.start();
  return rig;
}

async function failOnce({ store, calls, clock }: StoreRig, outageMs: number): Promise<void> {
  store.inject({ kind: 'fail' }, 'read');
  await calls.read({}).catch(() => {});
  await clock.advanceAsync(outageMs);
  store.heal();
}

test('[LOC-063] owners that are not known count as present; learning reads each once', async () => {
  const rig = await arrangeView();
  expect(rig.present()).toBe('abc');
  await rig.view.learn(['a', 'c', 'c']);
  expect([rig.present(), rig.view.absentSinceMs('c')]).toEqual(['ab', rig.clock.nowMs()]);
  await rig.view.learn(['a', 'c']);
  await rig.view.learn([]);
  expect(rig.store.calls.read).toBe(1);
  await rig.view.learn(['a', 'b']);
  expect(rig.store.calls.read).toBe(2);
  expect(rig.changes()).toBe(0); // who learns looks by itself
});

test('[LOC-063] every renew interval all leases are read: an absent one is seen, and one that came back', async () => {
  const rig = await arrangeKnowing();
  await rig.change(deleteLease('b'), putLease('c', longMs));
  await rig.clock.advanceAsync(intervalMs - 1);
  expect([rig.present(), rig.changes()]).toEqual(['ab', 0]);
  await rig.clock.advanceAsync(1);
  expect([rig.present(), rig.changes()]).toEqual(['ac', 1]);
  const sinceMs = rig.clock.nowMs();
  await rig.clock.advanceAsync(2 * intervalMs);
  expect([rig.view.absentSinceMs('b'), rig.view.absentSinceMs('c')]).toEqual([sinceMs, undefined]);
  await rig.change(putLease('b', longMs));
  await rig.clock.advanceAsync(intervalMs);
  expect([rig.present(), rig.changes(), rig.view.absentSinceMs('b')]).toEqual(['abc', 2, undefined]);
  expect(rig.store.calls.read).toBe(5);
  rig.view.stop();
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-063] the lease of a host that was killed is seen to be absent within ttl and one interval', async () => {
  const rig = await arrangeView();
  await rig.change(putLease('a', timing.ownerLeaseTtlMs));
  await rig.view.learn(['a']);
  rig.view.start();
  await rig.clock.advanceAsync(timing.ownerLeaseTtlMs - 1);
  expect(rig.view.isPresent('a')).toBe(true);
  await rig.clock.advanceAsync(intervalMs);
  expect(rig.view.isPresent('a')).toBe(false);
  rig.view.stop();
});

test('[LOC-063] more than 1,024 owners are read in several reads', async () => {
  const rig = await arrangeView();
  const many = Array.from({ length: 2_049 }, (_, index) => `owner ${index}`);
  const sizes: (number | undefined)[] = [];
  const read = rig.store.read.bind(rig.store);
  rig.store.read = (...call) => {
    sizes.push(call[0].records?.length);
    return read(...call);
  };
  await rig.change(putLease('owner 2048', longMs), putLease('owner 1024', longMs));
  await rig.view.learn(many);
  expect(sizes).toEqual([1_024, 1_024, 1]);
  expect(many.filter((ownerId) => rig.view.isPresent(ownerId))).toEqual(['owner 1024', 'owner 2048']);
  rig.view.start();
  await rig.clock.advanceAsync(intervalMs);
  expect(sizes).toEqual([1_024, 1_024, 1, 1_024, 1_024, 1]);
  rig.view.stop();
});

test('[LOC-063] who is not retained is forgotten, also while its lease is read', async () => {
  const rig = await arrangeKnowing();
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 10 }, 'read', 1);
  await rig.clock.advanceAsync(intervalMs);
  rig.view.retain(new Set(['a']));
  expect(rig.present()).toBe('abc'); // unknown again
  await rig.clock.advanceAsync(10);
  expect(rig.present()).toBe('abc');
  await rig.view.learn(['b', 'c']);
  expect(rig.present()).toBe('ab');
  rig.view.stop();
});

test('[LOC-064] a failed read changes nothing, whether it is to learn or comes regularly', async () => {
  const rig = await arrangeKnowing();
  await rig.change(deleteLease('a'), putLease('c', longMs));
  const down = new StoreError('unavailable', 'notApplied', 'down');
  rig.store.inject({ kind: 'fail', error: down }, 'read');
  await expect(rig.view.learn(['d'])).rejects.toBe(down);
  await rig.clock.advanceAsync(3 * intervalMs);
  expect([rig.present(), rig.changes(), rig.view.isPresent('d')]).toEqual(['ab', 0, true]);
  rig.view.stop();
  rig.store.heal();
  await expect(rig.view.learn(['d'])).rejects.toMatchObject({ name: 'StoreError' }); // it has ended
  rig.view.start();
  await loopTurns(2);
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-065] after an outage an absence is believed only of a read that began when there was time to resume', async () => {
  const rig = await arrangeKnowing();
  await failOnce(rig, intervalMs - 1_000);
  await rig.change(deleteLease('b'));
  const readAtMs: number[] = [];
  const read = rig.store.read.bind(rig.store);
  rig.store.read = (...call) => {
    readAtMs.push(rig.clock.nowMs());
    return read(...call);
  };
  await rig.clock.advanceAsync(1_000); // the next regular read is the first success
  const recoveredAtMs = rig.calls.recoveredAtMs as number;
  expect(recoveredAtMs).toBe(rig.clock.nowMs());
  expect(rig.present()).toBe('ab'); // `c` was absent before and still is
  await rig.clock.advanceAsync(doubtMs);
  expect(rig.present()).toBe('ab'); // the time is over, but it was not read since
  await rig.clock.advanceAsync(2 * intervalMs - doubtMs);
  expect(rig.present()).toBe('a');
  expect(readAtMs.map((each) => each - recoveredAtMs)).toEqual([0, intervalMs, 2 * intervalMs]);
  expect(rig.view.absentSinceMs('b')).toBe(rig.clock.nowMs()); // the whole ttl counts from here
  rig.view.stop();
});

test('[LOC-065] what counts is when a read began, not when its answer came', async () => {
  const rig = await arrangeView();
  await failOnce(rig, 0);
  await rig.calls.read({});
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 10 }, 'read');
  await rig.clock.advanceAsync(doubtMs - 1);
  const early = rig.view.learn(['c']);
  await rig.clock.advanceAsync(10);
  await early;
  expect(rig.view.isPresent('c')).toBe(true);
  const inTime = rig.view.learn(['d']);
  await rig.clock.advanceAsync(10);
  await inTime;
  expect(rig.view.isPresent('d')).toBe(false);
});

test('[LOC-065] a store that answers reads and takes no renewals lets nobody become absent', async () => {
  const rig = await arrangeKnowing();
  rig.store.inject({ kind: 'fail' }, 'commit');
  await rig.calls.attempt({ conditions: [], mutations: [putLease('a')] }, 1_000).catch(() => {});
  await rig.change(deleteLease('a'));
  await rig.clock.advanceAsync(10 * intervalMs);
  expect(rig.present()).toBe('ab'); // `c` was absent before
  rig.store.heal();
  await rig.calls.attempt({ conditions: [], mutations: [putLease('b', longMs)] }, 1_000);
  expect(rig.present()).toBe('ab');
  await rig.clock.advanceAsync(doubtMs + intervalMs);
  expect(rig.present()).toBe('b');
  rig.view.stop();
});

test('[LOC-065] who resumed meanwhile was never absent for others', async () => {
  const rig = await arrangeKnowing();
  await failOnce(rig, 2 * intervalMs);
  await rig.change(deleteLease('a'), deleteLease('b'));
  const seen = new Set<string>();
  for (let at = 0; at < doubtMs - 100; at += 100) {
    await rig.clock.advanceAsync(100);
    seen.add(rig.present());
  }
  await rig.change(putLease('a', longMs), putLease('b', longMs));
  for (let at = 0; at < 3 * intervalMs; at += 100) {
    await rig.clock.advanceAsync(100);
    seen.add(rig.present());
  }
  expect([...seen]).toEqual(['ab']); // `c`, absent before, stays so
  rig.view.stop();
});

test('[LOC-063] short failures of the store do not bring anybody back who is gone', async () => {
  const rig = await arrangeKnowing();
  const sinceMs = rig.view.absentSinceMs('c');
  for (let round = 0; round < 10; round++) {
    await failOnce(rig, 0);
    await rig.clock.advanceAsync(intervalMs);
    expect(rig.present()).toBe('ab');
  }
  expect([rig.view.absentSinceMs('c'), rig.changes()]).toEqual([sinceMs, 0]);
  await rig.change(putLease('c', longMs));
  await failOnce(rig, 0);
  await rig.clock.advanceAsync(intervalMs);
  expect(rig.present()).toBe('abc'); // its lease was seen
  rig.view.stop();
});

test('[LOC-065] a disruption takes back what was believed to be absent, also by a read that was under way', async () => {
  const rig = await arrangeKnowing();
  expect(rig.present()).toBe('ab');
  await rig.change(deleteLease('a'));
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 10 }, 'read', 1);
  await rig.clock.advanceAsync(intervalMs);
  rig.store.disrupt();
  expect([rig.present(), rig.changes()]).toEqual(['abc', 1]);
  await rig.clock.advanceAsync(10);
  expect([rig.present(), rig.changes()]).toEqual(['abc', 1]);
  await rig.view.learn(['d']);
  expect(rig.view.isPresent('d')).toBe(true); // a newcomer is not believed to be absent either
  await rig.clock.advanceAsync(3 * intervalMs);
  expect([rig.present(), rig.view.isPresent('d'), rig.changes()]).toEqual(['b', false, 2]);
  rig.view.stop();
});

test('[LOC-063] answers that come in another order leave the latest observation', async () => {
  const rig = await arrangeView();
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 100 }, 'read', 1);
  const first = rig.view.learn(['c']); // sees it absent
  await rig.clock.advanceAsync(10);
  await rig.change(putLease('c', longMs));
  await rig.view.learn(['c']);
  await rig.clock.advanceAsync(90);
  await first;
  expect(rig.view.isPresent('c')).toBe(true);
});

test('[LOC-063] a read that hangs ends by its timeout, and ending the view leaves nothing waiting', async () => {
  const rig = await arrangeKnowing();
  rig.store.inject({ kind: 'hold', at: 'reply' }, 'read');
  await rig.clock.advanceAsync(intervalMs);
  expect(rig.store.heldCount).toBe(1);
  expect(pendingIn(rig)).toBe(1); // the timeout of the read
  await rig.clock.advanceAsync(intervalMs);
  expect(rig.store.heldCount).toBe(2); // the pace does not depend on answers
  rig.view.stop();
  await loopTurns(2);
  expect(pendingIn(rig)).toBe(0);
});

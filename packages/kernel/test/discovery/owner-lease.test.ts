import { loopTurns } from '@zlink/testing';
import { leaseGenerationOf, leaseKey, StoreError, type StoreRecord } from '../../src/location/index.ts';
import { arrangeHeldLease, arrangeLease, expectDeadline, type LeaseRig, timing, windowMs } from './lease-rig.ts';
import { deleteLease, live, type LogRecord, pendingIn } from './store-rig.ts';

const { ownerLeaseTtlMs: ttlMs, ownerLeaseRenewIntervalMs: intervalMs } = timing;

/** Since when the lease was renewed, by its expiry in the store. */
async function renewedAtMs({ stored }: LeaseRig): Promise<number | undefined> {
  const expiresAtMs = (await stored())?.expiresAtMs;
  return expiresAtMs === undefined ? undefined : expiresAtMs - ttlMs;
}

function generationOf(record: StoreRecord | undefined): bigint | undefined {
  return record?.value === undefined ? undefined : leaseGenerationOf({ value: record.value, version: record.version });
}

function ofLease({ logs }: LeaseRig): readonly LogRecord[] {
  return logs.filter(({ eventId }) => eventId.startsWith('zlink.location.'));
}

const fencedAndBack = ['zlink.location.fenced', 'zlink.location.unfenced'];

async function expectNothingLeft(rig: LeaseRig): Promise<void> {
  await loopTurns(4);
  expect(pendingIn(rig)).toBe(0);
  const { commit } = rig.store.calls;
  await rig.clock.advanceAsync(60_000);
  expect(rig.store.calls.commit).toBe(commit);
}

test('[LOC-050] a lease is acquired once and renewed every interval for as long as it is held', async () => {
  const rig = await arrangeLease();
  expect([rig.lease.isOpen, rig.lease.leaseGeneration]).toEqual([false, 0n]);
  await rig.lease.acquire(live());
  const acquiredAtMs = rig.clock.nowMs();
  const record = await rig.stored();
  expect(record).toMatchObject({ expiresAtMs: acquiredAtMs + ttlMs, version: rig.lease.leaseGeneration });
  expect(rig.lease.isOpen).toBe(true);
  for (const round of [1, 2, 3]) {
    await rig.clock.advanceAsync(intervalMs - 1);
    expect(await renewedAtMs(rig)).toBe(acquiredAtMs + (round - 1) * intervalMs);
    await rig.clock.advanceAsync(1);
    expect(await renewedAtMs(rig)).toBe(acquiredAtMs + round * intervalMs);
  }
  expect(await rig.stored()).toMatchObject({ version: record?.version }); // a touch makes no version
  expect(rig.store.calls.commit).toBe(4);
  expect([rig.reopened(), rig.logs]).toEqual([0, []]);
  expect([rig.clock.pendingTimers, rig.clock.pendingBackgroundTimers]).toEqual([0, 2]); // renewal, deadline
  await rig.lease.release(live());
  await expectNothingLeft(rig);
});

test('[LOC-050] owner ids are uuids v4, new for each run', async () => {
  const { lease } = await arrangeLease();
  expect(lease.ownerId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect((await arrangeLease()).lease.ownerId).not.toBe(lease.ownerId);
  expect(lease.condition).toEqual({ kind: 'present', key: leaseKey(lease.ownerId) });
});

test('[LOC-050] an attempt that gets no answer ends after its timeout, and 1,000 ms later the next begins', async () => {
  const rig = await arrangeHeldLease();
  rig.store.inject({ kind: 'hold', at: 'request' }, 'commit');
  await rig.clock.advanceAsync(intervalMs);
  expect(rig.store.calls.commit).toBe(2);
  await rig.clock.advanceAsync(timing.ownerLeaseRenewTimeoutMs + 999);
  expect(rig.store.calls.commit).toBe(2);
  await rig.clock.advanceAsync(1);
  expect(rig.store.calls.commit).toBe(3);
  const operationIds = rig.store.batches.map(({ operationId }) => operationId);
  expect(new Set(operationIds).size).toBe(3); // a repetition would be answered for the time of the first
  rig.lease.stop();
  await expectNothingLeft(rig);
});

test('[LOC-050] a renewal that fails at once is tried again every 1,000 ms, and the first success sets the pace again', async () => {
  const rig = await arrangeHeldLease();
  rig.store.inject({ kind: 'fail' }, 'commit', 3);
  await rig.clock.advanceAsync(intervalMs + 2_999);
  expect(rig.store.calls.commit).toBe(4);
  await rig.clock.advanceAsync(1);
  expect(await renewedAtMs(rig)).toBe(rig.clock.nowMs());
  await rig.clock.advanceAsync(intervalMs - 1);
  expect(rig.store.calls.commit).toBe(5);
  await rig.clock.advanceAsync(1);
  expect(rig.store.calls.commit).toBe(6);
  expect(rig.reopened()).toBe(0); // it was never closed
  rig.lease.stop();
});

test('[LOC-051] the deadline is reckoned from before the request, however late the answer comes', async () => {
  const rig = await arrangeLease();
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 2_500 }, 'commit', 2);
  const startMs = rig.clock.nowMs();
  const acquired = rig.lease.acquire(live());
  await rig.clock.advanceAsync(2_500);
  await acquired;
  await rig.clock.advanceAsync(2_500); // the interval, too, counts from the request
  expect(rig.store.calls.commit).toBe(2);
  await rig.clock.advanceAsync(2_500);
  expectDeadline(rig, startMs + intervalMs + windowMs);
  rig.lease.stop();

  const first = await arrangeLease();
  first.store.inject({ kind: 'delay', at: 'reply', ms: 2_500 }, 'commit', 1);
  const slow = first.lease.acquire(live());
  await first.clock.advanceAsync(2_500);
  await slow;
  expectDeadline(first, startMs + windowMs);
  first.lease.stop();
});

test('[LOC-051] an answer after the timeout of its attempt extends nothing', async () => {
  const rig = await arrangeHeldLease();
  const deadlineAtMs = rig.clock.nowMs() + windowMs;
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 3_500 }, 'commit');
  await rig.clock.advanceAsync(intervalMs + 3_600);
  expect(await renewedAtMs(rig)).toBe(rig.clock.nowMs() - 3_600); // the store has taken it
  expectDeadline(rig, deadlineAtMs);
  rig.lease.stop();
  await rig.clock.advanceAsync(3_500);
  await expectNothingLeft(rig);
});

test('[LOC-051] one slow success and one lost renewal close no admission', async () => {
  const rig = await arrangeHeldLease();
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 2_999 }, 'commit', 1);
  await rig.clock.advanceAsync(intervalMs + 2_999);
  rig.store.inject({ kind: 'hold', at: 'request' }, 'commit', 1);
  await rig.clock.advanceAsync(2_001 + 3_000 + 999);
  expect(rig.lease.isOpen).toBe(true);
  await rig.clock.advanceAsync(1);
  expect(rig.reopened()).toBe(0);
  expectDeadline(rig, rig.clock.nowMs() + windowMs);
  rig.lease.stop();
});

test('[LOC-052] past the deadline admission is closed without any timer, also when the process stood still', async () => {
  const rig = await arrangeHeldLease();
  rig.clock.stall(windowMs - 1);
  expect(rig.lease.isOpen).toBe(true);
  rig.clock.stall(1);
  expect(rig.lease.isOpen).toBe(false);
  await rig.clock.advanceAsync(0); // the store still has the lease: it is renewed, and admission opens
  expect(rig.lease.isOpen).toBe(true);
  expect([rig.reopened(), rig.eventIds()]).toEqual([1, []]); // before the log would have told
  rig.lease.stop();
});

test('[LOC-052] a store that is away closes admission at the deadline; renewals go on and open it again', async () => {
  const rig = await arrangeHeldLease();
  const generation = rig.lease.leaseGeneration;
  rig.store.inject({ kind: 'fail' });
  await rig.clock.advanceAsync(windowMs - 1);
  expect(rig.lease.isOpen).toBe(true);
  await rig.clock.advanceAsync(1);
  expect(rig.lease.isOpen).toBe(false);
  await rig.clock.advanceAsync(3_500);
  rig.store.heal();
  await rig.clock.advanceAsync(1_000);
  expect([rig.lease.isOpen, rig.reopened(), rig.lease.leaseGeneration]).toEqual([true, 1, generation]);
  rig.lease.stop();
});

test('[LOC-052] the log says once that admission has closed, at the deadline, and once that it is open again', async () => {
  const rig = await arrangeHeldLease();
  rig.store.inject({ kind: 'fail' });
  await rig.clock.advanceAsync(windowMs - 1);
  expect(ofLease(rig)).toEqual([]);
  await rig.clock.advanceAsync(1);
  const fenced = {
    level: 'warn',
    eventId: 'zlink.location.fenced',
    unrenewedMs: 10_000,
    text: 'no renewal for 10000 ms; ClientServer servers of this host refuse new messages until the store answers',
  };
  expect(ofLease(rig)).toEqual([fenced]);
  await rig.clock.advanceAsync(3_500); // renewals go on, and fail
  expect(ofLease(rig)).toEqual([fenced]);
  rig.store.heal();
  await rig.clock.advanceAsync(500);
  const unfenced = {
    level: 'warn',
    eventId: 'zlink.location.unfenced',
    fencedMs: 4_000,
    text: 'renewed after 4000 ms without admission; ClientServer servers of this host take new messages again',
  };
  expect(ofLease(rig)).toEqual([fenced, unfenced]);
  await rig.clock.advanceAsync(60_000);
  expect(ofLease(rig)).toHaveLength(2);
  rig.store.inject({ kind: 'fail' }); // another episode
  await rig.clock.advanceAsync(intervalMs + windowMs);
  expect(ofLease(rig).map(({ eventId }) => eventId)).toEqual([...fencedAndBack, 'zlink.location.fenced']);
  rig.lease.stop();
});

test('[LOC-052] a lease that is absent, or that has ended, is not told of as fenced', async () => {
  const absent = await arrangeHeldLease();
  absent.store.inject({ kind: 'fail' }, 'commit');
  absent.lease.foundAbsent(absent.clock.nowMs());
  await absent.clock.advanceAsync(ttlMs);
  expect(ofLease(absent).map(({ eventId }) => eventId)).toEqual(['zlink.location.lease_lapsed']);
  absent.lease.stop();

  const stopped = await arrangeHeldLease();
  stopped.store.inject({ kind: 'fail' });
  stopped.lease.stop();
  await stopped.clock.advanceAsync(ttlMs);
  expect(ofLease(stopped)).toEqual([]);

  const released = await arrangeHeldLease();
  await released.clock.advanceAsync(4_000);
  await released.lease.release(live());
  await released.clock.advanceAsync(ttlMs);
  expect(ofLease(released)).toEqual([]);

  const fenced = await arrangeHeldLease();
  fenced.store.inject({ kind: 'fail' });
  await fenced.clock.advanceAsync(windowMs);
  fenced.store.heal();
  await fenced.lease.release(live());
  await fenced.clock.advanceAsync(ttlMs);
  expect(ofLease(fenced).map(({ eventId }) => eventId)).toEqual(['zlink.location.fenced']);
});

test('[LOC-053] a lease that has ended is put back under the same generation before admission opens', async () => {
  const rig = await arrangeHeldLease();
  const generation = rig.lease.leaseGeneration;
  const openAtCommit: boolean[] = [];
  const commit = rig.store.commit.bind(rig.store);
  rig.store.commit = (...call) => {
    openAtCommit.push(rig.lease.isOpen);
    return commit(...call);
  };
  rig.store.inject({ kind: 'fail' });
  await rig.clock.advanceAsync(ttlMs + 1_000);
  expect(await rig.stored()).toBeUndefined();
  rig.store.heal();
  await rig.clock.advanceAsync(1_000);
  expect(openAtCommit.slice(-2)).toEqual([false, false]); // the renewal that finds it absent, and the resumption
  expect([rig.lease.isOpen, rig.reopened()]).toEqual([true, 1]);
  expect(rig.lease.leaseGeneration).toBe(generation);
  const record = await rig.stored();
  expect(generationOf(record)).toBe(generation);
  expect(record?.version).toBeGreaterThan(generation);
  expect(ofLease(rig)).toEqual([
    expect.objectContaining({ eventId: 'zlink.location.fenced' }),
    {
      level: 'warn',
      eventId: 'zlink.location.lease_lapsed',
      foundBy: 'renewal',
      text: 'the owner lease is absent; ClientServer servers of this host refuse new messages until it is back',
    },
    {
      level: 'warn',
      eventId: 'zlink.location.lease_resumed',
      lapsedMs: 0,
      text: 'the owner lease is back after 0 ms; ClientServer servers of this host take new messages again',
    },
    expect.objectContaining({ eventId: 'zlink.location.unfenced' }),
  ]);
  expect(JSON.stringify(rig.logs)).not.toContain(rig.lease.ownerId);
  rig.lease.stop();
});

test('[LOC-053] who reads that the lease is absent makes it resume at once; until then nothing is admitted', async () => {
  const rig = await arrangeHeldLease();
  await rig.change(deleteLease(rig.lease.ownerId));
  rig.store.inject({ kind: 'fail' }, 'commit', 1);
  rig.lease.foundAbsent(rig.clock.nowMs());
  expect(rig.lease.isOpen).toBe(false);
  await rig.clock.advanceAsync(400);
  expect(rig.store.calls.commit).toBe(2);
  rig.store.inject({ kind: 'delay', at: 'reply', ms: 100 }, 'commit', 1);
  rig.lease.foundAbsent(rig.clock.nowMs()); // again: no need to wait for the next attempt
  rig.lease.foundAbsent(rig.clock.nowMs()); // that attempt is under way
  expect(rig.store.calls.commit).toBe(3);
  await rig.clock.advanceAsync(99);
  expect(rig.lease.isOpen).toBe(false);
  await rig.clock.advanceAsync(1);
  expect(rig.lease.isOpen).toBe(true);
  expect(rig.reopened()).toBe(1);
  expect(rig.logs.at(-1)).toMatchObject({ eventId: 'zlink.location.lease_resumed', lapsedMs: 500 });
  expect(generationOf(await rig.stored())).toBe(rig.lease.leaseGeneration);
  rig.lease.stop();
});

test('[LOC-053] a renewal that was under way when the lease was read absent opens nothing', async () => {
  const rig = await arrangeHeldLease();
  rig.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  await rig.clock.advanceAsync(intervalMs);
  await rig.change(deleteLease(rig.lease.ownerId)); // after the renewal was applied
  rig.store.inject({ kind: 'hold', at: 'request' }, 'commit', 1);
  rig.lease.foundAbsent(rig.clock.nowMs());
  await loopTurns(2);
  expect(rig.store.heldCount).toBe(2);
  rig.store.heal();
  await loopTurns(4);
  expect([rig.lease.isOpen, rig.reopened()]).toEqual([true, 1]); // by the resumption
  expect(await rig.stored()).toBeDefined();
  rig.lease.stop();
});

test('[LOC-053] a resumption whose answer was lost is recognised, and the lease renewed', async () => {
  const rig = await arrangeHeldLease();
  await rig.change(deleteLease(rig.lease.ownerId));
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1);
  rig.lease.foundAbsent(rig.clock.nowMs());
  await rig.clock.advanceAsync(999);
  expect(rig.lease.isOpen).toBe(false);
  await rig.clock.advanceAsync(2);
  expect([rig.lease.isOpen, rig.reopened()]).toEqual([true, 1]);
  expectDeadline(rig, rig.clock.nowMs() + windowMs);
  rig.lease.stop();
});

test('[LOC-053] what was read before the last proof began takes nothing back', async () => {
  const rig = await arrangeHeldLease();
  const readBeganAtMs = rig.clock.nowMs() + 4_999;
  await rig.clock.advanceAsync(intervalMs);
  expect(rig.store.calls.commit).toBe(2); // the renewal
  rig.lease.foundAbsent(readBeganAtMs);
  expect([rig.lease.isOpen, rig.eventIds()]).toEqual([true, []]);
  await loopTurns(2);
  expect(rig.store.calls.commit).toBe(2);
  rig.lease.stop();
});

test('[LOC-053] a wrong report of absence costs one renewal', async () => {
  const rig = await arrangeHeldLease();
  rig.lease.foundAbsent(rig.clock.nowMs());
  await rig.clock.advanceAsync(1);
  expect([rig.lease.isOpen, rig.store.calls.commit]).toEqual([true, 3]);
  expect(generationOf(await rig.stored())).toBe(rig.lease.leaseGeneration);
  rig.lease.stop();
});

test('[LOC-053] a lease that is lost again and again, also between two attempts, is put back each time', async () => {
  const rig = await arrangeHeldLease();
  rig.lease.foundAbsent(rig.clock.nowMs()); // it is present: the attempt to put it back conflicts
  await loopTurns(2);
  await rig.change(deleteLease(rig.lease.ownerId)); // and now the renewal that follows does
  await rig.clock.advanceAsync(2);
  expect(rig.lease.isOpen).toBe(true);
  expect(rig.reopened()).toBe(1);
  expect(generationOf(await rig.stored())).toBe(rig.lease.leaseGeneration);
  rig.lease.stop();
});

test('[LOC-053] after a disruption the lease is proven at once, and put back if the store has lost it', async () => {
  const rig = await arrangeHeldLease();
  await rig.change(deleteLease(rig.lease.ownerId));
  rig.store.disrupt();
  await loopTurns(4);
  expect([rig.lease.isOpen, rig.reopened()]).toEqual([true, 1]);
  expect(await rig.stored()).toBeDefined();
  rig.lease.stop();
  rig.store.disrupt();
  await expectNothingLeft(rig);
});

test('[LOC-050] a claim whose answer was lost is found by the next try, and its generation taken from the record', async () => {
  const rig = await arrangeLease();
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1);
  await expect(rig.lease.acquire(live())).rejects.toMatchObject({ outcome: 'unknown' });
  expect([rig.lease.isOpen, pendingIn(rig)]).toEqual([false, 0]);
  await rig.clock.advanceAsync(4_000);
  await rig.lease.acquire(live());
  const record = await rig.stored();
  expect([rig.lease.isOpen, rig.lease.leaseGeneration]).toEqual([true, record?.version]);
  expect(await renewedAtMs(rig)).toBe(rig.clock.nowMs());
  expectDeadline(rig, rig.clock.nowMs() + windowMs);
  rig.lease.stop();
});

test('[LOC-050] a claim that ends while it is being found, and one whose answer took too long, count as failed tries', async () => {
  const gone = await arrangeLease();
  gone.store.inject({ kind: 'loseReply' }, 'commit', 1);
  await gone.lease.acquire(live()).catch(() => {});
  gone.store.inject({ kind: 'delay', at: 'reply', ms: 10 }, 'read', 1);
  const acquiring = gone.lease.acquire(live()).catch((error: unknown) => error);
  await loopTurns(2);
  await gone.change(deleteLease(gone.lease.ownerId));
  await gone.clock.advanceAsync(10);
  expect(await acquiring).toMatchObject({ name: 'StoreError', code: 'unavailable', outcome: 'unknown' });
  await gone.lease.acquire(live());
  expect(gone.lease.isOpen).toBe(true);
  gone.lease.stop();

  const slow = await arrangeLease();
  slow.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  const late = slow.lease.acquire(live()).catch((error: unknown) => error);
  await loopTurns(2);
  slow.clock.stall(windowMs); // the answer is there before the timeout is looked at
  slow.store.heal();
  await loopTurns(4);
  expect(await late).toMatchObject({ code: 'unavailable', message: expect.stringContaining('too late') as string });
  expect([slow.lease.isOpen, pendingIn(slow)]).toEqual([false, 0]);
});

test('[LOC-051] a renewal that was answered when its time was over proves nothing', async () => {
  const rig = await arrangeHeldLease();
  rig.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  await rig.clock.advanceAsync(intervalMs);
  rig.clock.stall(windowMs);
  rig.store.heal();
  await loopTurns(4);
  expect([rig.lease.isOpen, rig.reopened()]).toEqual([false, 0]);
  await rig.clock.advanceAsync(1); // the store answers, so the next proof follows at once
  expect([rig.lease.isOpen, rig.reopened()]).toEqual([true, 1]);
  rig.lease.stop();
});

test('[LOC-050] an aborted acquisition takes back what may be stored, and leaves nothing behind', async () => {
  const reason = new Error('enough');
  for (const at of ['request', 'reply'] as const) {
    const rig = await arrangeLease();
    const giveUp = new AbortController();
    rig.store.inject({ kind: 'hold', at }, 'commit', 1);
    const acquiring = rig.lease.acquire(giveUp.signal).catch((error: unknown) => error);
    await loopTurns(2);
    giveUp.abort(reason);
    expect(await acquiring).toBe(reason);
    expect(await rig.stored()).toBeUndefined();
    expect(rig.lease.isOpen).toBe(false);
    await expectNothingLeft(rig);
  }
  const rig = await arrangeLease();
  await expect(rig.lease.acquire(AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(rig.store.calls.commit).toBe(0); // nothing was sent, so nothing is taken back
});

test('[LOC-050] a store that hangs holds up an aborted acquisition for 1,000 ms at most', async () => {
  const rig = await arrangeLease();
  const giveUp = new AbortController();
  rig.store.inject({ kind: 'hold', at: 'request' }, 'commit');
  const acquiring = rig.lease.acquire(giveUp.signal).catch((error: unknown) => error);
  await loopTurns(2);
  giveUp.abort();
  await rig.clock.advanceAsync(1_000);
  expect(await acquiring).toBe(giveUp.signal.reason);
  await expectNothingLeft(rig);
});

test('[LOC-050] releasing deletes the lease and closes admission at once; a store that is away is tried until the deadline', async () => {
  const rig = await arrangeHeldLease();
  const released = rig.lease.release(live());
  expect(rig.lease.isOpen).toBe(false);
  await released;
  expect(await rig.stored()).toBeUndefined();
  await rig.lease.release(live());
  rig.lease.foundAbsent(rig.clock.nowMs());
  expect(rig.store.calls.commit).toBe(2);
  await expect(rig.lease.acquire(live())).rejects.toMatchObject({ kind: 'InvalidOperation' });
  await expectNothingLeft(rig);

  const failing = await arrangeHeldLease();
  const down = new StoreError('unavailable', 'notApplied', 'down');
  failing.store.inject({ kind: 'fail', error: down }, 'commit');
  const deadline = new AbortController();
  const undone = failing.lease.release(deadline.signal);
  await failing.clock.advanceAsync(1_000);
  expect(failing.store.calls.commit).toBe(1 + 5); // every 250 ms
  deadline.abort();
  expect(await undone).toBe('StoreError: down');
  await expectNothingLeft(failing);

  const shortly = await arrangeHeldLease();
  shortly.store.inject({ kind: 'fail', error: down }, 'commit', 2);
  const done = shortly.lease.release(live());
  await shortly.clock.advanceAsync(500);
  expect([await done, await shortly.stored()]).toEqual([undefined, undefined]);
  await expectNothingLeft(shortly);

  const never = await arrangeLease();
  await never.lease.release(live());
  expect(never.store.calls.commit).toBe(0);
});

test('[LOC-050] releasing gives up a renewal under way, and a claim under way does not come to life', async () => {
  const renewing = await arrangeHeldLease();
  renewing.store.inject({ kind: 'hold', at: 'reply' }, 'commit', 1);
  await renewing.clock.advanceAsync(intervalMs);
  await renewing.lease.release(live());
  renewing.store.heal();
  await expectNothingLeft(renewing);
  expect(await renewing.stored()).toBeUndefined();

  const claiming = await arrangeLease();
  claiming.store.inject({ kind: 'delay', at: 'reply', ms: 10 }, 'commit', 1);
  const acquiring = claiming.lease.acquire(live()).catch((error: unknown) => error);
  await claiming.lease.release(live());
  await claiming.clock.advanceAsync(10);
  expect(await acquiring).toMatchObject({ message: expect.stringContaining('given up meanwhile') as string });
  expect([claiming.lease.isOpen, await claiming.stored()]).toEqual([false, undefined]);
  await expectNothingLeft(claiming);
});

test('[LOC-050] a lease that nobody renews any more admits nothing, and may still be released', async () => {
  const rig = await arrangeHeldLease();
  rig.lease.stop();
  expect(rig.lease.isOpen).toBe(false);
  await loopTurns(2);
  expect(pendingIn(rig)).toBe(0);
  expect(await rig.stored()).toBeDefined();
  await rig.lease.release(live());
  expect(await rig.stored()).toBeUndefined();
  await expectNothingLeft(rig);
});

test('[LOC-072] a store clock that jumps ahead ends the lease: the run resumes; hosts read no calendar', async () => {
  const rig = await arrangeHeldLease();
  const generation = rig.lease.leaseGeneration;
  await rig.change({ kind: 'touch', key: leaseKey(rig.lease.ownerId), ttlMs: 1 }); // as if 15 s had passed in the store
  await rig.clock.advanceAsync(intervalMs);
  expect([rig.lease.isOpen, rig.reopened(), rig.lease.leaseGeneration]).toEqual([true, 1, generation]);
  await rig.change({ kind: 'touch', key: leaseKey(rig.lease.ownerId), ttlMs: 3_600_000 }); // and back
  rig.store.inject({ kind: 'fail' }, 'commit');
  await rig.clock.advanceAsync(windowMs);
  expect(await rig.stored()).toBeDefined();
  expect(rig.lease.isOpen).toBe(false); // a lease that lives longer in the store admits no longer here
  rig.lease.stop();
});

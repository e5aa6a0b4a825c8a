import { getEventListeners } from 'node:events';
import { loopTurns } from '@zlink/testing';
import { StoreError } from '../../src/location/index.ts';
import { arrangeOpenStore, arrangeStore, live, pendingIn, putRecord, type StoreRig } from './store-rig.ts';

const put = { conditions: [], mutations: [putRecord('k')] };
const putIfAbsent = { conditions: [{ kind: 'absent', key: 'k' } as const], mutations: [putRecord('k')] };
const repeatable = { signal: undefined, mayRepeat: () => true };
const lostReply = new StoreError('timeout', 'unknown', 'the reply was lost');
const down = new StoreError('unavailable', 'notApplied', 'down');

/** Every clock instant at which the store was asked to commit. */
function watchCommits({ store, clock }: StoreRig): number[] {
  const atMs: number[] = [];
  const commit = store.commit.bind(store);
  store.commit = (...call) => {
    atMs.push(clock.nowMs());
    return commit(...call);
  };
  return atMs;
}

test('[LOC-070] a commit whose answer was lost is repeated unchanged under its operation id, and applied once', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'loseReply' }, 'commit', 3);
  const committed = rig.calls.commit(putIfAbsent, repeatable);
  await rig.clock.advanceAsync(349);
  expect(rig.store.calls.commit).toBe(3); // after 50 and 100 more ms
  await rig.clock.advanceAsync(1);
  await expect(committed).resolves.toMatchObject({ kind: 'applied', version: 1n, replayed: true });
  expect(new Set(rig.store.batches.map((batch) => JSON.stringify(batch))).size).toBe(1);
  expect(rig.store.batches).toHaveLength(4);
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-070] repetitions come after 50 ms, doubling to 1 s, and end after 60 s as unknown', async () => {
  const rig = await arrangeOpenStore();
  const atMs = watchCommits(rig);
  rig.store.inject({ kind: 'fail', error: lostReply }, 'commit');
  const startMs = rig.clock.nowMs();
  const settled = rig.calls
    .commit(put, repeatable)
    .catch((error: unknown) => ({ error, afterMs: rig.clock.nowMs() - startMs }));
  await rig.clock.advanceAsync(120_000);
  expect(atMs.slice(0, 8).map((each) => each - startMs)).toEqual([0, 50, 150, 350, 750, 1_550, 2_550, 3_550]);
  const lastMs = Math.max(...atMs) - startMs;
  expect(lastMs).toBeGreaterThan(58_000);
  expect(lastMs).toBeLessThan(60_000);
  expect(await settled).toEqual({ error: lostReply, afterMs: lastMs });
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-070] a store that hangs holds a commit up for 60 s, not for one call longer', async () => {
  const rig = await arrangeOpenStore({ callTimeoutMs: 9_000 });
  rig.store.inject({ kind: 'hold', at: 'reply' }, 'commit');
  const startMs = rig.clock.nowMs();
  const settled = rig.calls
    .commit(put, repeatable)
    .catch((error: unknown) => ({ error, afterMs: rig.clock.nowMs() - startMs }));
  await rig.clock.advanceAsync(80_000);
  expect(await settled).toMatchObject({ error: { code: 'timeout', outcome: 'unknown' }, afterMs: 60_000 });
});

test('[LOC-070] what was not applied is not repeated; after an unknown submission that says nothing', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'fail', error: down }, 'commit', 1);
  await expect(rig.calls.commit(put, repeatable)).rejects.toBe(down);
  expect(rig.store.calls.commit).toBe(1);

  rig.store.inject({ kind: 'fail', error: down }, 'commit', 1);
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1); // comes first
  const committed = rig.calls.commit(put, repeatable);
  await rig.clock.advanceAsync(150);
  await expect(committed).resolves.toMatchObject({ kind: 'applied', replayed: true });
  expect(rig.store.calls.commit).toBe(4);

  rig.store.inject({ kind: 'fail', error: down }, 'commit');
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1);
  const unsettled = rig.calls.commit(put, repeatable).catch((error: unknown) => error);
  await rig.clock.advanceAsync(60_000);
  expect(await unsettled).toMatchObject({ code: 'unavailable', outcome: 'unknown', cause: down });
});

test('[LOC-070] a conflict is an answer, whatever came before', async () => {
  const rig = await arrangeOpenStore();
  await rig.change(putRecord('k'));
  rig.store.inject({ kind: 'fail', error: lostReply }, 'commit', 1);
  const committed = rig.calls.commit(putIfAbsent, repeatable);
  await rig.clock.advanceAsync(50);
  await expect(committed).resolves.toMatchObject({ kind: 'conflict', conditionIndex: 0 });
});

test('[LOC-070] a process that stood still for longer than the store remembers does not repeat', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1);
  const committed = rig.calls.commit(put, repeatable).catch((error: unknown) => error);
  await loopTurns(2);
  rig.clock.stall(130_000);
  await rig.clock.advanceAsync(0);
  expect(await committed).toMatchObject({ outcome: 'unknown' });
  expect(rig.store.calls.commit).toBe(1);
});

test('[LOC-070] an abort and the end of the calls end a repetition as unknown', async () => {
  for (const end of ['abort', 'close'] as const) {
    const rig = await arrangeOpenStore();
    const giveUp = new AbortController();
    rig.store.inject({ kind: 'loseReply' }, 'commit');
    const committed = rig.calls.commit(put, { ...repeatable, signal: giveUp.signal }).catch((error: unknown) => error);
    await loopTurns(2);
    if (end === 'abort') giveUp.abort();
    else void rig.calls.close();
    expect(await committed).toMatchObject({ code: 'timeout', outcome: 'unknown' });
    await loopTurns(2);
    expect(pendingIn(rig)).toBe(0);
  }
});

test('[LOC-052] a commit that may not be repeated any more ends as unknown before the next submission', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'loseReply' }, 'commit');
  let mayRepeat = true;
  const committed = rig.calls
    .commit(put, { ...repeatable, mayRepeat: () => mayRepeat })
    .catch((error: unknown) => error);
  await rig.clock.advanceAsync(50);
  expect(rig.store.calls.commit).toBe(2);
  mayRepeat = false;
  await rig.clock.advanceAsync(100);
  expect(await committed).toMatchObject({ outcome: 'unknown' });
  expect([rig.store.calls.commit, pendingIn(rig)]).toEqual([2, 0]);
});

test('[LOC-070] each attempt is an operation of its own and is not repeated', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1);
  await expect(rig.calls.attempt(put, 1_000)).rejects.toMatchObject({ outcome: 'unknown' });
  await expect(rig.calls.attempt(put, 1_000)).resolves.toMatchObject({ replayed: false });
  const [first, second] = rig.store.batches.map(({ operationId }) => operationId);
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(second).not.toBe(first);
});

test('[LOC-064] a call that hangs ends in time, in whatever way it was called, and its late answer changes nothing', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'hold', at: 'reply' });
  const ends = [
    rig.calls.read({ records: ['k'] }),
    rig.calls.unjudged.scan({ prefix: '', limit: 1 }),
    rig.calls.attempt(put, 2_000),
    rig.calls.open(live()),
  ].map((call) => call.catch((error: unknown) => error));
  await rig.clock.advanceAsync(1_999);
  expect(rig.calls.problem).toBeUndefined();
  await rig.clock.advanceAsync(1);
  expect(rig.calls.problem).toBe('StoreError: the store did not answer within 2000 ms');
  expect(rig.calls.failingSinceMs).toBe(rig.clock.nowMs());
  await rig.clock.advanceAsync(1_000);
  for (const end of ends) expect(await end).toMatchObject({ code: 'timeout', outcome: 'unknown' });
  rig.store.heal();
  await loopTurns(4);
  expect(await rig.find('k')).toBeDefined(); // it was applied
  expect(rig.calls.problem).toBeDefined(); // but the answer counts no more
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-064] however a call ends, nothing of it listens to the signal any more', async () => {
  const rig = await arrangeOpenStore();
  const { signal } = new AbortController();
  await rig.calls.read({}, signal);
  rig.store.inject({ kind: 'fail' }, 'read', 1);
  await rig.calls.read({}, signal).catch(() => {});
  rig.store.inject({ kind: 'hold', at: 'request' }, 'read', 1);
  const hanging = rig.calls.read({}, signal).catch(() => {});
  rig.store.inject({ kind: 'loseReply' }, 'commit', 1);
  const repeated = rig.calls.commit(put, { ...repeatable, signal });
  expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
  await rig.clock.advanceAsync(5_000);
  await Promise.all([hanging, repeated]);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('[LOC-064] whatever a store throws or rejects with becomes a StoreError that may have been applied', async () => {
  const rig = await arrangeOpenStore();
  const thrown = new TypeError('x is not a function');
  for (const fault of [
    { kind: 'throw', error: thrown },
    { kind: 'fail', error: thrown },
  ] as const) {
    rig.store.inject(fault, 'read', 1);
    await expect(rig.calls.read({})).rejects.toMatchObject({
      name: 'StoreError',
      code: 'unavailable',
      outcome: 'unknown',
      message: 'the store failed: TypeError: x is not a function',
      cause: thrown,
    });
  }
  rig.store.inject({ kind: 'throw', error: undefined }, 'commit', 1);
  await expect(rig.calls.attempt(put, 1_000)).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
  rig.store.inject({ kind: 'throw', error: thrown }, 'open', 1);
  await expect(rig.calls.open(live())).rejects.toMatchObject({ code: 'unavailable' });
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-064] the first failed call makes the store degraded, the first success ready again; each is told once', async () => {
  const rig = await arrangeOpenStore();
  const seen: (string | undefined)[] = [];
  rig.calls.onHealth(() => seen.push(rig.calls.problem));
  rig.store.inject({ kind: 'fail', error: down }, 'read', 2);
  await expect(rig.calls.read({})).rejects.toBe(down);
  const sinceMs = rig.clock.nowMs();
  rig.clock.advance(100);
  await expect(rig.calls.read({})).rejects.toBe(down);
  expect(rig.calls.failingSinceMs).toBe(sinceMs);
  await rig.calls.read({});
  expect([rig.calls.problem, rig.calls.failingSinceMs]).toEqual([undefined, undefined]);
  expect(seen).toEqual(['StoreError: down', undefined]);
  expect(rig.logs).toEqual([
    {
      level: 'warn',
      eventId: 'zlink.runtime.location.store_changed',
      state: 'degraded',
      reason: 'StoreError: down',
      text: 'the location store has failed; what is known stays, and nothing new is found until it works again',
    },
    {
      level: 'warn', // as the one that it ends
      eventId: 'zlink.runtime.location.store_changed',
      state: 'ready',
      text: 'the location store works again',
    },
  ]);
});

test('[LOC-064] a store that answers reads and takes no writes is degraded all the while, until it takes one', async () => {
  const rig = await arrangeOpenStore();
  rig.store.inject({ kind: 'fail' }, 'commit', 2);
  for (const outcome of ['fails', 'fails', 'works']) {
    await rig.calls.attempt(put, 1_000).catch(() => {});
    await rig.calls.read({});
    expect(rig.calls.problem === undefined).toBe(outcome === 'works');
    expect(rig.calls.recoveredAtMs === undefined).toBe(outcome !== 'works');
  }
  expect(rig.logs.map(({ state }) => state)).toEqual(['degraded', 'ready']);
});

test('[LOC-064] what the store refuses and what was given up here says nothing about its health', async () => {
  const rig = await arrangeOpenStore();
  await expect(rig.calls.read({ records: [''] })).rejects.toMatchObject({ code: 'invalidArgument' });
  const giveUp = new AbortController();
  rig.store.inject({ kind: 'hold', at: 'request' }, 'read');
  const read = rig.calls.read({}, giveUp.signal).catch((error: unknown) => error);
  giveUp.abort();
  expect(await read).toMatchObject({ code: 'timeout', outcome: 'unknown' });
  await expect(rig.calls.attempt(put, 1_000, giveUp.signal)).rejects.toMatchObject({ outcome: 'notApplied' });
  expect(rig.store.calls.commit).toBe(0);
  expect(rig.calls.problem).toBeUndefined();
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-064] calls of a large reading move the health of the store neither way', async () => {
  const rig = await arrangeOpenStore();
  const { unjudged } = rig.calls;
  rig.store.inject({ kind: 'fail', error: down }, 'scan', 1);
  rig.store.inject({ kind: 'fail', error: down }, 'read', 1);
  await expect(unjudged.scan({ prefix: '', limit: 1 })).rejects.toBe(down);
  await expect(unjudged.read({})).rejects.toBe(down);
  expect(rig.calls.problem).toBeUndefined();
  rig.store.inject({ kind: 'fail', error: down }, 'read', 1);
  await rig.calls.read({}).catch(() => {});
  await unjudged.read({});
  await unjudged.scan({ prefix: '', limit: 1 });
  expect(rig.calls.problem).toBe('StoreError: down');
  expect(rig.eventIds()).toEqual(['zlink.runtime.location.store_changed']);
});

test('[LOC-065] the recovery is the first success after an outage or disruption, set before the answer arrives', async () => {
  const rig = await arrangeOpenStore();
  expect(rig.calls.recoveredAtMs).toBeUndefined();
  rig.store.inject({ kind: 'fail' }, 'read', 1);
  await rig.calls.read({}).catch(() => {});
  rig.clock.advance(500);
  expect(rig.calls.recoveredAtMs).toBeUndefined();
  const seenAtMs = await rig.calls.read({}).then(() => rig.calls.recoveredAtMs);
  expect(seenAtMs).toBe(rig.clock.nowMs());
  rig.clock.advance(500);
  await rig.calls.read({});
  expect(rig.calls.recoveredAtMs).toBe(seenAtMs); // later successes are none after an outage

  let told = 0;
  rig.calls.onDisruption(() => told++);
  rig.store.disrupt();
  expect([told, rig.calls.recoveredAtMs]).toEqual([1, rig.clock.nowMs()]);
  rig.clock.advance(500);
  await rig.calls.read({});
  expect(rig.calls.recoveredAtMs).toBe(rig.clock.nowMs());
  expect(rig.logs.at(-1)).toEqual({
    level: 'warn',
    eventId: 'zlink.location.disruption',
    text: 'the location store may have lost writes; those of this host are read, and put back where they are missing',
  });
});

test('[LOC-064] opening is one try that may be repeated, and listens for disruptions once', async () => {
  const rig = await arrangeStore();
  rig.store.inject({ kind: 'fail' }, 'open', 1);
  await expect(rig.calls.open(live())).rejects.toMatchObject({ code: 'unavailable' });
  expect(rig.calls.problem).toBeDefined();
  await rig.calls.open(live());
  expect(rig.calls.problem).toBeUndefined();
  expect(rig.store.listenerCount).toBe(1);

  const giveUp = new AbortController();
  rig.store.inject({ kind: 'hold', at: 'request' }, 'open');
  const opening = rig.calls.open(giveUp.signal).catch((error: unknown) => error);
  const reason = new Error('enough');
  giveUp.abort(reason);
  expect(await opening).toBe(reason);
  await expect(rig.calls.open(giveUp.signal)).rejects.toBe(reason);
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-064] closing gives up what waits, disposes the store once and lets nothing through afterwards', async () => {
  const rig = await arrangeOpenStore();
  let told = 0;
  rig.calls.onHealth(() => told++);
  rig.calls.onDisruption(() => told++);
  rig.store.inject({ kind: 'hold', at: 'reply' }, 'read');
  const read = rig.calls.read({}).catch((error: unknown) => error);
  await Promise.all([rig.calls.close(), rig.calls.close()]);
  await rig.calls.close();
  expect(await read).toMatchObject({ outcome: 'unknown' });
  expect([rig.store.calls.dispose, rig.store.listenerCount]).toEqual([1, 0]);
  await expect(rig.calls.commit(put, repeatable)).rejects.toMatchObject({ outcome: 'notApplied' });
  expect(rig.store.calls.commit).toBe(0);
  rig.store.heal();
  rig.store.disrupt();
  await loopTurns(2);
  expect([told, rig.calls.problem, pendingIn(rig)]).toEqual([0, undefined, 0]);
});

test('[LOC-064] any number of calls may wait at once, without ten listeners on one signal, where Node sees a leak', async () => {
  const rig = await arrangeOpenStore();
  const listeners = new Map<EventTarget, number>();
  const { addEventListener } = EventTarget.prototype; // eslint-disable-line @typescript-eslint/unbound-method -- called with its target, and put back as it was
  EventTarget.prototype.addEventListener = function (this: EventTarget, ...call) {
    listeners.set(this, (listeners.get(this) ?? 0) + 1);
    addEventListener.apply(this, call);
  };
  try {
    rig.store.inject({ kind: 'hold', at: 'request' }, 'read');
    const { signal } = new AbortController();
    const reads = Array.from({ length: 100 }, () => rig.calls.read({}).catch((error: unknown) => error));
    reads.push(rig.calls.read({}, signal).catch((error: unknown) => error));
    await loopTurns(2);
    await rig.calls.close();
    for (const end of await Promise.all(reads)) expect(end).toMatchObject({ outcome: 'unknown' });
    expect(listeners.get(signal)).toBe(1);
    expect([...listeners.values()]).toEqual([1, 1]); // the other one is the end of all calls
  } finally {
    EventTarget.prototype.addEventListener = addEventListener;
  }
  expect(pendingIn(rig)).toBe(0);
});

test('[LOC-064] a store that fails or hangs while it is disposed holds nobody up', async () => {
  for (const [fault, reason] of [
    [{ kind: 'throw', error: new Error('no') }, 'the store failed: no'],
    [{ kind: 'hold', at: 'request' }, 'the store did not answer within 2000 ms'],
  ] as const) {
    const rig = await arrangeOpenStore();
    rig.store.inject(fault, 'dispose');
    const closed = rig.calls.close();
    await rig.clock.advanceAsync(2_000);
    await closed;
    expect(rig.logs).toEqual([
      { level: 'warn', eventId: 'zlink.location.dispose_failed', reason: `StoreError: ${reason}` },
    ]);
    expect(pendingIn(rig)).toBe(0);
    rig.store.heal('dispose');
  }
});

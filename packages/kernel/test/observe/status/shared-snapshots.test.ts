import { loopTurns } from '@zlink/testing';
import { arrange, beginSnapshots, changeInTurn, nextOf, type Rig, type Snapshots } from './arrange.ts';

/** Reads all there is, and tells how much it was. */
function readAll(snapshots: Snapshots): () => number {
  let count = 0;
  void (async () => {
    for (let item = await snapshots.next(); item.done !== true; item = await snapshots.next()) count++;
  })();
  return () => count;
}

/** A change in each turn, one turn in each millisecond. */
async function changeFor(rig: Rig, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    await changeInTurn(rig);
    rig.clock.advance(1);
  }
}

test('[MON-010] all who observe get the same snapshot of a turn; who asks for one gets their own', async () => {
  const rig = arrange();
  const observers = Array.from({ length: 100 }, () => beginSnapshots(rig));
  const first = await Promise.all(observers.map(nextOf));
  expect(rig.asked()).toBe(1);
  const waiting = observers.map(nextOf);
  await changeInTurn(rig);
  const second = await Promise.all(waiting);
  expect(rig.asked()).toBe(2);
  expect(new Set([...first, ...second].map(({ snapshot }) => snapshot)).size).toBe(2);
  expect(rig.board.snapshot().sequence).toBe(3n);
});

test('[MON-010] a snapshot is shared no longer than its turn, and not once something has changed', async () => {
  const rig = arrange();
  expect((await nextOf(beginSnapshots(rig))).snapshot.host.state).toBe('serving');
  rig.state = 'draining';
  rig.board.changed();
  expect((await nextOf(beginSnapshots(rig))).snapshot.host.state).toBe('draining');
  rig.state = 'serving'; // numbers of a host change untold as this does
  await loopTurns(2);
  expect((await nextOf(beginSnapshots(rig))).snapshot.host.state).toBe('serving');
});

test('[MON-010] [MON-013] snapshots for observers take a twentieth of the time of a host at most', async () => {
  const rig = arrange();
  rig.takesMs = 10;
  const counts = Array.from({ length: 10 }, () => readAll(beginSnapshots(rig)));
  const startMs = rig.clock.nowMs();
  await changeFor(rig, 5_000);
  const spentMs = rig.clock.nowMs() - startMs;
  expect(rig.asked() * rig.takesMs).toBeLessThanOrEqual(spentMs / 20 + 60); // what is put up with at once
  expect(rig.asked() * rig.takesMs).toBeGreaterThan(spentMs / 20 - 20);
  for (const count of counts) expect(count()).toBe(rig.asked());
  rig.board.stop();
});

test('[MON-010] who waits for the pace gets the newest, with the count of all that was left out', async () => {
  const rig = arrange();
  rig.takesMs = 100;
  const snapshots = beginSnapshots(rig);
  await nextOf(snapshots);
  const next = nextOf(snapshots);
  for (let count = 0; count < 3; count++) await changeInTurn(rig);
  rig.state = 'draining';
  expect(rig.asked()).toBe(1);
  rig.clock.advance(1_000); // 20 times 100, without the second that is put up with
  const { snapshot, loss } = await next;
  expect([snapshot.host.state, loss.coalesced]).toEqual(['draining', 2n]);
  expect(rig.clock.pendingTimers).toBe(0);
  rig.board.stop();
});

test('[MON-010] the snapshot of the stopped host waits for no pace', async () => {
  const rig = arrange();
  rig.takesMs = 1_000;
  const [waiting, idle] = [beginSnapshots(rig), beginSnapshots(rig)];
  await nextOf(waiting);
  const next = nextOf(waiting);
  await changeInTurn(rig);
  expect(rig.clock.pendingBackgroundTimers).toBe(1);
  rig.state = 'stopped';
  rig.board.stop();
  expect(rig.clock.pendingBackgroundTimers).toBe(0);
  const both = [(await next).snapshot, (await nextOf(idle)).snapshot, (await nextOf(beginSnapshots(rig))).snapshot];
  expect(both.map(({ host }) => host.state)).toEqual(['stopped', 'stopped', 'stopped']);
  expect([new Set(both).size, rig.asked()]).toEqual([1, 2]);
  rig.board.changed(); // too late to be shown
  await loopTurns(2);
  expect([await waiting.next(), await idle.next()]).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
});

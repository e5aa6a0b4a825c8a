/** Repeating a commit is safe (LOC-016). */
import assert from 'node:assert/strict';
import { add, type Applied, applied, batch, keysOf, type LocationCase, put, textOf } from './location-rig.ts';
import { failureOf } from './store-refusals.ts';

/** The most time that a store may not forget in. */
const memoryMs = 120_000;

function assertReplayOf(first: Applied, result: Applied): void {
  assert.equal(result.replayed, true, 'the commit was applied once more');
  assert.equal(result.version, first.version);
  assert.deepEqual(result.counters, first.counters);
}

export const replayCases: readonly LocationCase[] = [
  {
    title: '[LOC-016] a commit that was applied changes nothing when repeated, and answers as it did',
    act: async (rig) => {
      await rig.change(add('n', 10));
      const change = batch([], [put('k', '1'), add('n', 5), add('m', -2, { min: -2 })]);
      const first = applied(await rig.store.commit(change));
      assert.deepEqual([first.replayed, first.counters], [false, [15, -2]]);
      await rig.change(put('k', '2'), add('n', 100));
      const before = await rig.present('k');
      for (let time = 0; time < 3; time++) assertReplayOf(first, applied(await rig.store.commit(change)));
      assert.deepEqual(await rig.present('k'), before);
      assert.deepEqual([await rig.counter('n'), await rig.counter('m')], [115, -2]);
    },
  },
  {
    title: '[LOC-016] a repeated commit restores nothing that was deleted since',
    act: async (rig) => {
      const change = batch([], [put('k', '1')]);
      const first = applied(await rig.store.commit(change));
      await rig.change({ kind: 'delete', key: 'k' });
      assertReplayOf(first, applied(await rig.store.commit(change)));
      assert.equal(await rig.record('k'), undefined);
    },
  },
  {
    title: '[LOC-016] a repeated commit is answered whatever its conditions and bounds say by now',
    act: async (rig) => {
      const { version } = await rig.change(put('v', '1'));
      const conditions = [
        { kind: 'absent', key: 'k' },
        { kind: 'version', key: 'v', version },
      ] as const;
      const change = batch(conditions, [put('k', '1'), put('v', '2'), add('n', 1, { max: 1 })]);
      const first = applied(await rig.store.commit(change));
      assertReplayOf(first, applied(await rig.store.commit(change)));
      assert.equal(await rig.counter('n'), 1);
    },
  },
  {
    title: '[LOC-016] an operation is remembered for all stores, and by its id alone',
    act: async (rig) => {
      const other = await rig.another();
      const change = batch([], [put('k', '1')]);
      const first = applied(await rig.store.commit(change));
      assertReplayOf(first, applied(await other.commit(change)));
      const sameAgain = applied(await other.commit(batch([], change.mutations)));
      assert.equal(sameAgain.replayed, false);
      assert(sameAgain.version > first.version);
    },
  },
  {
    title: '[LOC-016] of 16 submissions of one commit that race one is applied and all have its answer',
    act: async (rig) => {
      const stores = await rig.others(16);
      const change = batch([], [put('k', '1'), add('n', 1)]);
      const results = (await Promise.all(stores.map((store) => store.commit(change)))).map(applied);
      assert.equal(results.filter(({ replayed }) => !replayed).length, 1);
      assert.equal(new Set(results.map(({ version }) => version)).size, 1);
      assert(results.every(({ counters }) => counters.length === 1 && counters[0] === 1));
      assert.equal(await rig.counter('n'), 1);
      assert.equal((await rig.present('k')).version, results[0]?.version);
    },
  },
  {
    title: '[LOC-016] a commit of 2,048 keys is replayed as well',
    act: async (rig) => {
      const change = batch(
        [],
        keysOf(2_048).map((key) => add(key, 1)),
      );
      const first = applied(await rig.store.commit(change));
      assert.equal(first.counters.length, 2_048);
      assertReplayOf(first, applied(await rig.store.commit(change)));
    },
  },
  {
    title: '[LOC-016] conflict is not remembered: the same operation may apply later',
    act: async (rig) => {
      const change = batch([{ kind: 'present', key: 'k' }], [put('done', '1')]);
      assert.equal((await rig.store.commit(change)).kind, 'conflict');
      assert.equal((await rig.store.commit(change)).kind, 'conflict');
      await rig.change(put('k', '1'));
      assert.equal(applied(await rig.store.commit(change)).replayed, false);
      assert.equal(textOf(await rig.present('done')), '1');
    },
  },
  {
    title: '[LOC-016] bound is not remembered: the same operation may apply later',
    act: async (rig) => {
      await rig.change(add('n', 1));
      const change = batch([], [add('n', 1, { max: 1 }), put('done', '1')]);
      assert.equal((await rig.store.commit(change)).kind, 'bound');
      await rig.change(add('n', -1));
      const result = applied(await rig.store.commit(change));
      assert.deepEqual([result.replayed, result.counters], [false, [1]]);
      assert.equal(textOf(await rig.present('done')), '1');
    },
  },
  {
    title: '[LOC-016] an applied operation is remembered for 120 s, however much happens meanwhile',
    needs: 'advance',
    act: async (rig) => {
      const change = batch([{ kind: 'absent', key: 'k' }], [put('k', '1', 1_000), add('n', 1)]);
      const first = applied(await rig.store.commit(change));
      for (let part = 0; part < 10; part++) {
        await rig.harness.advance?.(memoryMs / 10 - (part === 9 ? 1 : 0));
        for (let time = 0; time < 100; time++) await rig.change(add('m', 1));
        assertReplayOf(first, applied(await rig.store.commit(change)));
      }
      assert.equal(await rig.record('k'), undefined);
      assert.equal(await rig.counter('n'), 1);
    },
  },
  {
    title: '[LOC-016] after a lost reply the same commit gives the first answer',
    needs: 'loseNextReply',
    act: async (rig) => {
      await rig.change(add('n', 1));
      const change = batch([{ kind: 'absent', key: 'k' }], [put('k', '1'), add('n', 1, { max: 2 })]);
      await rig.harness.loseNextReply?.(rig.store);
      const error = await failureOf(rig.store.commit(change));
      assert(error !== undefined, 'the reply was not lost');
      assert.equal(error.outcome, 'unknown');
      const again = applied(await rig.store.commit(change));
      assert.deepEqual([again.replayed, again.counters], [true, [2]]);
      assert.equal(again.version, (await rig.present('k')).version);
      assert.equal(await rig.counter('n'), 2);
    },
  },
];

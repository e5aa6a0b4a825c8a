/** Aborts, lost replies, buffers, ends and disruption (LOC-018, LOC-019). */
import assert from 'node:assert/strict';
import type { LocationStore, StoreBatch } from '@zlink/kernel/location';
import { add, applied, assertBytes, batch, bytesOf, type LocationCase, put, textOf } from './location-rig.ts';
import { failureOf, refuses } from './store-refusals.ts';

const aborted = AbortSignal.abort();

function deeplyFrozen(change: StoreBatch): StoreBatch {
  for (const part of [...change.conditions, ...change.mutations]) Object.freeze(part);
  Object.freeze(change.conditions);
  Object.freeze(change.mutations);
  return Object.freeze(change);
}

/** Everything that results hold, as text. */
function portrait(results: object): string {
  return JSON.stringify(results, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** A call after which acknowledged commits may be known to be lost; it has to succeed in the end. */
async function firstSuccess(store: LocationStore): Promise<void> {
  for (let time = 0; time < 100; time++) if ((await failureOf(store.read({}))) === undefined) return;
  assert.fail('the store does not come back');
}

export const handleCases: readonly LocationCase[] = [
  {
    title: '[LOC-018] a call that is aborted beforehand does nothing',
    act: async (rig) => {
      const change = batch([], [put('k', 'x'), add('n', 1)]);
      const closed = await rig.closed();
      await refuses('timeout', () => closed.open(aborted));
      await refuses('timeout', () => rig.store.commit(change, aborted));
      await refuses('timeout', () => rig.store.read({ records: ['k'] }, aborted));
      await refuses('timeout', () => rig.store.scan({ prefix: '', limit: 1 }, aborted));
      assert.deepEqual([await rig.record('k'), await rig.counter('n')], [undefined, 0]);
      assert.equal(applied(await rig.store.commit(change)).replayed, false);
    },
  },
  {
    title: '[LOC-018] a commit that is aborted later says unknown unless it knows, and its repetition tells',
    act: async (rig) => {
      for (let time = 0; time < 10; time++) {
        const key = `k${time}`;
        const change = batch([{ kind: 'absent', key }], [put(key, 'x'), add('n', 1)]);
        const abort = new AbortController();
        const call = rig.store.commit(change, abort.signal);
        if (time % 2 === 1) await Promise.resolve();
        abort.abort();
        const error = await failureOf(call);
        const again = applied(await rig.store.commit(change));
        if (error === undefined) assert.equal(again.replayed, true, 'it was answered as applied and was not');
        else if (error.outcome === 'notApplied') assert.equal(again.replayed, false, 'notApplied, and it was applied');
        assert.equal((await rig.present(key)).version, again.version);
        assert.equal(await rig.counter('n'), time + 1);
      }
    },
  },
  {
    title: '[LOC-018] reads and scans that are aborted later answer or fail, and leave the store usable',
    act: async (rig) => {
      await rig.change(put('k', 'x'));
      const abort = new AbortController();
      const read = failureOf(rig.store.read({ records: ['k'] }, abort.signal));
      const scan = failureOf(rig.store.scan({ prefix: '', limit: 1 }, abort.signal));
      abort.abort();
      await Promise.all([read, scan]);
      assert.equal(textOf(await rig.present('k')), 'x');
    },
  },
  {
    title: '[LOC-018] a commit whose reply is lost says unknown',
    needs: 'loseNextReply',
    act: async (rig) => {
      await rig.harness.loseNextReply?.(rig.store);
      const error = await failureOf(rig.store.commit(batch([], [put('k', 'x')])));
      assert.equal(error?.outcome, 'unknown');
      assert.equal(textOf(await rig.present('k')), 'x');
    },
  },
  {
    title: '[LOC-018] inputs are read only: a store changes no batch and no bytes of it',
    act: async (rig) => {
      const value = bytesOf('text');
      const change = deeplyFrozen(
        batch([{ kind: 'absent', key: 'k' }], [put('k', value, 60_000), add('n', 1, { max: 2 })]),
      );
      applied(await rig.store.commit(change));
      await rig.store.read(Object.freeze({ records: Object.freeze(['k']), counters: Object.freeze(['n']) }));
      await rig.store.scan(Object.freeze({ prefix: '', limit: 1 }));
      assertBytes(value, bytesOf('text'));
    },
  },
  {
    title: '[LOC-018] a settled call has let go of its inputs',
    act: async (rig) => {
      // Of a Buffer even slice() is a view; codecs write into parts of larger buffers.
      const values = [bytesOf('text'), Buffer.from('text'), Buffer.from('a text').subarray(2)];
      for (const value of values) {
        const mutations = [put('k', value)];
        applied(await rig.store.commit({ ...batch([], []), mutations }));
        value.fill(0x21);
        mutations.length = 0;
        assert.equal(textOf(await rig.present('k')), 'text');
      }
    },
  },
  {
    title: '[LOC-018] results belong to the caller: writing into one changes neither the store nor another result',
    act: async (rig) => {
      await rig.change(put('k', 'text'), put('l', 'text'));
      const read = await rig.store.read({ records: ['k', 'k', 'l'] });
      const later = await rig.present('k');
      const page = await rig.store.scan({ prefix: '', limit: 1 });
      const samePage = await rig.store.scan({ prefix: '', limit: 1 });
      read.records[0]?.value?.fill(0x21);
      page.items[0]?.value?.fill(0x3f);
      const results = [...read.records, later, page.items[0], samePage.items[0]];
      assert.deepEqual(results.map(textOf), ['!!!!', 'text', 'text', 'text', '????', 'text']);
      assert.deepEqual([textOf(await rig.present('k')), textOf(await rig.present('l'))], ['text', 'text']);
    },
  },
  {
    title: '[LOC-018] results never change: what was read stays as it was read',
    act: async (rig) => {
      const change = batch([], [put('k', 'old', 60_000), add('n', 1)]);
      const commit = applied(await rig.store.commit(change));
      const read = await rig.store.read({ records: ['k'], counters: ['n'] });
      const page = await rig.store.scan({ prefix: '', limit: 1 });
      const kept = portrait({ commit, read, page });
      await rig.change({ ...put('k', 'new'), fresh: true }, put('l', 'x'), add('n', 1));
      await rig.change({ kind: 'delete', key: 'k' });
      applied(await rig.store.commit(change));
      assert.equal(portrait({ commit, read, page }), kept);
    },
  },
  {
    title: '[LOC-018] a store that is disposed refuses every call as unavailable; the others and the data go on',
    act: async (rig) => {
      const other = await rig.another();
      applied(await other.commit(batch([], [put('k', 'x'), add('n', 1)])));
      await other.dispose();
      await refuses('unavailable', () => other.read({ records: ['k'] }));
      await refuses('unavailable', () => other.commit(batch([], [put('k', 'y')])));
      await refuses('unavailable', () => other.scan({ prefix: '', limit: 1 }));
      assert.deepEqual([textOf(await rig.present('k')), await rig.counter('n')], ['x', 1]);
      applied(await (await rig.another()).commit(batch([{ kind: 'present', key: 'k' }], [put('k', 'z')])));
    },
  },
  {
    title: '[LOC-019] lost commits are reported, at the latest with the first call that succeeds afterwards',
    needs: 'loseCommits',
    act: async (rig) => {
      assert(rig.store.onDisruption !== undefined, 'a store that can lose commits has onDisruption');
      let heard = 0;
      let unheard = 0;
      rig.store.onDisruption(() => (heard += 1));
      const leave = rig.store.onDisruption(() => (unheard += 1));
      await rig.change(put('k', 'x'));
      leave();
      await rig.harness.loseCommits?.(rig.store);
      await firstSuccess(rig.store);
      assert(heard > 0, 'nothing was reported');
      assert.equal(unheard, 0, 'a listener that left was called');
    },
  },
];

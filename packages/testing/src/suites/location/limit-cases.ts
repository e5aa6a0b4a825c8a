/** What one commit may hold (LOC-015). */
import assert from 'node:assert/strict';
import type { StoreBatch, StoreCondition, StoreMutation } from '@zlink/kernel/location';
import { add, applied, batch, keysOf, type LocationCase, put, textOf } from './location-rig.ts';
import { refuses } from './store-refusals.ts';

const absent = (key: string): StoreCondition => ({ kind: 'absent', key });
const mostBytes = 4 * 1_048_576;

/** Puts on five keys of one byte whose cost is `bytes` in all. */
function putsOf(bytes: number): readonly StoreMutation[] {
  const keys = ['a', 'b', 'c', 'd', 'e'];
  const valueBytes = bytes - keys.length * (1 + 64);
  const share = Math.floor(valueBytes / keys.length);
  return keys.map((key, index) => put(key, new Uint8Array(index === 0 ? valueBytes - 4 * share : share).fill(index)));
}

const badOperationIds = ['', 'a'.repeat(31), 'a'.repeat(33), 'A'.repeat(32), 'g'.repeat(32), `${'a'.repeat(32)}\n`];

export const limitCases: readonly LocationCase[] = [
  {
    title: '[LOC-015] a commit takes 2,048 different keys: conditions, records and counters together',
    act: async (rig) => {
      const keys = keysOf(2_048);
      const conditions = keys.slice(0, 1_500).map(absent);
      const mutations = [
        ...keys.slice(1_000, 2_000).map((key) => put(key, key)), // half of them are conditions, too
        ...keys.slice(2_000).map((counter) => add(counter, 1)),
      ];
      const result = applied(await rig.store.commit(batch(conditions, mutations)));
      assert.equal(result.counters.length, 48);
      assert.deepEqual(await rig.scanKeys('', 1_000), keys.slice(1_000, 2_000));
      assert.equal(textOf(await rig.present(keys[1_999] as string)), keys[1_999]); // there are 2,048
    },
  },
  {
    title: '[LOC-015] 2,049 different keys are an invalid argument',
    act: async (rig) => {
      const keys = keysOf(2_049);
      const first = keys[0] as string; // there are 2,049
      const tries: readonly StoreBatch[] = [
        batch(
          [],
          keys.map((key) => put(key, '')),
        ),
        batch(keys.slice(1).map(absent), [put(first, '')]),
        batch(keys.slice(1).map(absent), [add(keys[1] as string, 1)]), // a counter is another key than its record
      ];
      for (const change of tries) await refuses('invalidArgument', () => rig.store.commit(change));
      assert.deepEqual(await rig.scanKeys(''), []);
      assert.equal(await rig.counter(keys[1] as string), 0);
    },
  },
  {
    title: '[LOC-015] a commit takes 4 MiB of keys, values and 64 bytes for each key, and not a byte more',
    act: async (rig) => {
      await refuses('invalidArgument', () => rig.store.commit(batch([], putsOf(mostBytes + 1))));
      await refuses('invalidArgument', () => rig.store.commit(batch([absent('x')], putsOf(mostBytes - 64))));
      await refuses('invalidArgument', () => rig.store.commit(batch([], [...putsOf(mostBytes - 64), add('n', 1)])));
      assert.deepEqual([await rig.scanKeys(''), await rig.counter('n')], [[], 0]);
      applied(await rig.store.commit(batch([absent('a'), absent('x')], [...putsOf(mostBytes - 130), add('n', 1)])));
      const changes = putsOf(mostBytes);
      applied(await rig.store.commit(batch([{ kind: 'present', key: 'a' }], changes))); // a key counts once
      const items = await rig.scanAll({ prefix: '', limit: 10 });
      assert.deepEqual(
        items.map(({ value }) => value?.byteLength),
        changes.map((change) => change.kind === 'put' && change.value.byteLength),
      );
    },
  },
  {
    title: '[LOC-015] a commit without mutation is an invalid argument',
    act: async (rig) => {
      await refuses('invalidArgument', () => rig.store.commit(batch([], [])));
      await refuses('invalidArgument', () => rig.store.commit(batch([absent('k')], [])));
    },
  },
  {
    title: '[LOC-015] a key stands at most once in the conditions and once in the mutations',
    act: async (rig) => {
      const fine = put('fine', '');
      const twice: readonly StoreBatch[] = [
        batch([absent('k'), { kind: 'present', key: 'k' }], [fine]),
        batch([absent('k'), { kind: 'version', key: 'k', version: 1n }], [fine]),
        batch([], [put('k', '1'), fine, put('k', '2')]),
        batch([], [put('k', '1'), { kind: 'delete', key: 'k' }]),
        batch([], [put('k', '1'), { kind: 'touch', key: 'k', ttlMs: 1 }]),
        batch([], [add('k', 1), fine, add('k', 1)]),
      ];
      for (const change of twice) await refuses('invalidArgument', () => rig.store.commit(change));
      assert.deepEqual([await rig.scanKeys(''), await rig.counter('k')], [[], 0]);
      applied(await rig.store.commit(batch([absent('k')], [put('k', '1'), add('k', 1)])));
      assert.deepEqual([textOf(await rig.present('k')), await rig.counter('k')], ['1', 1]);
    },
  },
  {
    title: '[LOC-015] what is no batch is an invalid argument and is never applied in part',
    act: async (rig) => {
      const fine = batch([absent('k')], [put('k', '1')]);
      for (const operationId of badOperationIds)
        await refuses(
          'invalidArgument',
          () => rig.store.commit({ ...fine, operationId }),
          `operationId "${operationId}"`,
        );
      // Plain JavaScript may do all of this.
      const conditions = [{ kind: 'equals', key: 'k' }] as unknown as StoreBatch['conditions'];
      const mutations = [put('k', '1'), { kind: 'move', key: 'x' }] as unknown as StoreBatch['mutations'];
      await refuses('invalidArgument', () => rig.store.commit({ ...fine, conditions }));
      await refuses('invalidArgument', () => rig.store.commit({ ...fine, mutations }));
      for (const version of [0n, -1n, 2n ** 63n])
        await refuses('invalidArgument', () =>
          rig.store.commit(batch([{ kind: 'version', key: 'k', version }], [put('k', '1')])),
        );
      assert.equal(await rig.record('k'), undefined);
      applied(await rig.store.commit(fine));
    },
  },
];

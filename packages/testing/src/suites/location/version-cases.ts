/** What a commit leaves in its records: versions, the version of creation, expiry (LOC-014). */
import assert from 'node:assert/strict';
import type { StoreMutation } from '@zlink/kernel/location';
import { add, applied, assertBytes, batch, bytesOf, keysOf, type LocationCase, put, textOf } from './location-rig.ts';
import { refuses } from './store-refusals.ts';

const largest = 2n ** 63n - 1n;

export const versionCases: readonly LocationCase[] = [
  {
    title: '[LOC-014] every applied commit has a larger version than all before, whatever it changes and where',
    act: async (rig) => {
      const stores = [rig.store, ...(await rig.others(2))];
      const changes: readonly StoreMutation[] = [
        put('a', '1'),
        put('a', '1'),
        put('b', '1'),
        { kind: 'delete', key: 'a' },
        { kind: 'delete', key: 'a' },
        { kind: 'touch', key: 'b', ttlMs: 60_000 },
        { kind: 'touch', key: 'none', ttlMs: 60_000 },
        add('n', 1),
        add('n', -1),
        add('n', 0),
        { ...put('b', '1'), fresh: true },
        put('a', '1'),
      ];
      let last = 0n;
      for (const change of changes) {
        for (const store of stores) {
          const { version } = applied(await store.commit(batch([], [change])));
          assert(typeof version === 'bigint');
          assert(version > last && version <= largest, `version ${version} follows ${last}`);
          last = version;
        }
      }
    },
  },
  {
    title: '[LOC-014] commits that race have different versions, and the largest is the one that stays',
    act: async (rig) => {
      const stores = await rig.others(16);
      const results = await Promise.all(
        stores.map((store, index) => store.commit(batch([], [put('k', String(index))]))),
      );
      const versions = results.map((result) => applied(result).version);
      assert.equal(new Set(versions).size, 16);
      const record = await rig.present('k');
      const top = versions.reduce((a, b) => (a > b ? a : b));
      assert.equal(record.version, top);
      assert.equal(textOf(record), String(versions.indexOf(top)));
    },
  },
  {
    title: '[LOC-014] all puts of a commit carry its version, other records keep theirs',
    act: async (rig) => {
      const before = await rig.change(put('kept', 'x'), put('a', 'x'));
      const { version } = await rig.change(put('a', 'x'), put('b', 'x'), { ...put('c', 'x', 60_000), fresh: true });
      const { records } = await rig.store.read({ records: ['a', 'b', 'c', 'kept'] });
      assert.deepEqual(
        records.map((record) => record?.version),
        [version, version, version, before.version],
      );
    },
  },
  {
    title: '[LOC-014] createdVersion is of the commit that made the key present, through all later puts and touches',
    act: async (rig) => {
      const { version } = await rig.change(put('k', '1'));
      assert.equal((await rig.present('k')).createdVersion, version);
      await rig.change(put('k', '2'));
      await rig.change(put('k', '3', 60_000));
      await rig.change({ kind: 'touch', key: 'k', ttlMs: 90_000 });
      const last = await rig.change(put('k', '4'));
      const record = await rig.present('k');
      assert.deepEqual([record.createdVersion, record.version], [version, last.version]);
    },
  },
  {
    title: '[LOC-014] a key that was deleted or has expired is made present anew',
    act: async (rig) => {
      const { nowMs } = await rig.change(put('d', 'x'), put('e', 'x', rig.shortTtlMs));
      await rig.change({ kind: 'delete', key: 'd' });
      await rig.passUntil(nowMs + rig.shortTtlMs);
      const { version } = await rig.change(put('d', 'x'), put('e', 'x'));
      assert.equal((await rig.present('d')).createdVersion, version);
      assert.equal((await rig.present('e')).createdVersion, version);
    },
  },
  {
    title: '[LOC-014] fresh treats a present key as new',
    act: async (rig) => {
      const first = await rig.change(put('k', '1', 60_000));
      const { version } = await rig.change({ ...put('k', '2'), fresh: true });
      const record = await rig.present('k');
      assert.deepEqual([record.version, record.createdVersion, textOf(record)], [version, version, '2']);
      assert(version > first.version);
      assert.equal(record.expiresAtMs, undefined);
      const onAbsent = await rig.change({ ...put('new', '1'), fresh: true });
      assert.equal((await rig.present('new')).createdVersion, onAbsent.version);
    },
  },
  {
    title: '[LOC-014] touch extends the expiry and changes nothing else',
    act: async (rig) => {
      const { version, nowMs } = await rig.change(put('k', 'x', rig.seenTtlMs));
      const touched = await rig.change({ kind: 'touch', key: 'k', ttlMs: rig.seenTtlMs + rig.shortTtlMs });
      const record = await rig.present('k');
      assert.deepEqual([record.version, record.createdVersion, textOf(record)], [version, version, 'x']);
      assert.equal(record.expiresAtMs, touched.nowMs + rig.seenTtlMs + rig.shortTtlMs);
      await rig.passUntil(nowMs + rig.seenTtlMs);
      const seen = await rig.store.read({ records: ['k'] });
      assert.equal(seen.records[0] !== undefined, seen.nowMs < touched.nowMs + rig.seenTtlMs + rig.shortTtlMs);
      await rig.passUntil(touched.nowMs + rig.seenTtlMs + rig.shortTtlMs);
      assert.equal(await rig.record('k'), undefined);
    },
  },
  {
    title: '[LOC-014] touch does nothing on an absent key, nor on one that was deleted or has expired',
    act: async (rig) => {
      const { nowMs } = await rig.change(put('d', 'x'), put('e', 'x', rig.shortTtlMs));
      await rig.change({ kind: 'delete', key: 'd' });
      await rig.passUntil(nowMs + rig.shortTtlMs);
      for (const key of ['none', 'd', 'e']) {
        await rig.change({ kind: 'touch', key, ttlMs: 60_000 });
        assert.equal(await rig.record(key), undefined, key);
        applied(await rig.store.commit(batch([{ kind: 'absent', key }], [add('n', 1)])));
      }
      assert.deepEqual(await rig.scanKeys(''), []);
    },
  },
  {
    title: '[LOC-014] put without ttlMs never expires, also where the record before had an expiry',
    act: async (rig) => {
      const { nowMs } = await rig.change(put('k', '1', rig.shortTtlMs));
      await rig.change(put('k', '2'), put('other', '1'));
      assert.equal((await rig.present('k')).expiresAtMs, undefined);
      await rig.passUntil(nowMs + rig.shortTtlMs + 1);
      assert.equal(textOf(await rig.present('k')), '2');
      assert.equal(textOf(await rig.present('other')), '1');
    },
  },
  {
    title: '[LOC-014] put with ttlMs sets the expiry anew, later or earlier than before',
    act: async (rig) => {
      await rig.change(put('k', '1'));
      for (const ttlMs of [60_000, 30_000, 90_000]) {
        const { nowMs } = await rig.change(put('k', '2', ttlMs));
        assert.equal((await rig.present('k')).expiresAtMs, nowMs + ttlMs);
      }
    },
  },
  {
    title: '[LOC-014] no record without expiry is lost in 30 days',
    needs: 'advance',
    act: async (rig) => {
      const keys = keysOf(100);
      await rig.change(...keys.map((key) => put(key, key)), add('n', 3));
      await rig.harness.advance?.(2_592_000_000);
      assert.deepEqual(await rig.scanKeys(''), keys);
      assert.equal(await rig.counter('n'), 3);
    },
  },
  {
    title: '[LOC-014] delete makes a key absent, and one of an absent key is no failure',
    act: async (rig) => {
      await rig.change(put('k', 'x'), put('kept', 'x'));
      await rig.change({ kind: 'delete', key: 'k' }, { kind: 'delete', key: 'none' });
      const { records } = await rig.store.read({ records: ['k', 'none'] });
      assert.deepEqual(records, [undefined, undefined]);
      assertBytes((await rig.present('kept')).value, bytesOf('x'));
    },
  },
  {
    title: '[LOC-014] without a version left a commit is refused as exhausted and changes nothing',
    needs: 'createExhausted',
    act: async (rig) => {
      const store = await rig.exhausted();
      const change = batch([{ kind: 'absent', key: 'k' }], [put('k', 'x'), add('n', 1)]);
      await refuses('exhausted', () => store.commit(change));
      await refuses('exhausted', () => store.commit(change)); // and is not remembered as applied
      const { records, counters } = await store.read({ records: ['k'], counters: ['n'] });
      assert.deepEqual([records[0], counters[0]], [undefined, 0]);
    },
  },
];

/** One read is one observation by the store's clock (LOC-011). */
import assert from 'node:assert/strict';
import { add, applied, batch, keysOf, type LocationCase, put, textOf, watch } from './location-rig.ts';
import { refuses } from './store-refusals.ts';

const mebibyte = 1_048_576;

export const readCases: readonly LocationCase[] = [
  {
    title: '[LOC-011] a read answers in the order of its keys, absent and repeated ones included',
    act: async (rig) => {
      await rig.change(put('a', 'A'), put('b', 'B'), add('n', 1), add('m', 2));
      const { records, counters } = await rig.store.read({
        records: ['b', 'none', 'a', 'b'],
        counters: ['m', 'none', 'n'],
      });
      assert.deepEqual(
        records.map((record) => textOf(record)),
        ['B', undefined, 'A', 'B'],
      );
      assert.deepEqual(counters, [2, 0, 1]);
    },
  },
  {
    title: '[LOC-011] a read of nothing tells the time',
    act: async (rig) => {
      const { nowMs, records, counters } = await rig.store.read({});
      assert(Number.isSafeInteger(nowMs), 'the time is an integer of milliseconds');
      assert.deepEqual([records, counters], [[], []]);
    },
  },
  {
    title: '[LOC-011] a read takes 1,024 keys, records and counters together',
    act: async (rig) => {
      const keys = keysOf(1_025);
      await rig.change(...keys.map((key) => put(key, key)));
      await rig.change(add(keys[0] as string, 9)); // there are 1,025
      const { records } = await rig.store.read({ records: keys.slice(1) });
      assert.deepEqual(
        records.map((record) => textOf(record)),
        keys.slice(1),
      );
      const mixed = await rig.store.read({ records: keys.slice(0, 1_000), counters: keys.slice(0, 24) });
      assert.deepEqual([mixed.records.length, mixed.counters.length, mixed.counters[0]], [1_000, 24, 9]);
      await refuses('tooLarge', () => rig.store.read({ records: keys }));
      await refuses('tooLarge', () => rig.store.read({ records: keys.slice(0, 1_000), counters: keys.slice(0, 25) }));
    },
  },
  {
    title: '[LOC-011] values of 4 MiB are read at once, more are too large',
    act: async (rig) => {
      const keys = ['a', 'b', 'c', 'd'];
      for (const key of keys) await rig.change(put(key, new Uint8Array(mebibyte).fill(key.charCodeAt(0))));
      await rig.change(put('e', Uint8Array.of(1)), put('f', ''));
      const { records } = await rig.store.read({ records: [...keys, 'f'] });
      assert.deepEqual(
        records.map((record) => record?.value?.byteLength),
        [mebibyte, mebibyte, mebibyte, mebibyte, 0],
      );
      await refuses('tooLarge', () => rig.store.read({ records: [...keys, 'e'] }));
      await refuses('tooLarge', () => rig.store.read({ records: ['a', 'a', 'a', 'a', 'a'] }));
    },
  },
  {
    title: '[LOC-011] a read sees every commit that was acknowledged before, from any store',
    act: async (rig) => {
      const readers = await rig.others(3);
      const writer = await rig.another();
      for (let round = 1; round <= 20; round++) {
        const { version } = applied(await writer.commit(batch([], [put('k', String(round)), add('n', 1)])));
        for (const reader of readers) {
          const { records, counters } = await reader.read({ records: ['k'], counters: ['n'] });
          assert.deepEqual([textOf(records[0]), records[0]?.version, counters[0]], [String(round), version, round]);
        }
      }
    },
  },
  {
    title: '[LOC-011] a read is one observation: records and counters of one commit are seen together',
    act: async (rig) => {
      const [first = '', second = ''] = keysOf(2);
      const writer = await rig.another();
      await rig.change(put(first, '0'), put(second, '0'));
      const write = async (): Promise<void> => {
        for (let round = 1; round <= 50; round++)
          applied(await writer.commit(batch([], [put(first, String(round)), add('n', 1), put(second, String(round))])));
      };
      await watch(write(), async () => {
        const { records, counters } = await rig.store.read({ records: [first, second], counters: ['n'] });
        const seen = [textOf(records[0]), String(counters[0]), textOf(records[1])];
        assert.equal(new Set(seen).size, 1, `one read saw ${seen.join(', ')}`);
        assert.equal(records[0]?.version, records[1]?.version);
      });
    },
  },
  {
    title: '[LOC-011] an expired record is undefined: present exactly as long as nowMs is below its expiry',
    act: async (rig) => {
      const other = await rig.another();
      const { nowMs } = await rig.change(put('k', 'x', rig.seenTtlMs));
      const expiresAtMs = nowMs + rig.seenTtlMs;
      let sightings = 0;
      await rig.passUntil(expiresAtMs, async () => {
        for (const store of [rig.store, other]) {
          const seen = await store.read({ records: ['k'] });
          assert.equal(seen.records[0] !== undefined, seen.nowMs < expiresAtMs, `at ${seen.nowMs - expiresAtMs} ms`);
          if (seen.records[0] === undefined) continue;
          sightings += 1;
          assert.equal(seen.records[0].expiresAtMs, expiresAtMs);
        }
      });
      assert(sightings > 0, 'the record was never there');
      assert.equal(await rig.record('k'), undefined);
    },
  },
  {
    title: '[LOC-011] nowMs is one clock: reads, commits and scans of all stores agree',
    act: async (rig) => {
      const stores = await rig.others(2);
      let lastMs = await rig.nowMs();
      const look = async (): Promise<void> => {
        for (const store of stores) {
          const times = [
            (await store.read({ records: ['k'] })).nowMs,
            applied(await store.commit(batch([], [put('k', 'x')]))).nowMs,
            (await store.scan({ prefix: '', limit: 1 })).nowMs,
            (await store.commit(batch([{ kind: 'absent', key: 'k' }], [put('k', 'x')]))).nowMs,
            (await store.commit(batch([], [add('n', 1, { max: 0 })]))).nowMs,
          ];
          for (const nowMs of times) {
            assert(nowMs >= lastMs, `the store's clock went back by ${lastMs - nowMs} ms from call to call`);
            lastMs = nowMs;
          }
        }
      };
      await rig.passUntil(lastMs + rig.shortTtlMs, look);
    },
  },
];

/** Scans by prefix, page by page (LOC-017). */
import assert from 'node:assert/strict';
import { add, keysOf, type LocationCase, type LocationRig, put, textOf } from './location-rig.ts';
import { refuses } from './store-refusals.ts';

const mebibyte = 1_048_576;

/** In byte order; UTF-16 would put the last two the other way round. */
const ordered = ['A', 'a', 'a\0', 'a ', 'a!', 'a/', 'a/b', 'a0', 'aa', 'b', 'é', '\uffff', '\u{10000}'];

async function fill(rig: LocationRig, keys: readonly string[]): Promise<void> {
  const shuffled = keys.filter((_, i) => i % 2 === 1).concat(keys.filter((_, i) => i % 2 === 0).reverse());
  for (let from = 0; from < shuffled.length; from += 2_000)
    await rig.change(...shuffled.slice(from, from + 2_000).map((key) => put(key, key)));
}

export const scanCases: readonly LocationCase[] = [
  {
    title: '[LOC-017] a scan gives every record of its prefix in the order of key bytes',
    act: async (rig) => {
      await fill(rig, ordered);
      assert.deepEqual(await rig.scanKeys(''), ordered);
      assert.deepEqual(await rig.scanKeys('a'), ['a', 'a\0', 'a ', 'a!', 'a/', 'a/b', 'a0', 'aa']);
      assert.deepEqual(await rig.scanKeys('a/'), ['a/', 'a/b']);
      assert.deepEqual(await rig.scanKeys('\u{10000}'), ['\u{10000}']);
      assert.deepEqual(await rig.scanKeys('c'), []);
      assert.deepEqual(await rig.scanKeys('a/bc'), []);
    },
  },
  {
    title: '[LOC-017] a prefix is no pattern, and its end is no end of the key space',
    act: async (rig) => {
      const keys = ['*', '*a', '[', '\\', 'x\u{10ffff}', 'x\u{10ffff}\u{10ffff}', 'y'];
      await fill(rig, keys);
      assert.deepEqual(await rig.scanKeys('*'), ['*', '*a']);
      assert.deepEqual(await rig.scanKeys('['), ['[']);
      assert.deepEqual(await rig.scanKeys('x'), ['x\u{10ffff}', 'x\u{10ffff}\u{10ffff}']);
      assert.deepEqual(await rig.scanKeys('?'), []);
    },
  },
  {
    title: '[LOC-017] a scan begins behind after, whether that key is there or not',
    act: async (rig) => {
      await fill(rig, ['a1', 'a2', 'a3', 'b1']);
      const from = async (after: string): Promise<readonly string[]> => {
        return (await rig.scanAll({ prefix: 'a', after, limit: 10 })).map(({ key }) => key);
      };
      assert.deepEqual(await from('a1'), ['a2', 'a3']);
      assert.deepEqual(await from('a11'), ['a2', 'a3']);
      assert.deepEqual(await from('a3'), []);
      assert.deepEqual(await from('A'), ['a1', 'a2', 'a3']);
      assert.deepEqual(await from('a'), ['a1', 'a2', 'a3']);
      assert.deepEqual(await from('z'), []);
    },
  },
  {
    title: '[LOC-017] pages of 1, 7 and 1,000 together give each of 2,500 records once',
    act: async (rig) => {
      const keys = keysOf(2_500, 'p/');
      await fill(rig, [...keys, 'o', 'p', 'p0', 'q']);
      for (const limit of [1_000, 7]) assert.deepEqual(await rig.scanKeys('p/', limit), keys);
      assert.deepEqual(await rig.scanKeys('p/0000', 1), keys.slice(0, 10));
    },
  },
  {
    title: '[LOC-017] next is the last key of the page while more may follow, and absent at the end',
    act: async (rig) => {
      await fill(rig, keysOf(5));
      const first = await rig.store.scan({ prefix: 'k', limit: 3 });
      assert(first.items.length > 0 && first.items.length <= 3);
      assert.equal(first.next, first.items.at(-1)?.key);
      const last = await rig.store.scan({ prefix: 'k', limit: 3, after: 'k00003' });
      assert.deepEqual([last.items.map(({ key }) => key), last.next], [['k00004'], undefined]);
      for (const request of [{ prefix: 'x' }, { prefix: 'k', after: 'k00004' }, { prefix: 'k', after: 'l' }]) {
        const none = await rig.store.scan({ ...request, limit: 3 });
        assert.deepEqual([none.items, none.next], [[], undefined]);
      }
    },
  },
  {
    title: '[LOC-017] limit is 1..1,000',
    act: async (rig) => {
      for (const limit of [0, -1, 1_001, 1.5, NaN])
        await refuses('invalidArgument', () => rig.store.scan({ prefix: '', limit }), `limit ${limit}`);
    },
  },
  {
    title: '[LOC-017] a scan shows what a read shows, and keysOnly all but the value',
    act: async (rig) => {
      await rig.change(put('a', '1', 60_000), put('b', ''));
      await rig.change(put('a', '2', 90_000));
      const { records } = await rig.store.read({ records: ['a', 'b'] });
      const items = await rig.scanAll({ prefix: '', limit: 10 });
      assert.deepEqual(items, records);
      assert.deepEqual(
        await rig.scanAll({ prefix: '', limit: 10, keysOnly: true }),
        items.map(({ value: _value, ...rest }) => rest),
      );
    },
  },
  {
    title: '[LOC-017] a page holds 4 MiB of values at most, and one record at least',
    act: async (rig) => {
      const keys = keysOf(9);
      for (const key of keys) await rig.change(put(key, new Uint8Array(mebibyte)));
      const pages: number[] = [];
      let after: string | undefined;
      const seen: string[] = [];
      do {
        const page = await rig.store.scan({ prefix: '', limit: 1_000, ...(after === undefined ? {} : { after }) });
        assert(page.items.length > 0, 'a page before the end is empty');
        pages.push(page.items.reduce((sum, { value }) => sum + (value?.byteLength ?? 0), 0));
        seen.push(...page.items.map(({ key }) => key));
        after = page.next;
      } while (after !== undefined);
      assert.deepEqual(seen, keys);
      assert(
        pages.every((bytes) => bytes <= 4 * mebibyte),
        `a page has ${Math.max(...pages)} bytes`,
      );
    },
  },
  {
    title: '[LOC-017] neither deleted nor expired records nor counters are scanned',
    act: async (rig) => {
      const { nowMs } = await rig.change(
        put('a', 'x'),
        put('b', 'x', rig.shortTtlMs),
        put('c', 'x'),
        put('d', 'x', rig.shortTtlMs),
        put('e', 'x'),
        add('f', 1),
      );
      await rig.change({ kind: 'delete', key: 'c' });
      const expiresAtMs = nowMs + rig.shortTtlMs;
      await rig.passUntil(expiresAtMs, async () => {
        const beforeMs = await rig.nowMs();
        const keys = await rig.scanKeys('');
        const afterMs = await rig.nowMs();
        if (afterMs < expiresAtMs) assert.deepEqual(keys, ['a', 'b', 'd', 'e']);
        if (beforeMs >= expiresAtMs) assert.deepEqual(keys, ['a', 'e']);
      });
      assert.deepEqual(await rig.scanKeys('', 1), ['a', 'e']);
    },
  },
  {
    title: '[LOC-017] many expired records hide none that follow them',
    act: async (rig) => {
      const { nowMs } = await rig.change(...keysOf(1_500).map((key) => put(key, 'x', rig.shortTtlMs)));
      await rig.change(put('a', 'x'), put('k01499x', 'x'), put('z', 'x'));
      await rig.passUntil(nowMs + rig.shortTtlMs);
      assert.deepEqual(await rig.scanKeys('', 1), ['a', 'k01499x', 'z']);
      assert.deepEqual(await rig.scanKeys('k', 1_000), ['k01499x']);
    },
  },
  {
    title: '[LOC-017] a key that is there throughout a cycle appears once, while others come and go',
    act: async (rig) => {
      const stay = keysOf(60, 'k/').map((key) => `${key}/stay`);
      const come = stay.map((key) => key.replace('stay', 'come'));
      const go = stay.map((key) => key.replace('stay', 'zgo'));
      await fill(rig, [...stay, ...go]);
      let turn = 0;
      const churn = async (): Promise<void> => {
        // One before and one behind the place of the scan, and the values of two that stay.
        const near = (offset: number): number => (turn * 5 + offset + stay.length) % stay.length;
        const at = (keys: readonly string[], offset: number): string => keys[near(offset)] as string; // in range
        await rig.change(put(at(come, -7), 'x'), put(at(come, 9), 'x'), { kind: 'delete', key: at(go, 2) });
        await rig.change({ kind: 'delete', key: at(go, -3) }, put(at(stay, 4), 'new'), put(at(stay, -4), 'new'));
        turn += 1;
      };
      const items = await rig.scanAll({ prefix: 'k/', limit: 7 }, churn);
      const keys = items.map(({ key }) => key);
      assert.equal(new Set(keys).size, keys.length, 'a key appeared twice');
      assert.deepEqual(
        keys.filter((key) => key.endsWith('/stay')),
        stay,
      );
      assert.deepEqual([...keys].sort(), keys);
      assert(turn > 5, 'there was no cycle of several pages');
      assert.equal(textOf(items[0]), items[0]?.key);
    },
  },
];

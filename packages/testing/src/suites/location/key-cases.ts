/** Keys, values and counters as such (LOC-010). */
import assert from 'node:assert/strict';
import { add, applied, assertBytes, batch, type LocationCase, type LocationRig, put, textOf } from './location-rig.ts';
import { refuses } from './store-refusals.ts';

const longest = 'k'.repeat(1_536);
const longestInThrees = '€'.repeat(512);
const mebibyte = 1_048_576;
const mostMs = 2_592_000_000;

const badKeys: readonly (readonly [what: string, key: string])[] = [
  ['an empty key', ''],
  ['a key of 1,537 bytes', `${longest}k`],
  ['a key of 513 characters and 1,539 bytes', `${longestInThrees}€`],
  ['a key that is no UTF-8', 'a\ud800'],
];

/** Texts that a driver, a pattern or a script could take for something else. */
const strangeKeys = [
  '*',
  '?',
  '[a-z]',
  '{tag}',
  ':',
  '~0~1/',
  ' ',
  '\n',
  '\0',
  '%00',
  '"',
  '\\',
  'ключ',
  '🔑',
  '\u{10ffff}',
];

function badKeyCalls(
  rig: LocationRig,
  key: string,
): readonly (readonly [place: string, call: () => Promise<unknown>])[] {
  const { store } = rig;
  const fine = put('fine', 'x');
  return [
    ['read', () => store.read({ records: [key] })],
    ['read of a counter', () => store.read({ counters: [key] })],
    ['absent', () => store.commit(batch([{ kind: 'absent', key }], [fine]))],
    ['version', () => store.commit(batch([{ kind: 'version', key, version: 1n }], [fine]))],
    ['put', () => store.commit(batch([], [put(key, 'x')]))],
    ['touch', () => store.commit(batch([], [{ kind: 'touch', key, ttlMs: 1 }]))],
    ['delete', () => store.commit(batch([], [{ kind: 'delete', key }]))],
    ['add', () => store.commit(batch([], [add(key, 1)]))],
    ['after', () => store.scan({ prefix: 'a', after: key, limit: 1 })],
    ...(key === '' ? [] : ([['prefix', () => store.scan({ prefix: key, limit: 1 })]] as const)),
  ];
}

export const keyCases: readonly LocationCase[] = [
  {
    title: '[LOC-010] keys of 1 and of 1,536 bytes are kept, of records and of counters',
    act: async (rig) => {
      for (const key of ['k', longest, longestInThrees]) {
        await rig.change(put(key, 'value'), add(key, 7));
        assert.equal((await rig.present(key)).key, key);
        assert.equal(textOf(await rig.present(key)), 'value');
        assert.equal(await rig.counter(key), 7);
      }
    },
  },
  {
    title: '[LOC-010] a key of 0 or more than 1,536 bytes, or of no UTF-8, is an invalid argument everywhere',
    act: async (rig) => {
      for (const [what, key] of badKeys)
        for (const [place, call] of badKeyCalls(rig, key)) await refuses('invalidArgument', call, `${what}, ${place}`);
      assert.equal(await rig.record('fine'), undefined);
    },
  },
  {
    title: '[LOC-010] keys are opaque: no text is a pattern, a path or an end',
    act: async (rig) => {
      for (const key of strangeKeys) await rig.change(put(key, `of ${key}`), add(key, key.length));
      const { records, counters } = await rig.store.read({ records: strangeKeys, counters: strangeKeys });
      assert.deepEqual(
        records.map((record) => record?.key),
        strangeKeys,
      );
      assert.deepEqual(
        records.map((record) => textOf(record)),
        strangeKeys.map((key) => `of ${key}`),
      );
      assert.deepEqual(
        counters,
        strangeKeys.map((key) => key.length),
      );
    },
  },
  {
    title: '[LOC-010] keys are compared by bytes: neither case nor composition nor a zero byte is overlooked',
    act: async (rig) => {
      const alike = ['a', 'A', 'a\0', 'a ', '\u00e9', 'e\u0301', '\u212b', '\u00c5'];
      await rig.change(...alike.map((key, index) => put(key, String(index))));
      const { records } = await rig.store.read({ records: alike });
      assert.deepEqual(
        records.map((record) => textOf(record)),
        alike.map((_, index) => String(index)),
      );
    },
  },
  {
    title: '[LOC-010] a record and a counter of one name are two things',
    act: async (rig) => {
      await rig.change(put('both', 'text'), add('both', 3));
      assert.equal(textOf(await rig.present('both')), 'text');
      assert.equal(await rig.counter('both'), 3);
      await rig.change({ kind: 'delete', key: 'both' });
      assert.equal(await rig.record('both'), undefined);
      assert.equal(await rig.counter('both'), 3);
      await rig.change(put('both', 'again'), add('both', -3));
      assert.equal(textOf(await rig.present('both')), 'again');
      applied(await rig.store.commit(batch([{ kind: 'present', key: 'both' }], [add('other', 1)])));
      const onCounter = await rig.store.commit(batch([{ kind: 'present', key: 'other' }], [add('other', 1)]));
      assert.equal(onCounter.kind, 'conflict'); // a condition looks at records alone
    },
  },
  {
    title: '[LOC-010] an absent counter is 0, and one that reaches 0 begins anew',
    act: async (rig) => {
      assert.equal(await rig.counter('n'), 0);
      assert.deepEqual((await rig.change(add('n', 5))).counters, [5]);
      assert.deepEqual((await rig.change(add('n', -5))).counters, [0]);
      assert.equal(await rig.counter('n'), 0);
      assert.deepEqual((await rig.change(add('n', 2))).counters, [2]);
    },
  },
  {
    title: '[LOC-010] counters are exact up to 2^53-1 either way, and never leave that range',
    act: async (rig) => {
      const most = Number.MAX_SAFE_INTEGER;
      assert.deepEqual((await rig.change(add('up', most))).counters, [most]);
      assert.deepEqual((await rig.change(add('down', -most, { min: -most }))).counters, [-most]);
      assert.equal(await rig.counter('up'), most);
      assert.equal(await rig.counter('down'), -most);
      assert.deepEqual((await rig.change(add('up', -1), add('down', 1, { min: -most }))).counters, [
        most - 1,
        1 - most,
      ]);
      for (const [counter, delta] of [
        ['up', 2],
        ['up', most],
        ['down', -2],
        ['down', -most],
      ] as const) {
        const result = await rig.store.commit(batch([], [add(counter, delta, { min: -most })]));
        assert.equal(result.kind, 'bound', `${counter} ${delta}`);
      }
      assert.equal(await rig.counter('up'), most - 1);
    },
  },
  {
    title: '[LOC-010] a delta or a bound that is no integer of 53 bits is an invalid argument',
    act: async (rig) => {
      for (const bad of [0.5, NaN, Infinity, 2 ** 53, -(2 ** 53)]) {
        await refuses('invalidArgument', () => rig.store.commit(batch([], [add('n', bad)])), `delta ${bad}`);
        await refuses('invalidArgument', () => rig.store.commit(batch([], [add('n', 1, { min: bad })])), `min ${bad}`);
        await refuses('invalidArgument', () => rig.store.commit(batch([], [add('n', 1, { max: bad })])), `max ${bad}`);
      }
      assert.equal(await rig.counter('n'), 0);
    },
  },
  {
    title: '[LOC-010] only records are scanned, and only records have versions',
    act: async (rig) => {
      await rig.change(add('a1', 1), put('a2', ''), add('a3', 1));
      assert.deepEqual(await rig.scanKeys('a'), ['a2']);
      assert.equal(await rig.record('a1'), undefined);
      const onCounter = await rig.store.commit(batch([{ kind: 'version', key: 'a1', version: 1n }], [add('a1', 1)]));
      assert.equal(onCounter.kind, 'conflict');
    },
  },
  {
    title: '[LOC-010] values are bytes of any content, from none to 1 MiB',
    act: async (rig) => {
      const allBytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const twisted = Uint8Array.from({ length: mebibyte }, (_, index) => (index * 7 + (index >> 8)) & 0xff);
      const notUtf8 = Uint8Array.of(0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0x0a, 0x0d, 0);
      const view = new Uint8Array(allBytes.buffer, 100, 10); // a part of a larger buffer, as a codec writes it
      const values = { none: new Uint8Array(0), allBytes, twisted, notUtf8, view };
      for (const [key, value] of Object.entries(values)) {
        await rig.change(put(key, value));
        assertBytes((await rig.present(key)).value, value);
      }
    },
  },
  {
    title: '[LOC-010] a value of more than 1 MiB, or of no bytes, is an invalid argument',
    act: async (rig) => {
      await refuses('invalidArgument', () => rig.store.commit(batch([], [put('k', new Uint8Array(mebibyte + 1))])));
      const text = { ...put('k', ''), value: 'text' as unknown as Uint8Array }; // plain JavaScript may do so
      await refuses('invalidArgument', () => rig.store.commit(batch([], [text])));
      assert.equal(await rig.record('k'), undefined);
    },
  },
  {
    title: '[LOC-010] ttlMs is 1..2,592,000,000',
    act: async (rig) => {
      const { nowMs } = await rig.change(put('put', 'x', mostMs), put('touched', 'x'));
      assert.equal((await rig.present('put')).expiresAtMs, nowMs + mostMs);
      const touched = await rig.change({ kind: 'touch', key: 'put', ttlMs: mostMs });
      assert.equal((await rig.present('put')).expiresAtMs, touched.nowMs + mostMs);
      applied(await rig.store.commit(batch([], [put('short', 'x', 1)])));
      for (const ttlMs of [0, -1, 1.5, NaN, Infinity, mostMs + 1]) {
        const touch = { kind: 'touch', key: 'put', ttlMs } as const;
        await refuses('invalidArgument', () => rig.store.commit(batch([], [put('bad', 'x', ttlMs)])), `put ${ttlMs}`);
        await refuses('invalidArgument', () => rig.store.commit(batch([], [touch])), `touch ${ttlMs}`);
      }
      assert.equal(await rig.record('bad'), undefined);
    },
  },
];

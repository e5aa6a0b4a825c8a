/** A commit happens whole or not at all, and conditions are judged at its own store time (LOC-012, LOC-013). */
import assert from 'node:assert/strict';
import type { LocationStore, StoreCondition, StoreMutation } from '@zlink/kernel/location';
import {
  add,
  applied,
  batch,
  keysOf,
  type LocationCase,
  type LocationRig,
  put,
  textOf,
  watch,
} from './location-rig.ts';

const absent = (key: string): StoreCondition => ({ kind: 'absent', key });
const present = (key: string): StoreCondition => ({ kind: 'present', key });
const at = (key: string, version: bigint): StoreCondition => ({ kind: 'version', key, version });

/** Everything that a test can know of the store's content. */
async function photograph(rig: LocationRig): Promise<unknown> {
  const { counters } = await rig.store.read({ counters: ['n', 'm', 'o'] });
  const items = await rig.scanAll({ prefix: '', limit: 1_000 });
  return {
    counters,
    items: items.map(({ key, version, createdVersion, expiresAtMs, ...rest }) => {
      return [key, version, createdVersion, expiresAtMs, textOf({ key, version, createdVersion, ...rest })];
    }),
  };
}

/** Every value that one read of these keys sees. */
async function textsOf(store: LocationStore, keys: readonly string[]): Promise<ReadonlySet<string | undefined>> {
  const { records } = await store.read({ records: keys });
  return new Set(records.map((record) => textOf(record)));
}

export const commitCases: readonly LocationCase[] = [
  {
    title: '[LOC-012] a commit whose conditions hold applies all its mutations',
    act: async (rig) => {
      const { version } = await rig.change(put('a', '1'), put('gone', 'x'), put('kept', 'x', 60_000), add('n', 4));
      const conditions = [at('a', version), absent('b'), present('gone'), present('kept')];
      const result = applied(
        await rig.store.commit(
          batch(conditions, [
            put('a', '2'),
            put('b', '3', 60_000),
            { kind: 'delete', key: 'gone' },
            { kind: 'touch', key: 'kept', ttlMs: 90_000 },
            add('n', -1),
            add('m', 6),
          ]),
        ),
      );
      assert.deepEqual(result.counters, [3, 6]);
      assert.equal(result.replayed, false);
      const { records, counters } = await rig.store.read({ records: ['a', 'b', 'gone', 'kept'], counters: ['n', 'm'] });
      const [a, b, gone, kept] = records;
      assert.deepEqual([textOf(a), textOf(b), gone, textOf(kept)], ['2', '3', undefined, 'x']);
      assert.equal(b?.expiresAtMs, result.nowMs + 60_000);
      assert.equal(kept?.expiresAtMs, result.nowMs + 90_000);
      assert.deepEqual(counters, [3, 6]);
    },
  },
  {
    title: '[LOC-012] a conflict names the first condition that fails, in the order of the batch',
    act: async (rig) => {
      const { version } = await rig.change(put('a', '1'), put('b', '1'));
      const tries: readonly (readonly [conditions: readonly StoreCondition[], index: number])[] = [
        [[absent('a')], 0],
        [[present('x')], 0],
        [[at('a', version + 1n)], 0],
        [[at('x', version)], 0],
        [[present('a'), absent('x'), absent('b'), present('x2')], 2],
        [[at('a', version), at('b', version), present('x'), absent('a2'), present('x2')], 2],
        [[at('a', version), present('b'), absent('x'), at('x2', 1n)], 3],
        [[...keysOf(500).map(absent), present('x'), absent('a')], 500],
      ];
      for (const [conditions, index] of tries) {
        const result = await rig.store.commit(batch(conditions, [put('new', 'x')]));
        assert(result.kind === 'conflict');
        assert.equal(result.conditionIndex, index);
      }
      assert.equal(await rig.record('new'), undefined);
    },
  },
  {
    title: '[LOC-012] bounds are judged after all conditions',
    act: async (rig) => {
      const result = await rig.store.commit(
        batch([absent('a'), present('x')], [add('n', 1, { max: 0 }), put('a', 'x')]),
      );
      assert(result.kind === 'conflict');
      assert.equal(result.conditionIndex, 1);
    },
  },
  {
    title: '[LOC-012] bound names the first add that leaves its bounds, and the value that the counter has',
    act: async (rig) => {
      await rig.change(add('n', 5), add('m', 9), add('o', -2, { min: -2 }));
      const within = [put('a', '1'), add('n', 1, { max: 6 })];
      const tooMuch = await rig.store.commit(
        batch([], [...within, put('b', '1'), add('m', 2, { max: 10 }), add('o', -9)]),
      );
      assert(tooMuch.kind === 'bound');
      assert.deepEqual([tooMuch.mutationIndex, tooMuch.current], [3, 9]);
      const tooLittle = await rig.store.commit(batch([], [...within, add('o', -1, { min: -2 })]));
      assert(tooLittle.kind === 'bound');
      assert.deepEqual([tooLittle.mutationIndex, tooLittle.current], [2, -2]);
      assert.equal(await rig.record('a'), undefined);
    },
  },
  {
    title: '[LOC-012] min and max themselves are allowed, min is 0 when left out, and max needs no min',
    act: async (rig) => {
      const tries: readonly (readonly [
        delta: number,
        bounds: { min?: number; max?: number },
        ends: string,
        n: number,
      ])[] = [
        [-1, {}, 'bound', 0],
        [3, { max: 2 }, 'bound', 0],
        [2, { max: 2 }, 'applied', 2],
        [0, { max: 1 }, 'bound', 2],
        [0, { min: 2, max: 2 }, 'applied', 2],
        [0, { min: 3 }, 'bound', 2],
        [-3, {}, 'bound', 2],
        [-3, { min: -1 }, 'applied', -1],
        [0, {}, 'bound', -1],
        [-1, { min: -1 }, 'bound', -1],
        [1, {}, 'applied', 0],
        [0, { max: 0 }, 'applied', 0],
      ];
      for (const [delta, bounds, ends, n] of tries) {
        const what = `add ${delta} ${JSON.stringify(bounds)}`;
        assert.equal((await rig.store.commit(batch([], [add('n', delta, bounds)]))).kind, ends, what);
        assert.equal(await rig.counter('n'), n, what);
      }
    },
  },
  {
    title: '[LOC-012] conflict and bound change nothing: no value, counter, expiry or version',
    act: async (rig) => {
      await rig.change(put('a', '1'), put('b', '1', 600_000), put('d', '1', 600_000), add('n', 1));
      await rig.change(put('a', '2'), add('m', 2));
      const before = await photograph(rig);
      const changes: readonly StoreMutation[] = [
        add('n', 1),
        put('a', '9'),
        { ...put('b', '9'), fresh: true },
        put('c', '9'),
        { kind: 'touch', key: 'd', ttlMs: 900_000 },
      ];
      for (const conditions of [[absent('a')], [present('a'), absent('b')], [at('a', 1n)], [present('c')]])
        assert.equal((await rig.store.commit(batch(conditions, changes))).kind, 'conflict');
      for (const bad of [add('o', -1), add('o', 3, { max: 2 }), add('m', 1, { max: 2 })]) {
        assert.equal((await rig.store.commit(batch([], [...changes, bad]))).kind, 'bound');
        assert.equal(
          (await rig.store.commit(batch([], [bad, { kind: 'delete', key: 'a' }, put('b', '9')]))).kind,
          'bound',
        );
      }
      assert.deepEqual(await photograph(rig), before);
    },
  },
  {
    title: '[LOC-012] no reader sees a part of a commit of 2,048 keys',
    act: async (rig) => {
      const keys = keysOf(2_048);
      const shown = [...keys.slice(0, 512), ...keys.slice(-512)];
      const writer = await rig.another();
      const write = async (round: number): Promise<void> => {
        applied(await writer.commit(batch([], [...keys.map((key) => put(key, String(round)))])));
      };
      await write(0);
      for (let round = 1; round <= 4; round++) {
        await watch(write(round), async () => {
          const texts = await textsOf(rig.store, shown);
          assert.equal(texts.size, 1, `one read saw ${[...texts].join(' and ')}`);
        });
        assert.deepEqual([...(await textsOf(rig.store, shown))], [String(round)]);
      }
    },
  },
  {
    title: '[LOC-012] of 64 clients that race for one absent key one wins, and its value stays',
    act: async (rig) => {
      const stores = await rig.others(64);
      const tries = stores.map((store, index) =>
        store.commit(batch([absent('k')], [put('k', String(index)), add('n', 1)])),
      );
      const results = await Promise.all(tries);
      const winners = results.flatMap((result, index) => (result.kind === 'applied' ? [index] : []));
      assert.equal(winners.length, 1, `${winners.length} clients won`);
      assert.equal(results.filter((result) => result.kind === 'conflict').length, 63);
      assert.equal(textOf(await rig.present('k')), String(winners[0]));
      assert.equal(await rig.counter('n'), 1);
    },
  },
  {
    title: '[LOC-012] of 64 clients that race with the version they have read one wins',
    act: async (rig) => {
      const stores = await rig.others(64);
      await rig.change(put('k', 'start'));
      const { version } = await rig.present('k');
      const results = await Promise.all(
        stores.map((store, index) => store.commit(batch([at('k', version)], [put('k', String(index))]))),
      );
      const winners = results.flatMap((result, index) => (result.kind === 'applied' ? [index] : []));
      assert.equal(winners.length, 1, `${winners.length} clients won`);
      assert.equal(textOf(await rig.present('k')), String(winners[0]));
    },
  },
  {
    title: '[LOC-012] 64 bounded adds that race fill the counter up to max and never above',
    act: async (rig) => {
      const stores = await rig.others(64);
      const race = Promise.all(stores.map((store) => store.commit(batch([], [add('n', 1, { max: 10 }), add('m', 1)]))));
      await watch(race, async () => {
        const n = await rig.counter('n');
        assert(n >= 0 && n <= 10, `the counter was ${n}`);
      });
      const results = await race;
      assert.equal(results.filter(({ kind }) => kind === 'applied').length, 10);
      assert.equal(results.filter((result) => result.kind === 'bound' && result.current === 10).length, 54);
      const reached = results.flatMap((result) => (result.kind === 'applied' ? [result.counters[0]] : []));
      assert.deepEqual(new Set(reached), new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
      assert.deepEqual([await rig.counter('n'), await rig.counter('m')], [10, 10]);
    },
  },
  {
    title: '[LOC-013] present and absent judge by expiry at the commit',
    act: async (rig) => {
      const { nowMs } = await rig.change(put('k', 'x', rig.shortTtlMs));
      const expiresAtMs = nowMs + rig.shortTtlMs;
      await rig.passUntil(expiresAtMs, async () => {
        const onPresent = await rig.store.commit(batch([present('k')], [add('n', 1)]));
        const onAbsent = await rig.store.commit(batch([absent('k')], [add('m', 1)]));
        assert.equal(onPresent.kind, onPresent.nowMs < expiresAtMs ? 'applied' : 'conflict');
        assert.equal(onAbsent.kind, onAbsent.nowMs < expiresAtMs ? 'conflict' : 'applied');
      });
      applied(await rig.store.commit(batch([absent('k')], [put('k', 'new')])));
      assert.equal(textOf(await rig.present('k')), 'new');
    },
  },
  {
    title: '[LOC-013] version needs presence: an expired or deleted record has none, whatever it was',
    act: async (rig) => {
      const { version, nowMs } = await rig.change(put('k', 'x', rig.shortTtlMs), put('d', 'x'));
      const expiresAtMs = nowMs + rig.shortTtlMs;
      await rig.passUntil(expiresAtMs, async () => {
        const result = await rig.store.commit(batch([at('k', version)], [add('n', 1)]));
        assert.equal(result.kind, result.nowMs < expiresAtMs ? 'applied' : 'conflict');
      });
      applied(await rig.store.commit(batch([at('d', version)], [{ kind: 'delete', key: 'd' }])));
      assert.equal((await rig.store.commit(batch([at('d', version)], [add('n', 1)]))).kind, 'conflict');
      await rig.change(put('d', 'again'));
      assert.equal((await rig.store.commit(batch([at('d', version)], [add('n', 1)]))).kind, 'conflict');
    },
  },
  {
    title: '[LOC-013] version needs equality: neither an older nor a newer one holds',
    act: async (rig) => {
      const first = await rig.change(put('k', '1'));
      const second = await rig.change(put('k', '2'));
      const largest = 2n ** 63n - 1n;
      for (const version of [first.version, second.version - 1n, second.version + 1n, 1n, largest]) {
        if (version < 1n || version === second.version) continue;
        assert.equal((await rig.store.commit(batch([at('k', version)], [put('k', 'x')]))).kind, 'conflict');
      }
      applied(await rig.store.commit(batch([at('k', second.version)], [put('k', '3')])));
    },
  },
];

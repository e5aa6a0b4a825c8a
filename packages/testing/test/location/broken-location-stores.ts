/** Location Stores that break one sentence of the contract each, and the case that must notice. */
import type {
  CommitResult,
  LocationStore,
  StoreBatch,
  StoreCondition,
  StoreMutation,
  StoreReadResult,
  StoreRecord,
} from '@zlink/kernel/location';
import type { ManualClock } from '../../src/index.ts';
import { altered } from './memory-harnesses.ts';

export interface BrokenStore<Store> {
  readonly what: string;
  /** The beginning of the title of a case that fails. */
  readonly caughtBy: string;
  /** What ends the case when it is no assertion: the store refuses what it has to do. */
  readonly failsWith?: 'StoreError';
  readonly alter: (inner: Store, clock: ManualClock) => Store;
}

type Commit = (batch: StoreBatch, inner: LocationStore) => Promise<CommitResult>;
type Part<T, K> = Extract<T, { kind: K }>;

const committing =
  (commit: Commit) =>
  (inner: LocationStore): LocationStore =>
    altered(inner, {
      commit: (batch, signal) => (signal?.aborted === true ? inner.commit(batch, signal) : commit(batch, inner)),
    });

const freshId = (): string => crypto.randomUUID().replaceAll('-', '');

function mapMutations(batch: StoreBatch, map: (mutation: StoreMutation) => StoreMutation): StoreBatch {
  return { ...batch, mutations: batch.mutations.map(map) };
}

function replaceAdds(batch: StoreBatch, map: (add: Part<StoreMutation, 'add'>) => StoreMutation): StoreBatch {
  return mapMutations(batch, (mutation) => (mutation.kind === 'add' ? map(mutation) : mutation));
}

function mapRecords(inner: LocationStore, map: (record: StoreRecord) => StoreRecord | undefined): LocationStore {
  return altered(inner, {
    read: async (request, signal) => {
      const result = await inner.read(request, signal);
      return { ...result, records: result.records.map((record) => record && map(record)) };
    },
  });
}

/** Remembers what `kind` of result an operation had and gives it again, as long as the process lives. */
function rememberAll(kind: CommitResult['kind']): (inner: LocationStore) => LocationStore {
  const results = new Map<string, CommitResult>();
  return committing(async (batch, inner) => {
    const before = results.get(batch.operationId);
    if (before !== undefined) return before;
    const result = await inner.commit(batch);
    if (result.kind === kind) results.set(batch.operationId, result);
    return result;
  });
}

async function holds(condition: StoreCondition, inner: LocationStore): Promise<boolean> {
  const { records } = await inner.read({ records: [condition.key] });
  switch (condition.kind) {
    case 'absent':
      return records[0] === undefined;
    case 'present':
      return records[0] !== undefined;
    case 'version':
      return records[0]?.version === condition.version;
  }
}

/** Keys that were put and not deleted, whether they have expired or not; what they were last. */
function tracked(): {
  readonly versions: Map<string, bigint>;
  readonly note: (batch: StoreBatch, result: CommitResult) => void;
} {
  const versions = new Map<string, bigint>();
  return {
    versions,
    note: (batch, result) => {
      if (result.kind !== 'applied' || result.replayed) return;
      for (const mutation of batch.mutations) {
        if (mutation.kind === 'put') versions.set(mutation.key, result.version);
        if (mutation.kind === 'delete') versions.delete(mutation.key);
      }
    },
  };
}

function presentUntilDeleted(kind: StoreCondition['kind'], answer: boolean): (inner: LocationStore) => LocationStore {
  const { versions, note } = tracked();
  return committing(async (batch, inner) => {
    const known = (condition: StoreCondition): boolean => {
      if (condition.kind !== kind) return false;
      const version = versions.get(condition.key);
      return condition.kind === 'version' ? version === condition.version : version !== undefined;
    };
    const wrong = batch.conditions.findIndex(known);
    if (wrong >= 0 && !answer) return { kind: 'conflict', nowMs: (await inner.read({})).nowMs, conditionIndex: wrong };
    const rest = { ...batch, conditions: batch.conditions.filter((condition) => !known(condition)) };
    const result = await inner.commit(rest);
    note(batch, result);
    return result;
  });
}

const oldest = 'k'.repeat(1_536);

export const brokenLocationStores: readonly BrokenStore<LocationStore>[] = [
  {
    what: 'takes keys that are too long',
    caughtBy: '[LOC-010] a key of 0 or more than 1,536 bytes',
    alter: (inner) =>
      altered(inner, {
        read: (request, signal) =>
          inner.read(
            { ...request, records: (request.records ?? []).map((key) => key.slice(0, oldest.length)) },
            signal,
          ),
      }),
  },
  {
    what: 'compares keys without case',
    caughtBy: '[LOC-010] keys are compared by bytes',
    alter: (inner) => {
      const lower = committing((batch, store) =>
        store.commit(
          mapMutations(batch, (mutation) =>
            mutation.kind === 'put' && /^[aA]$/.test(mutation.key) ? { kind: 'delete', key: mutation.key } : mutation,
          ),
        ),
      );
      return lower(inner);
    },
  },
  {
    what: 'keeps text instead of bytes',
    caughtBy: '[LOC-010] values are bytes of any content',
    alter: committing((batch, inner) => {
      const viaText = (value: Uint8Array): Uint8Array => new TextEncoder().encode(new TextDecoder().decode(value));
      return inner.commit(
        mapMutations(batch, (m) =>
          m.kind === 'put' && m.value.length < 1_000 ? { ...m, value: viaText(m.value) } : m,
        ),
      );
    }),
  },
  {
    what: 'deletes the counter of the same name with a record',
    caughtBy: '[LOC-010] a record and a counter of one name are two things',
    alter: committing(async (batch, inner) => {
      const result = await inner.commit(batch);
      for (const mutation of batch.mutations) {
        if (mutation.kind !== 'delete') continue;
        const { counters } = await inner.read({ counters: [mutation.key] });
        const add = { kind: 'add', counter: mutation.key, delta: -(counters[0] ?? 0) } as const;
        await inner.commit({ operationId: freshId(), conditions: [], mutations: [add] });
      }
      return result;
    }),
  },
  {
    what: 'answers a read from what it read before',
    caughtBy: '[LOC-011] a read sees every commit that was acknowledged before',
    alter: (inner) => {
      const cache = new Map<string, StoreReadResult>();
      return altered(inner, {
        read: async (request, signal) => {
          const name = JSON.stringify(request);
          const result = cache.get(name) ?? (await inner.read(request, signal));
          cache.set(name, result);
          return result;
        },
      });
    },
  },
  {
    what: 'reads key by key',
    caughtBy: '[LOC-011] a read is one observation',
    alter: (inner) =>
      altered(inner, {
        read: async (request, signal) => {
          const records = [];
          for (const key of request.records ?? [])
            records.push((await inner.read({ records: [key] }, signal)).records[0]);
          return { ...(await inner.read({ counters: request.counters ?? [] }, signal)), records };
        },
      }),
  },
  {
    what: 'judges expiry by the clock of a host that is 2 s ahead',
    caughtBy: '[LOC-011] an expired record is undefined',
    alter: (inner, clock) =>
      mapRecords(inner, (record) => ((record.expiresAtMs ?? Infinity) > clock.nowMs() + 2_000 ? record : undefined)),
  },
  {
    what: 'tells the time of the host, which is 2 s behind, with every commit',
    caughtBy: '[LOC-011] nowMs is one clock',
    alter: committing(async (batch, inner) => {
      const result = await inner.commit(batch);
      return { ...result, nowMs: result.nowMs - 2_000 };
    }),
  },
  {
    what: 'ignores conditions on versions',
    caughtBy: '[LOC-013] version needs equality',
    alter: committing((batch, inner) =>
      inner.commit({ ...batch, conditions: batch.conditions.filter(({ kind }) => kind !== 'version') }),
    ),
  },
  {
    what: 'names the last condition that fails',
    caughtBy: '[LOC-012] a conflict names the first condition',
    alter: committing(async (batch, inner) => {
      const result = await inner.commit(batch);
      if (result.kind !== 'conflict') return result;
      let conditionIndex = result.conditionIndex;
      for (const [index, condition] of batch.conditions.entries())
        if (!(await holds(condition, inner))) conditionIndex = index;
      return { ...result, conditionIndex };
    }),
  },
  {
    what: 'applies the puts of a commit before it finds the bound',
    caughtBy: '[LOC-012] conflict and bound change nothing',
    alter: committing(async (batch, inner) => {
      const result = await inner.commit(batch);
      const puts = batch.mutations.filter(({ kind }) => kind === 'put');
      if (result.kind === 'bound' && puts.length > 0)
        await inner.commit({ operationId: freshId(), conditions: [], mutations: puts });
      return result;
    }),
  },
  {
    what: 'applies a large commit in two parts',
    caughtBy: '[LOC-012] no reader sees a part of a commit of 2,048 keys',
    alter: committing(async (batch, inner) => {
      if (batch.mutations.length < 1_000) return inner.commit(batch);
      await inner.commit({ operationId: freshId(), conditions: [], mutations: batch.mutations.slice(0, 1_000) });
      return inner.commit({ ...batch, mutations: batch.mutations.slice(1_000) });
    }),
  },
  {
    what: 'checks conditions first and writes later',
    caughtBy: '[LOC-012] of 64 clients that race for one absent key one wins',
    alter: committing(async (batch, inner) => {
      for (const condition of batch.conditions) if (!(await holds(condition, inner))) return inner.commit(batch);
      return inner.commit({ ...batch, conditions: [] });
    }),
  },
  {
    what: 'checks bounds first and adds later',
    caughtBy: '[LOC-012] 64 bounded adds that race',
    alter: committing(async (batch, inner) => {
      for (const mutation of batch.mutations) {
        if (mutation.kind !== 'add') continue;
        const { counters } = await inner.read({ counters: [mutation.counter] });
        if ((counters[0] ?? 0) + mutation.delta > (mutation.max ?? Infinity)) return inner.commit(batch);
      }
      return inner.commit(replaceAdds(batch, ({ max: _max, ...add }) => add));
    }),
  },
  {
    what: 'allows one more than max',
    caughtBy: '[LOC-012] min and max themselves are allowed',
    alter: committing((batch, inner) =>
      inner.commit(replaceAdds(batch, (add) => (add.max === undefined ? add : { ...add, max: add.max + 1 }))),
    ),
  },
  {
    what: 'has no bound below without min',
    caughtBy: '[LOC-012] min and max themselves are allowed',
    alter: committing((batch, inner) => inner.commit(replaceAdds(batch, (add) => ({ min: -1_000, ...add })))),
  },
  {
    what: 'takes an expired record for present when it judges absent',
    caughtBy: '[LOC-013] present and absent judge by expiry at the commit',
    alter: presentUntilDeleted('absent', false),
  },
  {
    what: 'finds the version of an expired record',
    caughtBy: '[LOC-013] version needs presence',
    alter: presentUntilDeleted('version', true),
  },
  {
    what: 'raises no version for a commit without puts',
    caughtBy: '[LOC-014] every applied commit has a larger version',
    alter: (inner) => {
      let last = 1n;
      const sticky = committing(async (batch, store) => {
        const result = await store.commit(batch);
        if (result.kind !== 'applied') return result;
        if (batch.mutations.some(({ kind }) => kind === 'put')) last = result.version;
        return { ...result, version: last };
      });
      return sticky(inner);
    },
  },
  {
    what: 'takes every put for a new record',
    caughtBy: '[LOC-014] createdVersion is of the commit that made the key present',
    alter: committing((batch, inner) =>
      inner.commit(mapMutations(batch, (m) => (m.kind === 'put' ? { ...m, fresh: true } : m))),
    ),
  },
  {
    what: 'knows no fresh',
    caughtBy: '[LOC-014] fresh treats a present key as new',
    alter: committing((batch, inner) =>
      inner.commit(
        mapMutations(batch, (mutation) => {
          if (mutation.kind !== 'put') return mutation;
          const { fresh: _fresh, ...plain } = mutation;
          return plain;
        }),
      ),
    ),
  },
  {
    what: 'creates a key that it touches',
    caughtBy: '[LOC-014] touch does nothing on an absent key',
    alter: committing(async (batch, inner) => {
      const touch = batch.mutations.find((m) => m.kind === 'touch');
      const isAbsent = touch !== undefined && (await holds({ kind: 'absent', key: touch.key }, inner));
      if (!isAbsent) return inner.commit(batch);
      return inner.commit(
        mapMutations(batch, (m) => (m === touch ? { ...touch, kind: 'put', value: new Uint8Array(0) } : m)),
      );
    }),
  },
  {
    what: 'gives a touched record a new version',
    caughtBy: '[LOC-014] touch extends the expiry and changes nothing else',
    alter: committing(async (batch, inner) => {
      const touch = batch.mutations.find((m) => m.kind === 'touch');
      if (touch === undefined) return inner.commit(batch);
      const { records } = await inner.read({ records: [touch.key] });
      const value = records[0]?.value;
      if (value === undefined) return inner.commit(batch);
      return inner.commit(mapMutations(batch, (m) => (m === touch ? { ...touch, kind: 'put', value } : m)));
    }),
  },
  {
    what: 'keeps an old expiry when a put has none',
    caughtBy: '[LOC-014] put without ttlMs never expires',
    alter: committing(async (batch, inner) => {
      const keys = batch.mutations.flatMap((m) => (m.kind === 'put' && m.ttlMs === undefined ? [m.key] : []));
      const { records, nowMs } = await inner.read({ records: keys.slice(0, 1_000) });
      const leftOf = new Map(records.map((record) => [record?.key, (record?.expiresAtMs ?? nowMs) - nowMs]));
      return inner.commit(
        mapMutations(batch, (m) => {
          const ttlMs = m.kind === 'put' ? (leftOf.get(m.key) ?? 0) : 0;
          return ttlMs > 0 ? ({ ...m, ttlMs } as StoreMutation) : m;
        }),
      );
    }),
  },
  {
    what: 'takes 2,047 keys only',
    caughtBy: '[LOC-015] a commit takes 2,048 different keys',
    failsWith: 'StoreError',
    alter: committing((batch, inner) => {
      const tooMany = batch.conditions.length + batch.mutations.length > 2_047;
      return inner.commit(tooMany ? { ...batch, mutations: [] } : batch);
    }),
  },
  {
    what: 'drops the second mutation of one key instead of refusing it',
    caughtBy: '[LOC-015] a key stands at most once',
    alter: committing((batch, inner) => {
      const byKey = new Map(batch.mutations.map((m) => [m.kind === 'add' ? `n ${m.counter}` : m.key, m]));
      return inner.commit({ ...batch, mutations: [...byKey.values()] });
    }),
  },
  {
    what: 'forgets what it has applied',
    caughtBy: '[LOC-016] a commit that was applied changes nothing when repeated',
    alter: committing((batch, inner) => inner.commit({ ...batch, operationId: freshId() })),
  },
  {
    what: 'judges conditions before it looks for the operation',
    caughtBy: '[LOC-016] a repeated commit is answered whatever its conditions',
    alter: committing(async (batch, inner) => {
      for (const [conditionIndex, condition] of batch.conditions.entries()) {
        if (!(await holds(condition, inner)))
          return { kind: 'conflict', nowMs: (await inner.read({})).nowMs, conditionIndex };
      }
      return inner.commit(batch);
    }),
  },
  {
    what: 'replays with the counters as they are by now',
    caughtBy: '[LOC-016] a commit that was applied changes nothing when repeated',
    alter: committing(async (batch, inner) => {
      const result = await inner.commit(batch);
      if (result.kind !== 'applied' || !result.replayed) return result;
      const names = batch.mutations.flatMap((m) => (m.kind === 'add' ? [m.counter] : []));
      return { ...result, counters: (await inner.read({ counters: names })).counters };
    }),
  },
  {
    what: 'forgets an operation after 60 s',
    caughtBy: '[LOC-016] an applied operation is remembered for 120 s',
    alter: (inner, clock) => {
      const firstAtMs = new Map<string, number>();
      const forgetful = committing((batch, store) => {
        const sinceMs = clock.nowMs() - (firstAtMs.get(batch.operationId) ?? clock.nowMs());
        if (sinceMs === 0) firstAtMs.set(batch.operationId, clock.nowMs());
        return store.commit(sinceMs > 60_000 ? { ...batch, operationId: freshId() } : batch);
      });
      return forgetful(inner);
    },
  },
  {
    what: 'remembers a conflict',
    caughtBy: '[LOC-016] conflict is not remembered',
    alter: rememberAll('conflict'),
  },
  {
    what: 'remembers a bound',
    caughtBy: '[LOC-016] bound is not remembered',
    alter: rememberAll('bound'),
  },
  {
    what: 'skips the first record of each following page',
    caughtBy: '[LOC-017] pages of 1, 7 and 1,000 together give each',
    alter: (inner) =>
      altered(inner, {
        scan: async (request, signal) => {
          if (request.after === undefined || request.limit === 1) return inner.scan(request, signal);
          const { items } = await inner.scan({ ...request, limit: 1 }, signal);
          return inner.scan(items[0] === undefined ? request : { ...request, after: items[0].key }, signal);
        },
      }),
  },
  {
    what: 'counts records instead of comparing keys from page to page',
    caughtBy: '[LOC-017] a key that is there throughout a cycle appears once',
    alter: (inner) => {
      let seen = 0;
      return altered(inner, {
        scan: async ({ after, limit, ...request }, signal) => {
          seen = after === undefined ? 0 : seen;
          const { items, nowMs } = await inner.scan({ ...request, limit: 1_000 }, signal);
          const page = items.slice(seen, seen + limit);
          seen += page.length;
          const next = page.at(-1)?.key;
          return { nowMs, items: page, ...(next !== undefined && seen < items.length ? { next } : {}) };
        },
      });
    },
  },
  {
    what: 'orders keys as UTF-16',
    caughtBy: '[LOC-017] a scan gives every record of its prefix in the order of key bytes',
    alter: (inner) =>
      altered(inner, {
        scan: async (request, signal) => {
          const page = await inner.scan(request, signal);
          return { ...page, items: [...page.items].sort((a, b) => (a.key < b.key ? -1 : 1)) };
        },
      }),
  },
  {
    what: 'takes after for a key of the page',
    caughtBy: '[LOC-017] a scan begins behind after',
    alter: (inner) =>
      altered(inner, {
        scan: async (request, signal) => {
          const page = await inner.scan(request, signal);
          const { records } = await inner.read({ records: request.after === undefined ? [] : [request.after] });
          return { ...page, items: [...records.flatMap((record) => record ?? []), ...page.items] };
        },
      }),
  },
  {
    what: 'commits although the caller has given up beforehand',
    caughtBy: '[LOC-018] a call that is aborted beforehand does nothing',
    alter: (inner) =>
      altered(inner, {
        commit: async (batch, signal) => {
          await inner.commit(batch);
          return inner.commit(batch, signal);
        },
      }),
  },
  {
    what: 'says notApplied when it is aborted after the commit',
    caughtBy: '[LOC-018] a commit that is aborted later says unknown',
    alter: (inner) =>
      altered(inner, {
        commit: async (batch, signal) => {
          const result = await inner.commit(batch, signal);
          return signal?.aborted === true ? inner.commit(batch, signal) : result; // rejects timeout, notApplied
        },
      }),
  },
  {
    what: 'keeps the bytes that it is given',
    caughtBy: '[LOC-018] a settled call has let go of its inputs',
    alter: (inner) => {
      const given = new Map<string, Uint8Array>();
      const keeping = committing((batch, store) => {
        for (const m of batch.mutations) if (m.kind === 'put') given.set(m.key, m.value);
        return store.commit(batch);
      });
      return mapRecords(keeping(inner), (record) => ({ ...record, value: given.get(record.key) ?? new Uint8Array(0) }));
    },
  },
  {
    what: 'gives the same bytes to all readers',
    caughtBy: '[LOC-018] results belong to the caller',
    alter: (inner) => {
      const byVersion = new Map<bigint, StoreRecord>();
      return mapRecords(inner, (record) => {
        const shared = byVersion.get(record.version) ?? record;
        byVersion.set(record.version, shared);
        return { ...record, ...(shared.value === undefined ? {} : { value: shared.value }) };
      });
    },
  },
  {
    what: 'hands out arrays that it goes on using',
    caughtBy: '[LOC-018] results never change',
    alter: (inner) => {
      const counters: number[] = [];
      return altered(inner, {
        read: async (request, signal) => {
          const result = await inner.read(request, signal);
          counters.splice(0, counters.length, ...result.counters);
          return { ...result, counters };
        },
        commit: async (batch, signal) => {
          const result = await inner.commit(batch, signal);
          counters.fill(-1);
          return result;
        },
      });
    },
  },
  {
    what: 'goes on after its end',
    caughtBy: '[LOC-018] a store that is disposed refuses every call',
    alter: (inner) => altered(inner, { dispose: async () => undefined }),
  },
];

/**
 * What is driven: reservations and reads on a Location Store, and the plain commands of Redis they are compared with.
 *
 * Owns connections and operations. Leaves repeating them to `drive`.
 *
 * 1. An operation that does not do all of what it stands for ends the run: a refusal is quicker than a commit.
 * 2. Plain commands travel by the driver that the store uses, one write each.
 */
import { createMemoryLocationStore, createMemoryStoreBackend, type LocationStore } from '@zlink/kernel/location';
import { createRedisLocationStore } from '@zlink/location-redis';
import { Redis } from 'ioredis';
import { authorityOf, prepareRecords, prepareReservations } from './reservations.ts';

export type StoreWork = 'reserve' | ReadWork | PlainWork;
type ReadWork = 'read1' | 'read3' | 'read64';
type PlainWork = 'set' | 'get' | 'emptyScript';

export interface StoreEnd {
  operation(): Promise<unknown>;
  close(): Promise<void>;
}

/** As many as keep each caller away from the records of the others. */
const recordCount = 1_024;
const plainValue = Buffer.from(authorityOf('player-0', '0'.repeat(32)));
const emptyScript = 'return 1';

/** @param url - of Redis; undefined: a store in the memory of this process, for which there are no plain commands */
export async function openEnd(work: StoreWork, url: string | undefined): Promise<StoreEnd> {
  if (work === 'set' || work === 'get' || work === 'emptyScript') {
    if (url === undefined) throw new Error(`"${work}" needs Redis`);
    return await openPlain(work, url);
  }
  const store =
    url === undefined
      ? createMemoryLocationStore(createMemoryStoreBackend())
      : createRedisLocationStore({ keyPrefix: 'bench', connection: { url } });
  await store.open();
  const operation = work === 'reserve' ? await reserving(store) : await reading(store, work);
  return { operation, close: () => store.dispose() };
}

async function reserving(store: LocationStore): Promise<() => Promise<void>> {
  const next = await prepareReservations(store);
  return async () => {
    const { kind } = await store.commit(next());
    if (kind !== 'applied') throw new Error(`a reservation ended with ${kind}`); // 1
  };
}

async function reading(store: LocationStore, work: ReadWork): Promise<() => Promise<void>> {
  const { authorities, lease } = await prepareRecords(store, recordCount);
  const count = { read1: 1, read3: 2, read64: 64 }[work];
  let at = 0;
  return async () => {
    at = (at + count) % (recordCount - count);
    const keys = authorities.slice(at, at + count);
    const { records } = await store.read({ records: work === 'read3' ? [...keys, lease] : keys });
    if (records.includes(undefined)) throw new Error('a record was not found'); // 1
  };
}

async function openPlain(work: PlainWork, url: string): Promise<StoreEnd> {
  const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false, enableAutoPipelining: false }); // 2
  await client.connect();
  const operation = await plainOperation(client, work);
  return {
    operation,
    close: async () => {
      await client.quit();
    },
  };
}

async function plainOperation(client: Redis, work: PlainWork): Promise<() => Promise<unknown>> {
  let count = 0;
  switch (work) {
    case 'set':
      return () => client.set(`plain:${count++}`, plainValue);
    case 'get':
      await client.set('plain', plainValue);
      return () => client.getBuffer('plain');
    case 'emptyScript': {
      const sha = (await client.script('LOAD', emptyScript)) as string; // a hash, which has no other form
      return () => client.evalsha(sha, 0);
    }
  }
}

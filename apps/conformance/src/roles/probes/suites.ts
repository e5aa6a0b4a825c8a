/** Runs the suites for stores in a role process, on stores that it makes itself. */
import { createMemoryLocationStore, createMemoryRelocationStore, createMemoryStoreBackend } from '@zlink/framework';
import { createRedisLocationStore, createRedisRelocationStore } from '@zlink/location-redis';
import { locationStoreSuite, relocationStoreSuite, type SuiteRunner } from '@zlink/testing';
import type { ProbeSite } from '../probes.ts';

export interface SuiteEnd {
  readonly cases: number;
  readonly failed: readonly string[];
}

interface SuiteCase {
  readonly title: string;
  readonly run: () => Promise<void>;
}

type Backend = ReturnType<typeof createMemoryStoreBackend>;

/** Cases at once: some let time pass, and none minds the others. */
const lanes = 4;
/** A machine with much to do is no fault of a store. */
const operationTimeoutMs = 20_000;

async function runSuite(register: (runner: SuiteRunner) => void): Promise<SuiteEnd> {
  const cases: SuiteCase[] = [];
  register({
    describe: (_title, inner) => inner(),
    test: (title, run) => void cases.push({ title, run }),
  });
  const failed: string[] = [];
  const queue = [...cases];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { title, run } = next;
      await run().catch((error: unknown) => failed.push(`${title}: ${String(error).slice(0, 200)}`));
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  return { cases: cases.length, failed };
}

/** One backend per namespace. */
function createBackends(): (namespace: string) => Backend {
  const backends = new Map<string, Backend>();
  return (namespace) => {
    const found = backends.get(namespace) ?? createMemoryStoreBackend();
    backends.set(namespace, found);
    return found;
  };
}

export interface RedisPlace {
  readonly url: string;
  readonly keyPrefix: string;
}

/** Without a place the stores are in memory. */
export function locationSuiteEnd(_site: ProbeSite, place?: RedisPlace): Promise<SuiteEnd> {
  const backendOf = createBackends();
  const create = (namespace: string) => {
    if (place === undefined) return createMemoryLocationStore(backendOf(namespace));
    const keyPrefix = `${place.keyPrefix}-${namespace}`;
    return createRedisLocationStore({ keyPrefix, connection: { url: place.url }, operationTimeoutMs });
  };
  return runSuite((runner) => locationStoreSuite('stores', { create }, runner));
}

export function relocationSuiteEnd(_site: ProbeSite, place?: RedisPlace): Promise<SuiteEnd> {
  const backendOf = createBackends();
  const create = (namespace: string) => {
    if (place === undefined) return createMemoryRelocationStore(backendOf(namespace));
    const keyPrefix = `${place.keyPrefix}-${namespace}`;
    return createRedisRelocationStore({ keyPrefix, connection: { url: place.url }, operationTimeoutMs });
  };
  return runSuite((runner) => relocationStoreSuite('stores', { create }, runner));
}

/** A store that takes every condition for true. */
export function brokenSuiteEnd(_site: ProbeSite): Promise<SuiteEnd> {
  const backendOf = createBackends();
  const create = (namespace: string) => {
    const store = createMemoryLocationStore(backendOf(namespace));
    const commit = store.commit.bind(store);
    store.commit = (batch, signal) => commit({ ...batch, conditions: [] }, signal);
    return store;
  };
  return runSuite((runner) => locationStoreSuite('broken', { create }, runner));
}

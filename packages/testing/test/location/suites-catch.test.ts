/** The suites themselves: that they notice broken stores, and what they register. */
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type LocationStore,
} from '@zlink/kernel/location';
import { locationStoreSuite, relocationStoreSuite, type SuiteRunner } from '../../src/index.ts';
import { brokenLocationStores } from './broken-location-stores.ts';
import { brokenRelocationStores } from './broken-relocation-stores.ts';
import { altered, locationHarness, relocationHarness } from './memory-harnesses.ts';

interface Registered {
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** What a suite registers at a runner that is none. */
function casesOf(register: (runner: SuiteRunner) => void): readonly Registered[] {
  const cases: Registered[] = [];
  register({
    describe: (_title, body) => body(),
    test: (title, run) => void cases.push({ title, run }),
  });
  return cases;
}

function theCase(cases: readonly Registered[], beginning: string): Registered {
  const found = cases.filter(({ title }) => title.startsWith(beginning));
  expect(found.map(({ title }) => title)).toHaveLength(1);
  return found[0] as Registered; // the expectation before
}

/** The name of what the case failed with. */
async function failureOf({ run }: Registered): Promise<string> {
  try {
    await run();
    return 'none';
  } catch (error) {
    return (error as Error).name; // a case fails by an assertion
  }
}

for (const { what, caughtBy, alter, failsWith = 'AssertionError' } of brokenLocationStores) {
  test(`[LOC-021] the suite catches a location store that ${what}`, async () => {
    const cases = casesOf((runner) => locationStoreSuite('broken', locationHarness(alter), runner));
    expect(await failureOf(theCase(cases, caughtBy))).toBe(failsWith);
  });
}

for (const { what, caughtBy, alter, failsWith = 'AssertionError' } of brokenRelocationStores) {
  test(`[LOC-021] the suite catches a relocation store that ${what}`, async () => {
    const cases = casesOf((runner) => relocationStoreSuite('broken', relocationHarness(alter), runner));
    expect(await failureOf(theCase(cases, caughtBy))).toBe(failsWith);
  });
}

test('[LOC-021] the suite has a case for every requirement of the contract', () => {
  const forgetful = { ...locationHarness(), loseCommits: () => undefined };
  const location = casesOf((runner) => locationStoreSuite('all', forgetful, runner));
  const relocation = casesOf((runner) => relocationStoreSuite('all', relocationHarness(), runner));
  const titles = [...location, ...relocation].map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  const ids = new Set(titles.map((title) => title.slice(1, title.indexOf(']'))));
  const location10To19 = Array.from({ length: 10 }, (_, index) => `LOC-0${10 + index}`);
  const relocation1To6 = Array.from({ length: 6 }, (_, index) => `RSTORE-00${1 + index}`);
  expect([...ids].sort()).toEqual([...location10To19, ...relocation1To6]);
});

test('[LOC-021] a harness without hooks gets the cases that need none', () => {
  const { create } = locationHarness();
  const all = casesOf((runner) => locationStoreSuite('all', locationHarness(), runner));
  const some = casesOf((runner) => locationStoreSuite('some', { create }, runner));
  const missing = all.filter(({ title }) => !some.some((other) => other.title === title));
  expect(missing.map(({ title }) => title.slice(0, 9))).toEqual([
    '[LOC-014]', // 30 days
    '[LOC-014]', // exhausted
    '[LOC-016]', // 120 s
    '[LOC-016]', // a lost reply
    '[LOC-018]', // a lost reply
  ]);
});

test('[LOC-021] without a clock to advance the suite waits by asking the store for its time', async () => {
  const backend = createMemoryStoreBackend();
  const location = { create: () => createMemoryLocationStore(backend) };
  const relocation = { create: () => createMemoryRelocationStore(backend) };
  const records = casesOf((runner) => locationStoreSuite('real time', location, runner));
  const blobs = casesOf((runner) => relocationStoreSuite('real time', relocation, runner));
  expect(await failureOf(theCase(records, '[LOC-011] an expired record is undefined'))).toBe('none');
  expect(await failureOf(theCase(blobs, '[RSTORE-003] expired is missing'))).toBe('none');
});

test('[LOC-021] without a runner the suite asks for the globals of the test file', () => {
  const globals = globalThis as unknown as Partial<Record<keyof SuiteRunner, unknown>>;
  const before = { describe: globals.describe, test: globals.test };
  const titles: string[] = [];
  try {
    globals.describe = (title: string, body: () => void) => (titles.push(title), body());
    globals.test = (title: string) => titles.push(title);
    locationStoreSuite('here', locationHarness());
    globals.test = undefined;
    expect(() => locationStoreSuite('nowhere', locationHarness())).toThrow('there is no global describe and test');
  } finally {
    Object.assign(globals, before);
  }
  expect(titles[0]).toBe('here');
  expect(titles.length).toBeGreaterThan(70);
});

/** A store that loses commits: `lost` says so to it, and it says so to the listeners unless it is broken. */
function forgetful(reports: boolean): Parameters<typeof locationStoreSuite>[1] {
  const harness = locationHarness();
  const listeners = new WeakMap<LocationStore, Set<() => void>>();
  return {
    create: async (namespace) => {
      const store: LocationStore = altered(await harness.create(namespace), {
        onDisruption: (listener) => {
          own.add(listener);
          return () => void own.delete(listener);
        },
      });
      const own = new Set<() => void>();
      listeners.set(store, own);
      return store;
    },
    loseCommits: (store) => {
      if (reports) for (const listener of listeners.get(store) ?? []) listener();
    },
  };
}

test('[LOC-019] the suite wants lost commits to be reported', async () => {
  for (const [reports, failure] of [
    [true, 'none'],
    [false, 'AssertionError'],
  ] as const) {
    const cases = casesOf((runner) => locationStoreSuite('forgetful', forgetful(reports), runner));
    expect(await failureOf(theCase(cases, '[LOC-019] lost commits are reported'))).toBe(failure);
  }
});

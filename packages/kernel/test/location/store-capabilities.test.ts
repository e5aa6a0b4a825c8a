import { Problems } from '../../src/errors/index.ts';
import {
  checkLocationCapabilities,
  checkRelocationCapabilities,
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
} from '../../src/location/index.ts';

type Capabilities = Readonly<Record<string, unknown>>;

const all: Capabilities = createMemoryLocationStore(createMemoryStoreBackend()).capabilities as unknown as Capabilities;

/** All problems, one a line. */
function problemsOf(check: (problems: Problems) => void): readonly string[] {
  const problems = new Problems();
  check(problems);
  try {
    problems.throwIfAny();
    return [];
  } catch (error) {
    return (error as { problems: readonly string[] }).problems; // a ConfigurationError
  }
}

const location = (capabilities: unknown, usesObjects: boolean): readonly string[] =>
  problemsOf((problems) => checkLocationCapabilities({ capabilities }, usesObjects, problems));
const relocation = (capabilities: unknown): readonly string[] =>
  problemsOf((problems) => checkRelocationCapabilities({ capabilities }, problems));

test('[LOC-020] a store with all flags serves every host', () => {
  expect(location(all, true)).toEqual([]);
  expect(location(all, false)).toEqual([]);
});

test('[LOC-020] each flag that is needed and not true is reported with its store', () => {
  for (const flag of ['storeClock', 'compareAndSet', 'operationReplay']) {
    for (const usesObjects of [true, false]) {
      for (const value of [false, undefined, 'yes', 1]) {
        expect(location({ ...all, [flag]: value }, usesObjects)).toEqual([
          `location store: it lacks the capability ${flag}`,
        ]);
      }
    }
  }
});

test('[LOC-020] reservations and aggregate commits are needed with object roles only', () => {
  for (const flag of ['placementReservation', 'aggregateCommit']) {
    const without = { ...all, [flag]: false };
    expect(location(without, true)).toEqual([`location store: it lacks the capability ${flag}`]);
    expect(location(without, false)).toEqual([]);
  }
});

test('[LOC-020] a missing flag is false, and all that is missing is reported together', () => {
  const flags = ['storeClock', 'compareAndSet', 'operationReplay', 'placementReservation', 'aggregateCommit'];
  for (const none of [undefined, null, {}, 'all', 7]) {
    expect(location(none, true)).toEqual([
      'location store, spiVersion: undefined is not allowed, allowed: 1',
      ...flags.map((flag) => `location store: it lacks the capability ${flag}`),
    ]);
  }
  expect(location({ ...all, spiVersion: 2 }, false)).toEqual([
    'location store, spiVersion: 2 is not allowed, allowed: 1',
  ]);
});

test('[LOC-020] a relocation store needs version 1 and blobs of 1 MiB', () => {
  expect(relocation(createMemoryRelocationStore(createMemoryStoreBackend()).capabilities)).toEqual([]);
  expect(relocation({ spiVersion: 1, maxBlobBytes: 1_048_576 })).toEqual([]);
  for (const maxBlobBytes of [1_048_575, 0, NaN, undefined, '8388608', 8_388_608n]) {
    expect(relocation({ spiVersion: 1, maxBlobBytes })).toEqual([
      expect.stringMatching(/^relocation store, maxBlobBytes: .+ is not allowed, allowed: 1048576 at least$/),
    ]);
  }
  expect(relocation(undefined)).toHaveLength(2);
  expect(relocation({ spiVersion: 2, maxBlobBytes: 8_388_608 })).toEqual([
    'relocation store, spiVersion: 2 is not allowed, allowed: 1',
  ]);
});

import { createHost, type Host, type LocationStore, type RelocationStore } from '@zlink/framework';
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
} from '@zlink/kernel/location';
import { makeHost, startServer } from '../hosts.ts';
import { LogRecorder } from '../log-recorder.ts';
import { problems, rejection } from '../outcome.ts';
import { Ask, CHANNEL, MESH } from '../packets.ts';
import { occupyPort, type OccupiedPort } from '../ports.ts';
import { recordedRelocationStore, sharedStore, Space } from './stores.ts';

let taken: OccupiedPort;
beforeAll(async () => {
  taken = await occupyPort();
});
afterAll(() => taken.release());

/** For plain JavaScript, which may pass anything. */
const anything = (value: unknown): never => value as never;

/** The mistakes of a host that would fail to bind, should it ever try to. */
async function problemsOf(describe: (host: Host) => void): Promise<readonly string[]> {
  const host = makeHost();
  host
    .addClientServerChannel('doomed')
    .server()
    .listen(taken.port)
    .addRequestHandler(Ask, () => 1);
  describe(host);
  const found = await problems(host.start());
  expect([host.state, host.query.listeners()]).toEqual(['error', []]);
  return found;
}

const locationStore = (): LocationStore => createMemoryLocationStore(createMemoryStoreBackend());
const relocationStore = (): RelocationStore => createMemoryRelocationStore(createMemoryStoreBackend());

test('[LOC-001] a host has one store of a kind, and both may be there', async () => {
  expect(
    await problemsOf((host) =>
      host
        .addLocationStore(locationStore())
        .addLocationStore(locationStore())
        .addRelocationStore(relocationStore())
        .addRelocationStore(relocationStore())
        .addRelocationStore(relocationStore()),
    ),
  ).toEqual(['location store: 2 are registered, a host has one', 'relocation store: 3 are registered, a host has one']);
  const host = makeHost().addLocationStore(locationStore()).addRelocationStore(relocationStore());
  await host.start();
  expect(host.state).toBe('serving');
});

test('[LOC-001] the same store twice is one too many, too', async () => {
  const store = new Space().store();
  expect(await problemsOf((host) => host.addLocationStore(store).addLocationStore(store))).toEqual([
    'location store: 2 are registered, a host has one',
  ]);
  expect(store.calls).toMatchObject({ open: 0, dispose: 1 }); // LOC-003
});

test.each([undefined, null, 7, 'redis://localhost', {}, { open: () => undefined }])(
  '[LOC-001] [ERR-002] %p is no store',
  async (value) => {
    const found = await problemsOf((host) =>
      host.addLocationStore(anything(value)).addRelocationStore(anything(value)),
    );
    expect(found).toEqual([
      expect.stringMatching(/^location store: .* allowed: an object with open, read, commit, scan and dispose$/),
      expect.stringMatching(
        /^relocation store: .* allowed: an object with open, put, read, renew, delete and dispose$/,
      ),
    ]);
  },
);

test('[LOC-001] stores of one kind are not taken for the other', async () => {
  const found = await problemsOf((host) =>
    host.addLocationStore(anything(relocationStore())).addRelocationStore(anything(locationStore())),
  );
  expect(found).toHaveLength(2);
});

test.each(['compareAndSet', 'storeClock', 'operationReplay'])(
  '[LOC-020] a location store without %s is refused, missing or false',
  async (flag) => {
    for (const value of [false, undefined]) {
      const store = locationStore();
      const capabilities = { ...store.capabilities, [flag]: value };
      const found = await problemsOf((host) => host.addLocationStore(withCapabilities(store, capabilities)));
      expect(found).toEqual([`location store: it lacks the capability ${flag}`]);
    }
  },
);

test('[LOC-020] what only objects need is not asked of a host without them', async () => {
  const store = locationStore();
  const capabilities = { ...store.capabilities, placementReservation: false, aggregateCommit: false };
  const host = makeHost().addLocationStore(withCapabilities(store, capabilities));
  await host.start();
  expect(host.state).toBe('serving');
});

test.each([undefined, null, {}, { spiVersion: 2 }])('[LOC-020] capabilities %p are none', async (capabilities) => {
  const found = await problemsOf((host) =>
    host
      .addLocationStore(withCapabilities(locationStore(), capabilities))
      .addRelocationStore({ ...recordedRelocationStore([]), capabilities: anything(capabilities) }),
  );
  expect(found).toHaveLength(4 + 2);
  expect(found.join('\n')).toMatch(/location store, spiVersion: .*allowed: 1\n/);
  expect(found.join('\n')).toMatch(/relocation store, maxBlobBytes: .*allowed: 1048576 at least/);
});

test('[LOC-002] without a location store a client has to be told where servers are', async () => {
  const found = await problemsOf((host) => host.addClientServerChannel(CHANNEL).client());
  expect(found).toEqual([expect.stringMatching(/^channel "billing" client: /)]);
  const found2 = await problemsOf((host) => host.addLocationStore(locationStore()).addRouteMesh(MESH).routingId('a'));
  expect(found2).toEqual([expect.stringMatching(/^mesh "game": routingId "a" is fixed/)]);
});

test('[LOC-006] a relocation store of this process alone does not go with a shared location store', async () => {
  const found = await problemsOf((host) =>
    host.addLocationStore(sharedStore(locationStore())).addRelocationStore(relocationStore()),
  );
  expect(found).toEqual(['relocation store: it is seen by this process only, the location store is shared']);
});

test('[LOC-006] a store of this process alone is warned of once per start, a shared one is not', async () => {
  const eventId = 'zlink.location.process_local_store';
  const log = new LogRecorder();
  await makeHost({ logger: log }).addLocationStore(locationStore()).addRelocationStore(relocationStore()).start();
  expect(log.of(eventId)).toHaveLength(1);
  const other = new LogRecorder();
  await makeHost({ logger: other }).addLocationStore(sharedStore(locationStore())).start();
  await makeHost({ logger: other }).start();
  expect(other.of(eventId)).toEqual([]);
});

test('[LOC-003] each store is opened once and disposed of once, also by several shutdowns', async () => {
  const events: string[] = [];
  const store = new Space().store();
  const host = makeHost().addLocationStore(store).addRelocationStore(recordedRelocationStore(events));
  expect(store.calls).toMatchObject({ open: 0, dispose: 0 });
  await host.start();
  expect([store.calls.open, store.calls.dispose, ...events]).toEqual([1, 0, 'open relocation store']);
  await Promise.all([host.shutdown(), host.shutdown()]);
  await host.shutdown();
  expect([store.calls.open, store.calls.dispose, ...events]).toEqual([
    1,
    1,
    'open relocation store',
    'dispose relocation store',
  ]);
  expect(store.listenerCount).toBe(0);
});

test.each<[string, (host: Host) => void, number]>([
  ['a mistake in the description', (host) => host.addClientServerChannel(''), 0],
  ['a port in use', (host) => host.addClientServerChannel(CHANNEL).server().listen(taken.port).addRequestHandler(Ask, () => 1), 1],
  ['a service that does not start', (host) => host.addHostedService({ start: () => Promise.reject(new Error('no')), stop: () => undefined }), 1],
])('[LOC-003] stores of a start that fails by %s are disposed of once', async (_, spoil, opened) => {
  const space = new Space();
  const events: string[] = [];
  const store = space.store();
  const host = makeHost().addLocationStore(store).addRelocationStore(recordedRelocationStore(events));
  spoil(host);
  await expect(host.start()).rejects.toThrow();
  expect([host.state, store.calls.open, store.calls.dispose]).toEqual(['error', opened, 1]);
  expect(events).toEqual([...Array<string>(opened).fill('open relocation store'), 'dispose relocation store']);
  expect(await space.traces()).toEqual([]); // nobody else is told of it
  await host.shutdown();
  expect(store.calls.dispose).toBe(1);
}); // prettier-ignore

test('[LOC-003] stores of a host that never starts are disposed of with it', async () => {
  const events: string[] = [];
  const store = new Space().store();
  const host = makeHost().addLocationStore(store).addRelocationStore(recordedRelocationStore(events));
  expect(await host.shutdown()).toEqual({ outcome: 'stopped', reason: 'none' });
  expect([store.calls.open, store.calls.dispose, ...events]).toEqual([0, 1, 'dispose relocation store']);
});

test('[LOC-001] [HOSTREG-004] stores are added before the start', async () => {
  const server = await startServer();
  expect(() => server.addLocationStore(locationStore())).toThrow('[InvalidOperation]');
  expect(() => server.addRelocationStore(relocationStore())).toThrow('[InvalidOperation]');
});

test('[LOC-005] route timing changes while the host runs, and a bad value changes nothing', async () => {
  const host = makeHost({ location: { routeCacheMaxAgeMs: 10_000, messageFollowDurationMs: 20_000 } });
  host.setRouteTiming({ messageFollowDurationMs: 15_000 }); // 10_000 is the most beside it
  expect(() => host.setRouteTiming({ routeCacheMaxAgeMs: 10_001 })).toThrow(/up to messageFollowDurationMs - 5000/);
  await host.start();
  expect(() => host.setRouteTiming({ routeCacheMaxAgeMs: 10_001 })).toThrow(/up to messageFollowDurationMs - 5000/);
  expect(() => host.setRouteTiming({ routeCacheMaxAgeMs: 9_000, messageFollowDurationMs: -1 })).toThrow(
    'messageFollowDurationMs: -1 is not allowed',
  );
  host.setRouteTiming({ messageFollowDurationMs: 30_000 });
  expect(() => host.setRouteTiming({ routeCacheMaxAgeMs: 25_001 })).toThrow('(25000)');
  host.setRouteTiming({ routeCacheMaxAgeMs: 25_000 });
  expect(() => host.setRouteTiming(anything({ pollingIntervalMs: 1 }))).toThrow('there is no option');
});

test('[LOC-005] nothing but route timing can be set: a mistake of the description is still one at the start', async () => {
  const host = makeHost({ location: { routeCacheMaxAgeMs: -1 } });
  host.setRouteTiming({ routeCacheMaxAgeMs: 1 });
  expect(await problems(host.start())).toEqual([expect.stringContaining('location.routeCacheMaxAgeMs: -1')]);
});

test('[LOC-003] [HOSTREG-001] a host that may not run beside another one leaves its stores, too', async () => {
  await startServer();
  const store = new Space().store();
  const second = createHost().addLocationStore(store);
  expect(await problems(second.start())).toEqual([expect.stringContaining('another host already runs')]);
  expect(store.calls).toMatchObject({ open: 0, dispose: 1 });
  expect((await rejection(second.start())).kind).toBe('InvalidOperation');
});

/** The same store with other promises. */
function withCapabilities(store: LocationStore, capabilities: unknown): LocationStore {
  const { capabilities: _, ...rest } = sharedStore(store);
  return { ...rest, capabilities: anything(capabilities) };
}

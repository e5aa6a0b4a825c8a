import { createFaultyLocationStore, loopTurns, ManualClock, seededRandom } from '@zlink/testing';
import { ConfigurationError } from '../../src/errors/index.ts';
import { disposeUnused, HostStores } from '../../src/internal/discovery/host-stores.ts';
import { DEFAULT_LOCATION_TIMING } from '../../src/internal/discovery/location-timing.ts';
import {
  createMemoryLocationStore,
  createMemoryRelocationStore,
  createMemoryStoreBackend,
  type RelocationStore,
  StoreError,
} from '../../src/location/index.ts';
import { type MonitoringFact, NO_MONITOR } from '../../src/observe/index.ts';
import { Ending, live } from './runtime-rig.ts';

const never = (): Promise<void> => new Promise(() => undefined);
const ignore = (): void => undefined;

type Override = Partial<Pick<RelocationStore, 'open' | 'dispose'>>;

/** The stores of a host; the relocation store does as a test says. */
function arrange(override: Override = {}) {
  const clock = new ManualClock();
  const backend = createMemoryStoreBackend({ clock });
  const location = createFaultyLocationStore(createMemoryLocationStore(backend), clock);
  const inner = createMemoryRelocationStore(backend);
  const opened: number[] = [];
  const beganAtMs = clock.nowMs();
  const relocation: RelocationStore = {
    capabilities: inner.capabilities,
    open: (signal) => {
      opened.push(clock.nowMs() - beganAtMs);
      return (override.open ?? (() => inner.open(signal)))(signal);
    },
    put: (...call) => inner.put(...call),
    read: (...call) => inner.read(...call),
    renew: (...call) => inner.renew(...call),
    delete: (...call) => inner.delete(...call),
    dispose: () => (override.dispose ?? (() => inner.dispose()))(),
  };
  const stores = new HostStores({ location, relocation, ...partsOf(clock) });
  return { clock, location, relocation, stores, opened };
}

function partsOf(clock: ManualClock) {
  return {
    timing: DEFAULT_LOCATION_TIMING,
    clock,
    random: seededRandom(1),
    logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    securityIdentity: undefined,
    monitor: NO_MONITOR,
    date: () => new Date(0),
  };
}

/** Nothing of a host's stores is left. */
async function expectGone({ clock, stores }: ReturnType<typeof arrange>): Promise<void> {
  await stores.dispose(1_000);
  expect([clock.pendingTimers, clock.pendingBackgroundTimers]).toEqual([0, 0]);
}

test('[LOC-004] a relocation store is tried again, with growing pauses, until 10 s are over', async () => {
  const rig = arrange({ open: () => Promise.reject(new Error('connect ECONNREFUSED')) });
  const opening = new Ending(rig.stores.open(live()));
  await rig.clock.advanceAsync(9_999);
  expect([opening.state, ...rig.opened.slice(0, 6)]).toEqual(['pending', 0, 250, 750, 1_750, 2_750, 3_750]);
  await rig.clock.advanceAsync(1);
  expect(opening.error).toMatchObject({
    kind: 'Unavailable',
    message: '[Unavailable] relocation store: opening it took longer than 10000 ms: connect ECONNREFUSED',
  });
  await expectGone(rig);
});

test('[LOC-004] a relocation store that does not answer is given up after 10 s, or with the start', async () => {
  const rig = arrange({ open: never });
  const opening = new Ending(rig.stores.open(live()));
  await rig.clock.advanceAsync(10_000);
  expect(opening.error).toMatchObject({ kind: 'Unavailable' });
  expect(String(opening.error)).toContain('no answer');
  await expectGone(rig);

  const other = arrange({ open: never });
  const controller = new AbortController();
  const aborted = new Ending(other.stores.open(controller.signal));
  await other.clock.advanceAsync(1);
  const reason = new Error('changed my mind');
  controller.abort(reason);
  await loopTurns(1);
  expect(aborted.error).toBe(reason);
  await expectGone(other);
});

test('[LOC-004] a relocation store of another kind is a mistake at once; one that throws is tried again', async () => {
  const foreign = new StoreError('incompatible', 'notApplied', 'its schema is 9');
  const rig = arrange({ open: () => Promise.reject(foreign) });
  await expect(rig.stores.open(live())).rejects.toMatchObject({ problems: ['relocation store: its schema is 9'] });
  await expectGone(rig);

  let isBroken = true;
  const throwing = arrange({
    open: () => {
      if (!isBroken) return Promise.resolve();
      isBroken = false;
      throw new Error('not yet');
    },
  });
  const opening = new Ending(throwing.stores.open(live()));
  await throwing.clock.advanceAsync(250);
  expect([opening.state, throwing.opened]).toEqual(['resolved', [0, 250]]);
  await expectGone(throwing);
});

test('[LOC-003] stores are disposed of together, and what fails or takes too long is told', async () => {
  const rig = arrange({ dispose: never });
  await rig.stores.open(live());
  const disposing = rig.stores.dispose(1_000);
  await rig.clock.advanceAsync(1_000);
  expect(await disposing).toEqual([expect.objectContaining({ message: 'the store did not answer within 1000 ms' })]);
  expect([rig.location.calls.dispose, rig.clock.pendingTimers]).toEqual([1, 0]);

  const failing = arrange({
    dispose: () => {
      throw new Error('socket is stuck');
    },
  });
  await failing.stores.open(live());
  expect((await failing.stores.dispose(1_000)).map(String)).toEqual([expect.stringContaining('socket is stuck')]);
});

test('[LOC-003] a location store that fails or hangs at its end is told of, too', async () => {
  const failing = arrange();
  await failing.stores.open(live());
  failing.location.inject({ kind: 'fail', error: new Error('socket is stuck') }, 'dispose');
  expect((await failing.stores.dispose(1_000)).map(String)).toEqual([expect.stringContaining('socket is stuck')]);

  const hanging = arrange();
  await hanging.stores.open(live());
  hanging.location.inject({ kind: 'hold', at: 'request' }, 'dispose');
  const disposing = hanging.stores.dispose(60_000);
  await hanging.clock.advanceAsync(60_000);
  expect(await disposing).toHaveLength(1);
  hanging.location.heal();
});

test('[LOC-003] unused stores are disposed of once each, whatever they are', async () => {
  const clock = new ManualClock();
  let disposed = 0;
  const store = { dispose: async () => void disposed++ };
  const none = {} as typeof store; // plain JavaScript may register anything
  await disposeUnused([store, store, none], 1_000, clock);
  expect([disposed, clock.pendingTimers]).toEqual([1, 0]);
});

test('[LOC-003] a store belongs to the host that opened it; the start of another one fails, and its end changes nothing', async () => {
  let disposed = 0;
  const first = arrange({ dispose: async () => void disposed++ });
  await first.stores.open(live());
  const { location, relocation, clock } = first;
  const advice = 'it already belongs to another host; make one per host, over the same backend or server';
  const second = new HostStores({ location, relocation, ...partsOf(clock) });
  const failure: unknown = await second.open(live()).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect(failure).toMatchObject({ problems: [`location store: ${advice}`, `relocation store: ${advice}`] });
  await second.withdraw(1_000);
  expect(await second.dispose(1_000)).toEqual([]);
  await disposeUnused([location, relocation], 1_000, clock);
  expect([location.calls.open, location.calls.dispose, disposed]).toEqual([1, 0, 0]);
  expect(first.stores.location?.admission.isOpen).toBe(true);

  await expectGone(first);
  expect([location.calls.dispose, disposed]).toEqual([1, 1]);
  const late = new HostStores({ location, relocation: undefined, ...partsOf(clock) });
  await expect(late.open(live())).rejects.toThrow(`location store: ${advice}`); // at once, as nothing would open it again
});

test('[LOC-003] a host may open its own store again', async () => {
  const { clock, relocation, opened } = arrange();
  const stores = new HostStores({ location: undefined, relocation, ...partsOf(clock) });
  await stores.open(live());
  await stores.open(live());
  expect(opened).toHaveLength(2);
  await stores.dispose(1_000);
});

test('[LOC-003] a host whose stores do not all belong to it takes none of them', async () => {
  const first = arrange();
  await first.stores.open(live());
  const other = arrange();
  const mixed = new HostStores({ location: other.location, relocation: first.relocation, ...partsOf(first.clock) });
  await expect(mixed.open(live())).rejects.toThrow('relocation store: it already belongs to another host');
  expect(other.location.calls.open).toBe(0);
  await mixed.dispose(1_000);
  expect(other.location.calls.dispose).toBe(1); // its own, of which it made no use
  await expectGone(first);
});

test('[LOC-055] withdrawing takes no longer than it may', async () => {
  const rig = arrange();
  await rig.stores.open(live());
  rig.location.inject({ kind: 'hold', at: 'request' });
  const withdrawing = new Ending(rig.stores.withdraw(750));
  await rig.clock.advanceAsync(749);
  expect(withdrawing.state).toBe('pending');
  await rig.clock.advanceAsync(1);
  expect(withdrawing.state).toBe('resolved');
  rig.location.heal();
  await expectGone(rig);
});

test('[LOC-055] withdrawing from a store that is away takes 5 s at most, however much time there is', async () => {
  const rig = arrange();
  await rig.stores.open(live());
  rig.location.inject({ kind: 'fail' });
  const withdrawing = new Ending(rig.stores.withdraw(28_000));
  await rig.clock.advanceAsync(4_999);
  expect(withdrawing.state).toBe('pending');
  await rig.clock.advanceAsync(1);
  expect(withdrawing.state).toBe('resolved');
  rig.location.heal();
  await expectGone(rig);
});

test('[MON-002] what stores show: whether they work, until when the lease lasts, and since when all is known', async () => {
  const rig = arrange();
  const facts: MonitoringFact[] = [];
  const monitor = { changed: ignore, tell: (fact: MonitoringFact) => void facts.push(fact) };
  const [location, relocation] = [rig.location, rig.relocation];
  const stores = new HostStores({ location, relocation, ...partsOf(rig.clock), monitor });
  expect(stores.snapshot()).toEqual({ store: 'ready' });
  await stores.open(live());
  await rig.clock.advanceAsync(1_000);
  const { leaseValidUntil, lastCompleteRead } = stores.snapshot(); // by the calendar it is the beginning of 1970
  const { ownerLeaseTtlMs, ownerLeaseFencingMarginMs } = DEFAULT_LOCATION_TIMING;
  expect(leaseValidUntil).toEqual(new Date(ownerLeaseTtlMs - ownerLeaseFencingMarginMs - 1_000));
  expect(lastCompleteRead?.getTime()).toBeGreaterThanOrEqual(-1_000);
  expect(lastCompleteRead?.getTime()).toBeLessThanOrEqual(0);
  rig.location.inject({ kind: 'fail' });
  await rig.clock.advanceAsync(1_000);
  expect(stores.snapshot()).toMatchObject({ store: 'degraded' });
  rig.location.heal();
  await rig.clock.advanceAsync(5_000);
  const states = facts.flatMap((fact) =>
    fact.type === 'zlink.runtime.location.store_changed' ? [fact.location.store] : [],
  );
  expect(states).toEqual(['degraded', 'ready']);
  await stores.withdraw(1_000);
  expect(stores.snapshot().leaseValidUntil).toBeUndefined();
  await expectGone({ ...rig, stores });
});

test('[LOC-001] a host without stores has nothing to open and nothing to end', async () => {
  const clock = new ManualClock();
  const stores = new HostStores({ location: undefined, relocation: undefined, ...partsOf(clock) });
  await stores.open(live());
  await stores.settled();
  await stores.withdraw(1);
  expect([stores.location, await stores.dispose(1), clock.pendingTimers]).toEqual([undefined, [], 0]);
});

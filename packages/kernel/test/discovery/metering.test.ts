/** What discovery tells the meter of its host. */
import { loopTurns } from '@zlink/testing';
import { OwnerLease } from '../../src/internal/discovery/owner-lease.ts';
import type { HostMeter } from '../../src/observe/index.ts';
import { timing } from './lease-rig.ts';
import { arrangeStore, deleteLease, live, type StoreRig } from './store-rig.ts';

const intervalMs = timing.ownerLeaseRenewIntervalMs;

interface Metered extends StoreRig {
  readonly told: string[];
  readonly lease: OwnerLease;
}

async function arrange(): Promise<Metered> {
  const told: string[] = [];
  const meter: HostMeter = {
    forCalls: () => {
      throw new Error('discovery makes no calls');
    },
    storeFailed: (operation) => void told.push(`store ${operation}`),
    leaseRenewed: (latenessSeconds) => void told.push(`renewed ${latenessSeconds}`),
    leaseRenewalFailed: () => void told.push('renewal failed'),
    shutdownEnded: () => void told.push('shutdown'),
  };
  const rig = await arrangeStore({ meter });
  await rig.calls.open(live());
  const lease = new OwnerLease({ calls: rig.calls, timing, clock: rig.clock, logger: rig.logger, meter });
  return { ...rig, told, lease };
}

const change = { conditions: [], mutations: [{ kind: 'delete', key: 'k' }] } as const;
const scan = { prefix: 'k', limit: 1, maxBytes: 1_000 };

test('[METRIC-001] a call of the store that fails is told once, as what it was', async () => {
  const { calls, store, told } = await arrange();
  store.inject({ kind: 'fail' });
  await expect(calls.read({ records: ['k'] })).rejects.toThrow();
  await expect(calls.unjudged.read({ records: ['k'] })).rejects.toThrow();
  await expect(calls.unjudged.scan(scan)).rejects.toThrow();
  await expect(calls.attempt(change, 1_000)).rejects.toThrow();
  await expect(calls.commit(change, { signal: undefined, mayRepeat: () => true })).rejects.toThrow();
  await expect(calls.attempt({ ...change, operation: 'release' }, 1_000)).rejects.toThrow();
  expect(told).toEqual(['store read', 'store read', 'store scan', 'store write', 'store write', 'store release']);
});

test('[METRIC-001] what is given up here, and what succeeds, is no failure of the store', async () => {
  const { calls, store, told } = await arrange();
  await calls.read({ records: ['k'] });
  store.inject({ kind: 'hold', at: 'request' });
  const giveUp = new AbortController();
  const read = calls.read({ records: ['k'] }, giveUp.signal);
  giveUp.abort();
  await expect(read).rejects.toThrow();
  expect(told).toEqual([]);
  store.heal();
});

test('[METRIC-001] renewals: how late they began, and those that failed', async () => {
  const { lease, clock, store, told } = await arrange();
  await lease.acquire(live());
  expect(told).toEqual([]); // that was none
  await clock.advanceAsync(intervalMs);
  expect(told.splice(0)).toEqual(['renewed 0']);
  clock.stall(intervalMs + 700);
  await clock.advanceAsync(0);
  expect(told.splice(0)).toEqual(['renewed 0.7']);
  store.inject({ kind: 'fail' }, 'commit', 2);
  await clock.advanceAsync(intervalMs + 2_000);
  expect(told.splice(0)).toEqual([
    'store lease_renew',
    'renewal failed',
    'store lease_renew',
    'renewal failed',
    'renewed 2',
  ]);
  lease.stop();
});

test('[METRIC-001] a lease that is found absent is a failed renewal; putting it back is none', async () => {
  const { lease, clock, told, change: alter } = await arrange();
  await lease.acquire(live());
  await alter(deleteLease(lease.ownerId));
  await clock.advanceAsync(intervalMs);
  await loopTurns(4);
  expect(lease.isOpen).toBe(true);
  expect(told).toEqual(['renewal failed']);
  lease.stop();
});

/** An owner lease over a store that fails on demand, at the default times. */
import { DEFAULT_LOCATION_TIMING } from '../../src/internal/discovery/location-timing.ts';
import { OwnerLease } from '../../src/internal/discovery/owner-lease.ts';
import { leaseKey, type StoreRecord } from '../../src/location/index.ts';
import { arrangeOpenStore, live, type StoreRig } from './store-rig.ts';

export const timing = DEFAULT_LOCATION_TIMING;
/** For so long after a request admission stays open: ttl - margin. */
export const windowMs = timing.ownerLeaseTtlMs - timing.ownerLeaseFencingMarginMs;

export interface LeaseRig extends StoreRig {
  readonly lease: OwnerLease;
  /** How often admission opened again. */
  readonly reopened: () => number;
  readonly stored: () => Promise<StoreRecord | undefined>;
}

export async function arrangeLease(): Promise<LeaseRig> {
  const rig = await arrangeOpenStore();
  const lease = new OwnerLease({ calls: rig.calls, timing, clock: rig.clock, logger: rig.logger });
  let reopened = 0;
  lease.onReopened(() => reopened++);
  return { ...rig, lease, reopened: () => reopened, stored: () => rig.find(leaseKey(lease.ownerId)) };
}

/** The admission deadline; time goes up to it, without any timer. */
export function expectDeadline({ clock, lease }: Pick<LeaseRig, 'clock' | 'lease'>, deadlineAtMs: number): void {
  clock.stall(deadlineAtMs - clock.nowMs() - 1);
  expect(lease.isOpen).toBe(true);
  clock.stall(1);
  expect(lease.isOpen).toBe(false);
}

export async function arrangeHeldLease(): Promise<LeaseRig> {
  const rig = await arrangeLease();
  await rig.lease.acquire(live());
  return rig;
}

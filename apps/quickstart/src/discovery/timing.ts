/** Times of the hosts of the fleet, and of what is done to them. */
import type { HostOptions } from '@zlink/framework';

/**
 * Looking for others at the default pace, leases far shorter than by default, so that a killed host is forgotten while
 * somebody watches. A host proves itself for far longer than the store is away: no server has to stop meanwhile, on a busy
 * machine neither.
 */
export const location = {
  pollingIntervalMs: 1_000,
  ownerLeaseTtlMs: 6_000,
  ownerLeaseRenewIntervalMs: 250,
  ownerLeaseRenewTimeoutMs: 1_000,
  ownerLeaseFencingMarginMs: 300,
} satisfies HostOptions['location'];

/** What a lease is by default, for those who compare. */
export const defaultLeaseMs = 15_000;

/** How long the store is away. */
export const outageMs = 2_000;

/** It stays away until so many calls were answered meanwhile, which a machine without time for them delays. */
export const outageAnswers = 200;

/** But not for longer: leases end. */
export const longestOutageMs = 3_500;

/** How long a host takes to answer `Load`. */
export const loadMs = 50;

/**
 * The times by which discovery works.
 *
 * Owns their names and defaults. Leaves the checks of what an application sets to the options of the host.
 *
 * 1. Whoever uses them relies on renewInterval + renewTimeout < ttl - margin: one lost renewal closes no admission.
 */
export interface LocationTiming {
  /** How long an owner lease lives without renewal, by the clock of the store. */
  readonly ownerLeaseTtlMs: number;
  readonly ownerLeaseRenewIntervalMs: number;
  /** Bounds one attempt to renew. */
  readonly ownerLeaseRenewTimeoutMs: number;
  /** So much earlier than its lease a run stops to admit work. */
  readonly ownerLeaseFencingMarginMs: number;
  readonly pollingIntervalMs: number;
  /** How long after the last answer of the store a lost link may still be dialled again. */
  readonly storeFailureGraceMs: number;
}

/** Bounds every call of the store but a renewal; a host that is far from its store has no shorter lease for that. */
export const CALL_TIMEOUT_MS = 5_000;

export const DEFAULT_LOCATION_TIMING: LocationTiming = Object.freeze({
  ownerLeaseTtlMs: 15_000,
  ownerLeaseRenewIntervalMs: 5_000,
  ownerLeaseRenewTimeoutMs: 3_000,
  ownerLeaseFencingMarginMs: 5_000,
  pollingIntervalMs: 1_000,
  storeFailureGraceMs: 30_000,
});

/**
 * The one error of both stores.
 *
 * Owns its codes and what is known about the call. Leaves the translation of a driver's errors to the adapter, and the
 * translation into `ZLinkError` to the runtime.
 *
 * 1. `outcome` is `notApplied` only when the store knows that nothing was changed (LOC-018).
 * 2. Recognition is by brand, never by `instanceof`: two installed copies of the package must agree.
 */

/**
 * `unavailable`: not reachable or not willing. `timeout`: no answer in time, or aborted by the caller.
 * `invalidArgument`: outside of the contract's limits. `tooLarge`: a read asks for more than one answer may carry.
 * `incompatible`: data or server of another kind. `exhausted`: no version is left.
 */
export type StoreErrorCode = 'unavailable' | 'timeout' | 'invalidArgument' | 'tooLarge' | 'incompatible' | 'exhausted';

/** `unknown`: the call may have been applied, now or later. */
export type StoreErrorOutcome = 'notApplied' | 'unknown';

const brand: unique symbol = Symbol.for('zlink.StoreError');

export class StoreError extends Error {
  readonly code: StoreErrorCode;
  readonly outcome: StoreErrorOutcome;

  constructor(code: StoreErrorCode, outcome: StoreErrorOutcome, message: string, options?: { cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.outcome = outcome;
  }
}

// On the prototype, so that neither logging nor comparing an error shows them.
Object.defineProperty(StoreError.prototype, 'name', { value: 'StoreError', configurable: true, writable: true });
Object.defineProperty(StoreError.prototype, brand, { value: true });

/** True for a StoreError of this or of another copy of the package; never throws, whatever an adapter threw. */
export function isStoreError(x: unknown): x is StoreError {
  if (typeof x !== 'object' || x === null) return false;
  try {
    return (x as { readonly [brand]?: unknown })[brand] === true; // any object may be asked for any property
  } catch {
    return false; // a proxy that refuses to be read is none of ours
  }
}

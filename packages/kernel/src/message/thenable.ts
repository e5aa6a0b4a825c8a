/** Tells a result from the promise of one. A getter of `then` may throw: callers treat that as the result's failure. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === 'function'; // any object may be asked for any property
}

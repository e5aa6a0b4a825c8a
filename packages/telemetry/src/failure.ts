/** How telemetry of others fails: by throwing, or by a promise of it that is rejected. */

/** Told of what a provider, propagator or span threw, or rejected with. Never throws. */
export type TelemetryFailure = (where: TelemetryPart, thrown: unknown) => void;

export type TelemetryPart = 'meter' | 'tracer' | 'propagator' | 'context' | 'span';

/**
 * The same result, but what it rejects with ends here. The contracts of OpenTelemetry know no promises, but an async method fits most of them as well, and its
 * rejection would end the process.
 */
export function watched<T>(result: T, where: TelemetryPart, failed: TelemetryFailure): T {
  if (isThenable(result)) Promise.resolve(result).catch((thrown: unknown) => failed(where, thrown));
  return result;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === 'function'; // may be any object
}

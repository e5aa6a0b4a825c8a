/** Told of what a provider, propagator or span threw. Never throws. */
export type TelemetryFailure = (where: 'meter' | 'tracer' | 'propagator' | 'context' | 'span', thrown: unknown) => void;

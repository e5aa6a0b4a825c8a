/** The life of a host and of what lives with it. */
export { newHostGeneration } from './host-generation.ts';
export { type HostState, mayBecome } from './host-state.ts';
export { type HostedService, HostedServices } from './hosted-services.ts';
export { type ShutdownResult, STOPPED } from './shutdown-result.ts';

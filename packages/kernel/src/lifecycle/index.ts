/** The life of a host and of what lives with it. */
export { type HostState, hostTransitions, mayBecome } from './host-state.ts';
export { type HostedService, HostedServices, type StopFailureListener, type StopReport } from './hosted-services.ts';

/** The life of a host and of what lives with it. */
export { type HostState, mayBecome } from './host-state.ts';
export { type HostedService, HostedServices, type StopFailureListener, type StopReport } from './hosted-services.ts';
export { LoopWatch } from './loop-watch.ts';
export { claimProcess, type ProcessClaim } from './process-claim.ts';
export { type ShutdownResult, STOPPED } from './shutdown-result.ts';
export { unlessAborted } from './unless-aborted.ts';

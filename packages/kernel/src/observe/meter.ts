/**
 * What is measured when it happens, as far as no counter that is read later can tell it: how long things took, and failures
 * that nothing else counts.
 *
 * Owns the ports only. Calls, stores and the host tell them; whoever exports metrics implements them. Gauges and totals are no
 * business of theirs: those are read from snapshots and counters (METRIC-003).
 *
 * 1. Without an exporter there is no meter: a call finds `undefined` and does nothing.
 * 2. An implementation never throws (METRIC-004).
 * 3. Labels are fixed when a meter is made, and come from what the application registered (METRIC-002).
 */

/** Whose calls: `node` and `channel` of a mesh, or of a ClientServer channel, which has no surface. */
export type CallLabels =
  | { readonly topology: 'mesh_node'; readonly meshName: string; readonly surface: 'node' }
  | {
      readonly topology: 'mesh_node';
      readonly meshName: string;
      readonly surface: 'channel';
      readonly channelName: string;
    }
  | { readonly topology: 'client_server'; readonly channelName: string };

export type RequestOutcome = 'succeeded' | 'failed' | 'cancelled' | 'timed_out' | 'shutdown';
export type AdmissionOutcome = 'admitted' | 'timed_out' | 'cancelled' | 'shutdown';
export type SelectionFailure = 'no_member' | 'not_ready' | 'draining';

/** The calls that take one path. */
export interface CallMeter {
  /** A request was submitted by the application. */
  requestStarted(): void;
  /** That request is over, once. @param seconds - since it was submitted */
  requestEnded(outcome: RequestOutcome, seconds: number): void;
  /** A send or request had to wait for credit. @param seconds - how long */
  admissionWaited(outcome: AdmissionOutcome, seconds: number): void;
  /** A call ended as no target could be chosen. */
  selectionFailed(reason: SelectionFailure): void;
}

export type StoreOperation =
  | 'read'
  | 'write'
  | 'scan'
  | 'relocation_put'
  | 'relocation_read'
  | 'relocation_renew'
  | 'relocation_delete'
  | 'lease_renew'
  | 'release';

/** A host's. */
export interface HostMeter {
  /** For the calls of one path; called while topics open. */
  forCalls(labels: CallLabels): CallMeter;
  storeFailed(operation: StoreOperation): void;
  /** @param seconds - later than it was due; 0: in time */
  leaseRenewed(latenessSeconds: number): void;
  leaseRenewalFailed(): void;
  shutdownEnded(outcome: 'stopped' | 'force_stopped', reason: string, seconds: number): void;
}

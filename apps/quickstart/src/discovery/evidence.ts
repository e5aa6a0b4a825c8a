/** What is known of a run of the fleet when it is over. */
import { addCalls, type CallCounts } from '../calls.ts';
import type { CallerCounts, HostCounts } from './reports.ts';

export interface HostEvidence {
  readonly name: string;
  /** `left`: in order, while calls went on; `stopped`: in order, after all calls. */
  readonly end: 'killed' | 'left' | 'stopped';
  /** How its shutdown went; a killed one has none. */
  readonly outcome: string | undefined;
  /** Its last report. */
  readonly counts: HostCounts;
}

/** How long it took until the caller saw what had happened. */
export interface Discoveries {
  /** All first hosts, after the last of them had started. */
  readonly foundMs: number;
  readonly weight: { readonly name: string; readonly from: number; readonly to: number; readonly seenMs: number };
  readonly joined: { readonly name: string; readonly seenMs: number };
  /** After it was told to leave: it got no new calls, and it was forgotten. */
  readonly left: { readonly name: string; readonly outMs: number; readonly forgottenMs: number };
  /** After it was killed; `undefined` where that cannot be. */
  readonly killed: Killing | undefined;
}

export interface Killing {
  readonly name: string;
  /** Its connections had ended. */
  readonly lostMs: number;
  /** Its lease had ended: nobody tries to connect with it any more. */
  readonly leftOutMs: number;
  /** What it had published was removed. */
  readonly forgottenMs: number;
}

/** What became of calls while the store was away. */
export interface Outage {
  readonly storeName: string;
  readonly ms: number;
  readonly answered: number;
  readonly failed: number;
}

export interface Evidence {
  readonly calls: CallerCounts;
  readonly callerOutcome: string;
  readonly hosts: readonly HostEvidence[];
  readonly discoveries: Discoveries;
  readonly outage: Outage;
}

/** Calls to the mesh's channel and to the other one together. */
export function allCalls({ rides, loads }: CallerCounts): CallCounts {
  return addCalls(rides, loads);
}

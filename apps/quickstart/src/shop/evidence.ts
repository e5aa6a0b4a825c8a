/** What is known of a run of the shop when it is over. */
import { type CallCounts, type SendCounts, sum } from '../calls.ts';
import type { Latency, ServerCounts } from './reports.ts';

export interface ServerEvidence {
  readonly name: string;
  readonly weight: number;
  /** `drained` and `stopped` ended in order, the first of them while calls went on. */
  readonly end: 'drained' | 'killed' | 'stopped';
  /** How its shutdown went; a killed one has none. */
  readonly outcome: string | undefined;
  /** Its last report. */
  readonly counts: ServerCounts;
}

export interface Evidence {
  readonly calls: CallCounts;
  /** The client's counts when all servers had served for a while. */
  readonly steady: CallCounts;
  readonly sends: SendCounts;
  readonly latency: Latency;
  readonly servers: readonly ServerEvidence[];
}

/** What became of the one-way messages that the client sent. */
export interface SendAccounts {
  readonly handled: number;
  readonly dropped: number;
  /** What is left for the killed server. */
  readonly rest: number;
  readonly killed: ServerEvidence | undefined;
}

export function sendAccounts({ sends, servers }: Evidence): SendAccounts {
  const orderly = servers.filter(({ end }) => end !== 'killed').map(({ counts }) => counts.sends);
  const handled = orderly.reduce((total, one) => total + one.handled, 0);
  const dropped = orderly.reduce((total, one) => total + sum(one.dropped), 0);
  return {
    handled,
    dropped,
    rest: sends.accepted - handled - dropped,
    killed: servers.find(({ end }) => end === 'killed'),
  };
}

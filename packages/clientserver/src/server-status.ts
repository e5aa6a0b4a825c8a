/** What a client shows of one server. */
import type { LinkState } from '@zlink/kernel/observe';
import type { Intent } from '@zlink/kernel/internal/transport';
import type { Target } from './client/target.ts';

/** One address that a channel's client dials, and what it found there. */
export interface ServerStatus {
  /** Address that is dialled. */
  readonly endpoint: string;
  /** RID of the server that answered there last. */
  readonly routingId?: string;
  /** `closed` also while another address of the same server has the link. */
  readonly state: LinkState;
  /** Why it is not ready, for people. */
  readonly reason?: string;
  /** 0..10_000 as the server says; 0 while not connected. */
  readonly weight: number;
  /** Connected, ends what it accepted, takes nothing new. */
  readonly draining: boolean;
  /** Whether the server lives in this process. */
  readonly local: boolean;
}

export function serverStatus(intent: Intent, target: Target | undefined, local: boolean): ServerStatus {
  const { rid, reason } = intent;
  return {
    endpoint: intent.address,
    ...(rid === undefined ? {} : { routingId: rid }),
    state: linkState(intent, target),
    ...(reason === undefined ? {} : { reason }),
    weight: target?.weight ?? 0,
    draining: target?.draining ?? false,
    local,
  };
}

function linkState(intent: Intent, target: Target | undefined): LinkState {
  const { state } = intent;
  if (state === 'resting') return 'closed';
  if (state !== 'admitted' || target === undefined) return state;
  return target.ready || target.draining ? 'ready' : 'admitted';
}

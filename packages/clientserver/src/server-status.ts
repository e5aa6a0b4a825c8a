/** What a client shows of one server. */
import type { LinkState } from '@zlink/kernel/observe';
import type { Intent } from '@zlink/kernel/internal/transport';
import type { Target } from './client/target.ts';

export interface ServerStatus {
  /** Address that is dialled. */
  readonly endpoint: string;
  /** RID of the server that answered there last. */
  readonly routingId?: string;
  readonly state: LinkState;
  /** Why it is not ready, for people. */
  readonly reason?: string;
  readonly weight: number;
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

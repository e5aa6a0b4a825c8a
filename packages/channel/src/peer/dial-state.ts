/** How far the way to an endpoint is, as state and as text for people. */
import type { IntentState } from '@zlink/kernel/internal/transport';
import type { LinkState } from '@zlink/kernel/observe';

export interface DialState {
  readonly endpoint: string;
  readonly state: LinkState | IntentState;
  readonly reason: string | undefined;
}

/** Of an endpoint behind which no peer takes work. */
export function unlinkedState({ state }: Pick<DialState, 'state'>): LinkState {
  return state === 'resting' || state === 'admitted' ? 'closed' : state;
}

export function dialText({ endpoint, state, reason }: DialState): string {
  return `${endpoint} ${state}${reason === undefined ? '' : ` (${reason})`}`;
}

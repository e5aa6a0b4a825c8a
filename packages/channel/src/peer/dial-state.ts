/** How far the way to an endpoint is, as state and as text for people. */
import type { ErrorKindName } from '@zlink/kernel/errors';
import type { IntentState, Link } from '@zlink/kernel/internal/transport';
import type { LinkState } from '@zlink/kernel/observe';

export interface DialState {
  readonly endpoint: string;
  readonly state: LinkState | IntentState;
  readonly reason: string | undefined;
  /** Of one that is rejected. */
  readonly refusal?: ErrorKindName | undefined;
}

/** Of an endpoint behind which no peer takes work, or none yet: a new link is used a moment after it was admitted. */
export function unlinkedState({ state, link }: UnlinkedIntent): LinkState {
  if (state === 'admitted' && link?.phase === 'open') return state;
  return state === 'resting' || state === 'admitted' ? 'closed' : state;
}

interface UnlinkedIntent extends Pick<DialState, 'state'> {
  readonly link: Pick<Link, 'phase'> | undefined;
}

export function dialText({ endpoint, state, reason }: DialState): string {
  return `${endpoint} ${state}${reason === undefined ? '' : ` (${reason})`}`;
}

/** What the event of a peer, server or publisher says beside its row, if that is `rejected` (MON-020). */
import { type ErrorKindName, ZLinkError } from '../../errors/index.ts';
import type { LinkState } from '../link-state.ts';

interface RefusableRow {
  readonly state: LinkState;
  readonly reason?: string;
}

/** Undefined in every other state. @param kind - undefined: of a refusal that says no more than its reason */
export function refusalError(
  { state, reason }: RefusableRow,
  kind: ErrorKindName = 'Rejected',
): ZLinkError | undefined {
  return state === 'rejected' ? new ZLinkError(kind, reason ?? 'the connection was refused') : undefined;
}

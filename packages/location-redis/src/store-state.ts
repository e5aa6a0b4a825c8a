/** How far the life of a store has come, and that it is used while it is open. */
import { checkNotAborted } from '@zlink/kernel/location';
import { ended } from './redis-errors.ts';

export type StoreState = 'new' | 'open' | 'disposed';

/** @throws StoreError for an aborted signal, or a store that is not open */
export function admit(state: StoreState, signal: AbortSignal | undefined): void {
  checkNotAborted(signal);
  if (state !== 'open') throw ended();
}

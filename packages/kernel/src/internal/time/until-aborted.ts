/** Waiting for the end of some work, whatever it is, but not beyond an abort. */
import { follow, unfollow } from './signal-followers.ts';

/** Leaves no listener behind. */
export function untilAborted(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const follower = { onAbort: () => resolve() };
    const end = (): void => {
      unfollow(signal, follower);
      resolve();
    };
    follow(signal, follower);
    work.then(end, end);
  });
}

/**
 * Calls and waits that end with a signal.
 *
 * Owns the one listener per signal. A handler may start any number of calls with its own signal: a listener for each
 * would be found by a walk over all the others when it ends, and from the eleventh on Node.js warns of a leak.
 *
 * F1 A signal has a listener while a call follows it, and none afterwards (CALL-002).
 * F2 A follower is told at most once, and not after it has left.
 */

export interface SignalFollower {
  onAbort(reason: unknown): void;
}

class Followers {
  readonly members = new Set<SignalFollower>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this, { once: true });
  }

  /** Makes this object the listener itself. */
  handleEvent(): void {
    for (const member of this.members) {
      this.members.delete(member); // F2
      member.onAbort(this.#signal.reason);
    }
    bySignal.delete(this.#signal);
  }
}

const bySignal = new WeakMap<AbortSignal, Followers>();

/** @param signal - not aborted yet */
export function follow(signal: AbortSignal, follower: SignalFollower): void {
  let followers = bySignal.get(signal);
  if (followers === undefined) {
    followers = new Followers(signal);
    bySignal.set(signal, followers);
  }
  followers.members.add(follower);
}

/** Does nothing for who does not follow. */
export function unfollow(signal: AbortSignal, follower: SignalFollower): void {
  const followers = bySignal.get(signal);
  if (followers === undefined || !followers.members.delete(follower) || followers.members.size > 0) return;
  bySignal.delete(signal); // F1
  signal.removeEventListener('abort', followers);
}
